import Foundation
import MortiseCore
import PackageTestSupport

/// Schemas and records to begin with.
extension RandomStage {
    static func schema(_ random: inout SeededGenerator, _ names: inout Int) -> StoredSchema {
        func name(_ letter: String) -> String {
            names += 1
            return "\(letter)\(names)"
        }
        let entities = (0..<Int.random(in: 1...3, using: &random)).map { _ in name("E") }
        return StoredSchema(
            version: Schema.Version(1, 0, 0),
            entities: entities.map { entity in
                var properties = (0..<Int.random(in: 1...6, using: &random)).map { _ in
                    attribute(name("p"), &random)
                }
                for _ in 0..<Int.random(in: 0...2, using: &random) {
                    properties.append(link(name("r"), to: entities.randomElement(using: &random) ?? entity, &random))
                }
                return StoredEntity(name: entity, properties: properties)
            }.addingInverses(&random, &names))
    }

    private static let kindsOfValues: [StorageKind] = [
        .bool, .int8, .int32, .int64, .uint64, .float, .double, .decimal, .string, .date, .uuid, .data,
    ]

    static func attribute(_ name: String, _ random: inout SeededGenerator) -> StoredProperty {
        StoredProperty(
            name: name, isOptional: random.chance(2),
            content: .attribute(StoredAttribute(kind: kindsOfValues.randomElement(using: &random) ?? .string)))
    }

    static func link(_ name: String, to entity: String, _ random: inout SeededGenerator) -> StoredProperty {
        let isToMany = random.chance(2)
        return StoredProperty(
            name: name, isOptional: !isToMany,
            content: .relationship(StoredRelationship(destination: entity, isToMany: isToMany)))
    }

    static func value(_ kind: StorageKind, _ random: inout SeededGenerator) -> StoredValue {
        let number = [0, 1, -1, 7, 42, 127, -128, 300, .max, .min].randomElement(using: &random) ?? Int64(0)
        switch kind {
        case .bool: return .bool(random.chance(2))
        case .int8: return .integer(Int64(Int8(truncatingIfNeeded: number)))
        case .int32: return .integer(Int64(Int32(truncatingIfNeeded: number)))
        case .uint64: return .unsigned(UInt64(truncatingIfNeeded: number))
        case .float: return .float([0, -0.0, 1.5, .infinity, 1e30].randomElement(using: &random) ?? 0)
        case .double: return .double([0, -0.0, 2.5, 3.5, 0.1, 1e300, -.infinity].randomElement(using: &random) ?? 0)
        case .decimal:
            return .decimal(
                [Decimal(1), Decimal(-7), Decimal(sign: .plus, exponent: -2, significand: 12345)]
                    .randomElement(using: &random) ?? 0)
        case .date:
            return .date(Date(timeIntervalSinceReferenceDate: Double(Int.random(in: -9...9, using: &random)) / 7))
        case .uuid:
            return .uuid(
                UUID(uuid: (UInt8.random(in: 0...3, using: &random), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1)))
        case .data:
            return .data(Data(repeating: 7, count: random.chance(4) ? 5_000 : Int.random(in: 0...3, using: &random)))
        case .string:
            return .string(["", "a", "b", "é", "e\u{301}", "42", "-7", "x y"].randomElement(using: &random) ?? "")
        default: return .integer(number)
        }
    }

    static func content(of schema: StoredSchema, _ random: inout SeededGenerator) -> Content {
        var content = Content()
        for entity in schema.entities {
            for _ in 0..<(random.chance(8) ? 0 : Int.random(in: 1...12, using: &random)) {
                content.records[entity.name, default: [:]][content.next] = [:]
                content.next += 1
            }
        }
        for entity in schema.entities {
            for number in content.records[entity.name]?.keys.sorted() ?? [] {
                for property in entity.properties {
                    if property.relationship?.inverse != nil { continue }
                    let value = Self.value(of: property, in: content, &random)
                    content.records[entity.name]?[number]?[property.name] = value
                }
            }
        }
        for pair in schema.pairs { content.fill(pair, &random) }
        return content
    }

    private static func value(
        of property: StoredProperty, in content: Content, _ random: inout SeededGenerator
    ) -> Content.Value {
        if let attribute = property.attribute {
            return .value(property.isOptional && random.chance(4) ? .null : value(attribute.kind, &random))
        }
        guard let relationship = property.relationship else { return .value(.null) }
        let targets = content.records[relationship.destination]?.keys.sorted() ?? []
        if relationship.isToMany {
            return .links(relationship.destination, Set(targets.filter { _ in random.chance(3) }))
        }
        guard !random.chance(3), let target = targets.randomElement(using: &random) else { return .value(.null) }
        return .link(relationship.destination, target)
    }
}
