#if Tool
import Foundation
import MortiseCore

/// What was renamed and what was dropped between two schemas, as somebody says.
struct RenameAnswers {
    /// By new name, `Trip.cost` or `Trip`, the old one.
    private(set) var renames: [String: String] = [:]
    /// `Trip.note` or `Trip`, in the entity's new or old name.
    private(set) var drops: Set<String> = []

    /// The longest file of answers.
    private static let limit = 1 << 20

    /// - Throws: `ToolError.usage`.
    init(renames texts: [String], drops: [String], file: String?) throws {
        if let file { try read(file) }
        for text in texts {
            let parts = text.split(separator: "=", omittingEmptySubsequences: false)
            guard parts.count == 2, !parts[0].isEmpty, !parts[1].isEmpty else {
                throw ToolError.usage("expected --rename NEW=OLD, as in Trip.cost=price, found \(text.shown())")
            }
            // Both names may have the entity before them.
            var old = String(parts[1])
            if parts[0].contains("."), let dot = old.lastIndex(of: ".") { old = String(old[old.index(after: dot)...]) }
            renames[String(parts[0])] = old
        }
        self.drops.formUnion(drops)
    }

    private mutating func read(_ path: String) throws {
        let name = path.shown(limit: 300)
        guard FileManager.default.fileExists(atPath: path) else {
            throw ToolError.missingSchema(source: name, detail: "there is no file at \(name)")
        }
        let bytes = try SchemaFile.read(path, limit: Self.limit)
        let form = "{\"rename\": {\"Trip.cost\": \"price\"}, \"drop\": [\"Trip.note\"]}"
        guard bytes.count <= Self.limit,
            let object = try? JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any],
            Set(object.keys).isSubset(of: ["rename", "drop"]),
            let renames = (object["rename"] ?? [String: String]()) as? [String: String],
            let drops = (object["drop"] ?? [String]()) as? [String]
        else { throw ToolError.usage("\(name) has no answers; expected \(form)") }
        self.renames = renames
        self.drops = Set(drops)
    }

    mutating func rename(_ guess: RenameGuess) {
        renames[(guess.entity.map { "\($0)." } ?? "") + guess.new] = guess.old
    }

    mutating func drop(_ guess: RenameGuess) { drops.insert(guess.drop) }

    /// The new version with the answers as if it declared them.
    /// - Throws: `ToolError.usage` for names that a version does not have.
    func apply(to new: SchemaDocument, from old: SchemaDocument) throws -> SchemaDocument {
        var result = new
        let entities = new.schema.entities.map(\.name)
        // Entities first: properties are looked for in what they were.
        for (name, origin) in renames.sorted(by: { $0.key.utf8.count < $1.key.utf8.count })
        where entities.contains(name) {
            guard old.schema.entity(named: origin) != nil else {
                throw unknown("the old schema", origin, old.schema.entities.map(\.name))
            }
            for place in result.schema.entities.indices where result.schema.entities[place].name == name {
                result.schema.entities[place].originalName = origin
            }
        }
        for (name, origin) in renames where !entities.contains(name) {
            guard let dot = name.lastIndex(of: "."),
                let place = result.schema.entities.firstIndex(where: { $0.name == name[..<dot] })
            else { throw unknown("the new schema", name, entities) }
            let entity = result.schema.entities[place]
            let property = String(name[name.index(after: dot)...])
            guard let index = entity.properties.firstIndex(where: { $0.name == property }) else {
                throw unknown("the new \(entity.name)", property, entity.properties.map(\.name))
            }
            let source = entity.originalName
            let before = (old.schema.recordLayouts()[source] ?? old.schema.recordLayouts()[entity.name])?.slots ?? []
            guard before.contains(where: { $0.name == origin }) else {
                throw unknown("the old \(entity.name)", origin, before.map(\.name))
            }
            result.schema.entities[place].properties[index].originalName = origin
        }
        for drop in drops {
            let isKnown = old.schema.entities.contains { entity in
                entity.name == drop || entity.properties.contains { "\(entity.name).\($0.name)" == drop }
                    || result.schema.entities.contains {
                        $0.isRenamed && $0.originalName == entity.name && drop.hasPrefix("\($0.name).")
                    }
            }
            guard isKnown else { throw ToolError.usage("the old schema has no \(drop.shown()); check --drop") }
        }
        return result
    }

    private func unknown(_ place: String, _ name: String, _ known: [String]) -> ToolError {
        .usage("\(place) has no \"\(name.shown())\"" + Suggestion.text(name, among: known))
    }
}

/// Questions about guesses: on the terminal, or as JSON for a program.
struct RenameQuestions {
    let guesses: [RenameGuess]

    /// Asks on the standard error and reads from the standard input.
    /// - Throws: `ToolError.usage` where that ends.
    func ask(_ answers: inout RenameAnswers) throws {
        let errors = ToolContext.current.errors
        for guess in guesses {
            let (was, now) = (
                [guess.entity, guess.old].compactMap(\.self).joined(separator: "."), guess.new
            )
            while true {
                try errors.write(
                    "Was \(was.shown()) renamed to \(now.shown())? (\(guess.score) of 100) \(guess.isLikely ? "[Y/n]" : "[y/N]") "
                )
                try errors.flush()
                guard let line = readLine() else { throw ToolError.usage("no answer was given") }
                let word = line.trimmingCharacters(in: .whitespaces).lowercased()
                let isYes = ["y", "yes"].contains(word) || (word.isEmpty && guess.isLikely)
                let isNo = ["n", "no"].contains(word) || (word.isEmpty && !guess.isLikely)
                if isYes { answers.rename(guess) }
                if isNo { answers.drop(guess) }
                if isYes || isNo { break }
            }
        }
    }

    /// The questions, and the file of answers that they would have if each likely one were right.
    var json: JSONText {
        let questions = guesses.map { guess in
            JSONText.object([
                ("entity", guess.entity.map { .text($0) } ?? .null), ("old", .text(guess.old)),
                ("new", .text(guess.new)), ("score", .number(guess.score)),
                ("likely", .text(guess.isLikely ? "rename" : "drop")), ("rename", .text(guess.rename)),
                ("drop", .text(guess.drop)),
            ])
        }
        let renames = guesses.filter(\.isLikely).map { guess in
            ((guess.entity.map { "\($0)." } ?? "") + guess.new, JSONText.text(guess.old))
        }
        let drops = guesses.filter { !$0.isLikely }.map { JSONText.text($0.drop) }
        return .object([
            ("questions", .list(questions)),
            ("answers", .object([("rename", .object(renames)), ("drop", .list(drops))])),
        ])
    }
}
#endif
