#if Inspector
import Foundation
import MortiseCommands
import MortiseCore

/// The entities of a schema on an ellipse, with lines for relationships.
struct SchemaGraph {
    private let schema: StoredSchema
    private let counts: [String: Int]
    private let store: Int
    /// A picture of more is no help.
    private static let most = 30

    init(_ schema: StoredSchema, _ counts: [String: Int], _ store: Int) {
        self.schema = schema
        self.counts = counts
        self.store = store
    }

    var html: HTML? {
        let entities = schema.entities
        guard entities.count > 1, entities.count <= Self.most else { return nil }
        let width = 760
        let height = max(220, 60 * ((entities.count + 1) / 2))
        var places: [String: (x: Int, y: Int)] = [:]
        for (number, entity) in entities.enumerated() {
            let angle = 2 * Double.pi * Double(number) / Double(entities.count) - .pi / 2
            places[entity.name] = (
                Int(Double(width) / 2 + cos(angle) * (Double(width) / 2 - 90)),
                Int(Double(height) / 2 + sin(angle) * (Double(height) / 2 - 30))
            )
        }
        let lines = links.compactMap { link -> HTML? in
            guard let from = places[link.from], let to = places[link.to] else { return nil }
            let (x, y) = ((from.x + to.x + width) / 4 + width / 8, (from.y + to.y + height) / 4 + height / 8)
            let middle = (x: (x + (from.x + to.x) / 2) / 2, y: (y + (from.y + to.y) / 2) / 2)
            let kind = link.isInheritance ? "line is" : "line"
            return """
                <path class="\(kind)" d="M\(from.x) \(from.y)Q\(middle.x) \(middle.y) \(to.x) \(to.y)"><title>\(link.label)</title></path>
                """
        }
        let boxes = entities.compactMap { entity -> HTML? in
            guard let place = places[entity.name] else { return nil }
            let half = min(85, max(38, entity.name.count * 4 + 14))
            return """
                <a href="\(Link.records(store, entity.name))"><g transform="translate(\(place.x) \(place.y))">\
                <rect x="\(-half)" y="-19" width="\(2 * half)" height="38" rx="4"/>\
                <text y="-2">\(String(entity.name.prefix(20)))</text>\
                <text class="count" y="12">\(InspectedText.count(counts[entity.name] ?? 0))</text></g></a>
                """
        }
        return """
            <figure class="graph"><svg viewBox="0 0 \(width) \(height)" role="img" aria-label="Entities and their relationships">\
            \(lines)\(boxes)</svg></figure>
            """
    }

    private var links: [(from: String, to: String, label: String, isInheritance: Bool)] {
        var seen: Set<[String]> = []
        var links: [(from: String, to: String, label: String, isInheritance: Bool)] = []
        for entity in schema.entities {
            if let above = entity.superentity {
                links.append((entity.name, above, "\(entity.name) is a \(above)", true))
            }
            for property in entity.properties {
                guard let relationship = property.relationship else { continue }
                let inverse = relationship.inverse ?? ""
                if seen.contains([relationship.destination, inverse, entity.name, property.name]) { continue }
                seen.insert([entity.name, property.name, relationship.destination, inverse])
                let label =
                    "\(entity.name).\(property.name)"
                    + (inverse.isEmpty ? "" : " / \(relationship.destination).\(inverse)")
                links.append((entity.name, relationship.destination, label, false))
            }
        }
        return links
    }
}
#endif
