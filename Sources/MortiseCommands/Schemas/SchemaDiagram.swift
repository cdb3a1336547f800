#if Tool
import MortiseCore

/// A schema as a picture, in the languages of two programs that draw. The same schema always has the same text.
struct SchemaDiagram {
    private let schema: StoredSchema
    private let layouts: [String: RecordLayout]

    /// A relationship with its inverse, as one line of the picture.
    private struct Link {
        let from: String
        let to: String
        /// `trips / traveler`, or the one name where there is no inverse.
        let label: String
        /// How many records at the far end belong to one at the near end, and the other way round.
        let far: Ends
        let near: Ends
    }

    private enum Ends {
        case one
        case oneOrNone
        case many
    }

    init(_ schema: StoredSchema) {
        self.schema = StoredSchema(version: schema.version, entities: schema.entities)
        layouts = schema.recordLayouts()
    }

    /// Each link once, from the side that comes first.
    private var links: [Link] {
        var links: [Link] = []
        var seen: Set<[String]> = []
        for entity in schema.entities {
            for property in entity.properties {
                guard let relationship = property.relationship else { continue }
                let other = inverse(of: relationship)
                if let other, seen.contains([other.declaringEntity, other.name]),
                    other.property.relationship?.inverse == property.name
                {
                    continue
                }
                seen.insert([entity.name, property.name])
                links.append(
                    Link(
                        from: entity.name, to: relationship.destination,
                        label: property.name + (other.map { " / " + $0.name } ?? ""), far: Self.ends(property),
                        near: other.map { Self.ends($0.property) } ?? .many))
            }
        }
        return links
    }

    private func inverse(of relationship: StoredRelationship) -> RecordLayout.Slot? {
        guard let name = relationship.inverse, let layout = layouts[relationship.destination],
            let slot = layout.slot(named: name)
        else { return nil }
        return layout.slots[slot]
    }

    private static func ends(_ property: StoredProperty) -> Ends {
        property.relationship?.isToMany == true ? .many : property.isOptional ? .oneOrNone : .one
    }

    private func isUnique(_ property: StoredProperty, in entity: StoredEntity) -> Bool {
        entity.uniquenessConstraints.contains([property.name])
            || property.attribute?.options.contains(.unique) == true
    }

    // MARK: Mermaid

    /// An `erDiagram`.
    var mermaid: String {
        var lines = ["erDiagram"]
        for entity in schema.entities {
            let attributes = entity.properties.compactMap { property in
                property.attribute.map { mermaid(property, $0, in: entity) }
            }
            if attributes.isEmpty {
                lines.append("    \(Self.mermaidName(entity.name))")
            } else {
                lines += ["    \(Self.mermaidName(entity.name)) {"] + attributes + ["    }"]
            }
        }
        for link in links {
            let near = [Ends.one: "||", .oneOrNone: "|o", .many: "}o"][link.near] ?? ""
            let far = [Ends.one: "||", .oneOrNone: "o|", .many: "o{"][link.far] ?? ""
            lines.append(
                "    \(Self.mermaidName(link.from)) \(near)--\(far) \(Self.mermaidName(link.to)) : "
                    + Self.mermaidText(link.label))
        }
        for entity in schema.entities {
            guard let superentity = entity.superentity else { continue }
            lines.append("    \(Self.mermaidName(superentity)) ||--|| \(Self.mermaidName(entity.name)) : \"is a\"")
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private func mermaid(_ property: StoredProperty, _ attribute: StoredAttribute, in entity: StoredEntity) -> String {
        // Names of attributes cannot be quoted.
        let name = String(property.name.map { Self.isPlain($0) ? $0 : "_" })
        let plain = name.first?.isLetter == true ? name : "a_" + name
        var notes: [String] = plain == property.name ? [] : [property.name]
        if property.isOptional { notes.append("optional") }
        if attribute.options.contains(.ephemeral) { notes.append("ephemeral") }
        var line = "        \(attribute.kind.rawValue) \(plain)"
        if isUnique(property, in: entity) { line += " UK" }
        if !notes.isEmpty { line += " " + Self.mermaidText(notes.joined(separator: ", ")) }
        return line
    }

    private static func isPlain(_ character: Character) -> Bool {
        character.isASCII && (character.isLetter || character.isNumber || character == "_" || character == "-")
    }

    private static func mermaidName(_ name: String) -> String {
        !name.isEmpty && name.allSatisfy(isPlain) ? name : mermaidText(name)
    }

    /// In quotation marks; what could end them is a character reference.
    private static func mermaidText(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            if scalar.properties.generalCategory == .control || "\"#;%\\<>&".unicodeScalars.contains(scalar) {
                result += "#\(scalar.value);"
            } else {
                result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }

    // MARK: DOT

    /// A graph for Graphviz.
    var dot: String {
        var lines = ["digraph schema {", "    graph [rankdir=LR];", "    node [shape=record];"]
        for entity in schema.entities {
            let attributes = entity.properties.compactMap { property -> String? in
                guard let attribute = property.attribute else { return nil }
                let unique = isUnique(property, in: entity) ? " (unique)" : ""
                return Self.label(
                    "\(property.name): \(attribute.kind.rawValue)\(property.isOptional ? "?" : "")\(unique)")
                    + "\\l"
            }
            let label = Self.label(entity.name) + (attributes.isEmpty ? "" : "|" + attributes.joined())
            lines.append("    \(Self.quoted(entity.name)) [label=\"{\(label)}\"];")
        }
        for link in links {
            let arrows = [Ends.one: "teetee", .oneOrNone: "teeodot", .many: "crowodot"]
            lines.append(
                "    \(Self.quoted(link.from)) -> \(Self.quoted(link.to)) [label=\(Self.quoted(link.label)), dir=both, "
                    + "arrowtail=\(arrows[link.near] ?? ""), arrowhead=\(arrows[link.far] ?? "")];")
        }
        for entity in schema.entities {
            guard let superentity = entity.superentity else { continue }
            lines.append("    \(Self.quoted(entity.name)) -> \(Self.quoted(superentity)) [arrowhead=empty];")
        }
        return (lines + ["}"]).joined(separator: "\n") + "\n"
    }

    private static func quoted(_ text: String) -> String {
        "\"" + escaped(text, also: "") + "\""
    }

    /// A part of a record's label.
    private static func label(_ text: String) -> String { escaped(text, also: "{}|<> ") }

    private static func escaped(_ text: String, also characters: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            if scalar == "\n" {
                result += "\\n"
            } else if scalar.properties.generalCategory == .control {
                result += " "
            } else {
                if "\"\\".unicodeScalars.contains(scalar) || characters.unicodeScalars.contains(scalar) {
                    result += "\\"
                }
                result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}
#endif
