#if Tool
import MortiseCore

/// What a shell proposes for the words of a command line: the names in the schema of the store that it names.
enum SchemaCompletion {
    /// Entities, and nothing where no store is named yet or it cannot be read.
    @Sendable static func entities(_ words: [String], _ index: Int, _ prefix: String) -> [String] {
        schema(words, index)?.schema.entities.map(\.name).sorted() ?? []
    }

    /// Properties of the named entity, for the last of several that are separated by commas.
    @Sendable static func properties(_ words: [String], _ index: Int, _ prefix: String) -> [String] {
        let start = prefix.lastIndex(of: ",").map { String(prefix[...$0]) } ?? ""
        return names(words, index).map { start + $0 }
    }

    /// The same for sort keys, which a minus may precede.
    @Sendable static func keys(_ words: [String], _ index: Int, _ prefix: String) -> [String] {
        let start = prefix.lastIndex(of: ",").map { String(prefix[...$0]) } ?? ""
        let sign = prefix.dropFirst(start.count).hasPrefix("-") ? "-" : ""
        return names(words, index).map { start + sign + $0 }
    }

    /// Properties with the sign that a value follows.
    @Sendable static func assignments(_ words: [String], _ index: Int, _ prefix: String) -> [String] {
        names(words, index).map { $0 + "=" }
    }

    private static func names(_ words: [String], _ index: Int) -> [String] {
        guard let (schema, later) = schema(words, index) else { return [] }
        let entities = Set(schema.entities.map(\.name))
        guard let entity = later.first(where: entities.contains) else { return [] }
        return schema.recordLayouts()[entity]?.slots.map(\.name).sorted() ?? []
    }

    /// The schema of the first word that names a store, and the words after that one, but not the one that is completed. Bash takes
    /// a URL for three words.
    private static func schema(_ words: [String], _ index: Int) -> (schema: StoredSchema, later: [String])? {
        for (place, word) in words.enumerated() where place != index && !word.hasPrefix("-") {
            let isSplit = place + 2 < words.count && words[place + 1] == ":"
            let name = isSplit ? word + ":" + words[place + 2] : word
            guard let store = try? StoreArgument(name).selfDescribing(), let schema = try? store.storedSchema() else {
                continue
            }
            let first = place + (isSplit ? 3 : 1)
            return (schema, words.indices.filter { $0 >= first && $0 != index }.map { words[$0] })
        }
        return nil
    }
}
#endif
