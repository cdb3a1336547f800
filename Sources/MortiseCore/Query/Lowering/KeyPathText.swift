/// Texts with key paths in them, for people: Swift describes a property of a model by the address of its getter.
enum KeyPathText {
    private static let mark = "<computed 0x"

    /// The text with the names of persisted properties in place of addresses, and with the type alone for others, of which no
    /// name is known.
    static func named(_ text: String) -> String {
        guard text.contains(mark) else { return text }
        let names = propertyNames(in: text)
        var named = ""
        var rest = text[...]
        while let start = rest.firstRange(of: mark) {
            named += rest[..<start.lowerBound]
            let token = token(at: rest[start.lowerBound...])
            named += names[token] ?? "(computed \(type(in: token)))"
            rest = rest[token.endIndex...]
        }
        return named + rest
    }

    /// A key path as in source, as far as names are known.
    static func named(_ keyPath: AnyKeyPath) -> String { named(String(reflecting: keyPath)) }

    /// From the mark to the bracket that closes it.
    private static func token(at text: Substring) -> Substring {
        var depth = 0
        for index in text.indices {
            switch text[index] {
            case "<": depth += 1
            case ">" where index == text.startIndex || text[text.index(before: index)] != "-":
                depth -= 1
                if depth == 0 { return text[...index] }
            default: break
            }
        }
        return text
    }

    private static func type(in token: Substring) -> Substring {
        guard let open = token.firstIndex(of: "("), let close = token.lastIndex(of: ")"), open < close else {
            return "property"
        }
        return token[token.index(after: open)..<close]
    }

    /// The names of the properties of the models that a text speaks of, by how Swift describes them.
    private static func propertyNames(in text: String) -> [Substring: String] {
        var names: [Substring: String] = [:]
        var pending = Set(
            text.matches(of: /\\([\w.]+)/).compactMap { $0.output.1.split(separator: ".").first.map(String.init) }
        )
        .flatMap { ModelLayout.all(named: $0) }
        var known: Set<ObjectIdentifier> = []
        while let layout = pending.popLast() {
            guard known.insert(ObjectIdentifier(layout)).inserted else { continue }
            for (slot, keyPath) in layout.keyPaths.enumerated() {
                let full = String(reflecting: keyPath)
                guard let start = full.firstRange(of: mark) else { continue }
                names[Substring(String(token(at: full[start.lowerBound...])))] = layout.properties[slot].name
            }
            pending += layout.destinations.compactMap { $0 }
        }
        return names
    }
}
