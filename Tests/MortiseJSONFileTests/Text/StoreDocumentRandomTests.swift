import FaultWorkload
import Foundation
import MortiseCore
import MortiseJSONFile
import PackageTestSupport
import Testing

/// Random schemas and records come back to the last bit.
@Suite struct StoreDocumentRandomTests {
    @Test func randomRecordsComeBack() throws {
        var random = SeededGenerator(seed: testSeed())
        for _ in 0..<(isFullSize ? 600 : 30) {
            let store = RandomStore(using: &random)
            let bytes = try write(store.schema, next: store.next, store.records)
            let (header, records) = try read(bytes)
            #expect(header.schema == store.schema)
            #expect(records.count == store.records.count)
            for (read, written) in zip(records, store.records) {
                #expect(read.entity == written.entity && read.sequence == written.sequence)
                #expect(zip(read.values, written.values).allSatisfy(isIdentical), "\(read) instead of \(written)")
            }
            #expect(try write(header.schema, next: header.nextSequence, records) == bytes)
        }
    }
}

/// A schema with attributes of every kind and relationships, some of them to an entity with subentities, and records.
private struct RandomStore {
    var schema: StoredSchema
    var records: [TestRecord] = []
    let next: UInt64

    init(using random: inout SeededGenerator) {
        var entities = ["Alpha", "Beta", "Éta", "Gam ma"].map { StoredEntity(name: $0, properties: []) }
        entities[2].superentity = "Alpha"
        for index in entities.indices {
            for kind in StorageKind.allCases.shuffled(using: &random).prefix(.random(in: 0...18, using: &random)) {
                entities[index].properties.append(
                    attribute("\(kind.rawValue) \(index)", kind, optional: Bool.random(using: &random)))
            }
            entities[index].properties.append(
                toOne("one\"\(index)", entities[Int.random(in: 0..<4, using: &random)].name))
            entities[index].properties.append(
                toMany("many\(index)", entities[Int.random(in: 0..<4, using: &random)].name))
        }
        schema = StoredSchema(entities: entities)
        var numbers = Array(Set((0..<40).map { _ in UInt64.random(in: 0...200, using: &random) })).shuffled(
            using: &random)
        next = 201
        var holders: [String: [UInt64]] = [:]
        for entity in schema.entities {
            let count = Int.random(in: 0...min(15, numbers.count), using: &random)
            holders[entity.name] = numbers.prefix(count).sorted()
            numbers.removeFirst(count)
        }
        let layouts = schema.recordLayouts()
        for entity in schema.entities {
            guard let layout = layouts[entity.name] else { continue }
            for sequence in holders[entity.name] ?? [] {
                let values = layout.slots.map { slot -> StoredValue in
                    if let relationship = slot.property.relationship {
                        let all = schema.subtree(of: relationship.destination).flatMap { name in
                            (holders[name] ?? []).map {
                                PersistentIdentifier.numbered($0, storeIdentifier: "S", entityName: name)
                            }
                        }
                        if relationship.isToMany {
                            let some = all.shuffled(using: &random).prefix(.random(in: 0...4, using: &random))
                            return .identifiers(some.sorted { ($0.sequenceNumber ?? 0) < ($1.sequenceNumber ?? 0) })
                        }
                        return Bool.random(using: &random)
                            ? .null : all.randomElement(using: &random).map { .identifier($0) } ?? .null
                    }
                    guard let kind = slot.property.attribute?.kind else { return .null }
                    if slot.property.isOptional, Bool.random(using: &random) { return .null }
                    return randomValue(kind, using: &random)
                }
                records.append(TestRecord(entity.name, sequence, values))
            }
        }
    }
}

func randomValue(_ kind: StorageKind, using random: inout SeededGenerator) -> StoredValue {
    switch kind {
    case .bool: return .bool(Bool.random(using: &random))
    case .uint64: return .unsigned(.random(in: 0 ... .max, using: &random))
    case .float: return .float(Float(bitPattern: .random(in: 0 ... .max, using: &random)))
    case .double: return .double(Double(bitPattern: .random(in: 0 ... .max, using: &random)))
    case .decimal:
        let digits = (0..<Int.random(in: 1...38, using: &random)).map { _ in
            String(Int.random(in: 0...9, using: &random))
        }.joined()
        return .decimal(Decimal(string: "\(digits)e\(Int.random(in: -60...60, using: &random))", locale: nil) ?? 0)
    case .string: return .string(randomString(using: &random))
    case .data:
        return .data(
            Data((0..<Int.random(in: 0...50, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) }))
    case .date:
        let isAny = Bool.random(using: &random)
        return .date(
            Date(
                timeIntervalSinceReferenceDate: isAny
                    ? Double(bitPattern: .random(in: 0 ... .max, using: &random))
                    : .random(in: -1e10...1e10, using: &random)))
    case .uuid: return .uuid(UUID())
    case .url:
        return .url(
            URL(string: "https://example.org/\(UInt64.random(in: 0 ... .max, using: &random))?q=%20")
                ?? URL(fileURLWithPath: "/"))
    case .coded: return randomTree(depth: 4, using: &random)
    default: return .integer(.random(in: kind.integerRange ?? 0...0, using: &random))
    }
}

private func randomString(using random: inout SeededGenerator) -> String {
    if Bool.random(using: &random) { return AttributeTextTests.strings.randomElement(using: &random) ?? "" }
    var string = String.UnicodeScalarView()
    for _ in 0..<Int.random(in: 0...40, using: &random) {
        let limit: UInt32 = Bool.random(using: &random) ? 0x7F : 0x10FFFF
        if let scalar = Unicode.Scalar(UInt32.random(in: 0...limit, using: &random)) { string.append(scalar) }
    }
    return String(string)
}

private func randomTree(depth: Int, using random: inout SeededGenerator) -> StoredValue {
    switch Int.random(in: 0...(depth > 0 ? 8 : 6), using: &random) {
    // A null at the top would be the attribute's own.
    case 0 where depth < 4: return .null
    case 0, 1: return .bool(Bool.random(using: &random))
    case 2: return .integer(.random(in: .min ... .max, using: &random))
    case 3: return .unsigned(.random(in: UInt64(Int64.max) + 1 ... .max, using: &random))
    case 4, 5:
        let value = Double(bitPattern: .random(in: 0 ... .max, using: &random))
        return .double(value.isFinite ? value : 5)
    case 6: return .string(randomString(using: &random))
    case 7:
        return .array(
            (0..<Int.random(in: 0...5, using: &random)).map { _ in randomTree(depth: depth - 1, using: &random) })
    default:
        var members: [String: StoredValue] = [:]
        for _ in 0..<Int.random(in: 0...5, using: &random) {
            members[randomString(using: &random)] = randomTree(depth: depth - 1, using: &random)
        }
        return .object(members)
    }
}
