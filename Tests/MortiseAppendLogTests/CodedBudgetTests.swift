import FaultWorkload
import Foundation
import MortiseJSONFile
import PackageTestSupport
import Testing

@testable import MortiseAppendLog
@testable import MortiseCore
@testable import MortiseEngine

/// Coded values at the limits of what a record may hold: what one store takes, each takes, and gives back.
struct CodedBudgetTests {
    private static let limit = CodedBudget.parts

    /// A value of so many parts in one of several shapes, with strings of a length.
    private static func value(_ shape: Int, parts: Int, text: Int = 0) -> StoredValue {
        let string = StoredValue.string(String(repeating: "x", count: text))
        switch shape {
        // An array is two parts, each element one.
        case 0: return .array(Array(repeating: .null, count: parts - 2))
        case 1: return .array(Array(repeating: .integer(.min), count: parts - 2))
        case 2: return .array(Array(repeating: .double(0.1), count: parts - 2))
        case 3: return .array(Array(repeating: string, count: parts - 2))
        case 4:
            let inner = StoredValue.array([])
            return .array(Array(repeating: inner, count: (parts - 2) / 2) + (parts % 2 == 0 ? [] : [.null]))
        default:
            var members: [String: StoredValue] = [:]
            for number in 0..<((parts - 2) / 2) { members["\(number)"] = string }
            let object = StoredValue.object(members)
            return parts % 2 == 0 ? object : .array([object])
        }
    }

    private static func nested(_ depth: Int) -> StoredValue {
        var value = StoredValue.bool(true)
        for level in 0..<depth { value = level % 3 == 0 ? .object(["a": value]) : .array([value]) }
        return value
    }

    /// What each store says of a record with these values: whether it takes them, and what it gives back opened again.
    private func outcomes(_ values: [StoredValue], updating: Bool) throws -> [(
        name: String, isTaken: Bool, isSame: Bool
    )] {
        let schema = Schema([Coded.self])
        let layout = try #require(schema.stored.recordLayouts()["Coded"])
        func save(_ engine: Engine) throws -> Bool {
            func snapshot(_ identifier: PersistentIdentifier, _ values: [StoredValue]) -> DefaultSnapshot {
                DefaultSnapshot(persistentIdentifier: identifier, layout: layout, values: ContiguousArray(values))
            }
            do {
                let new = PersistentIdentifier.temporary(entityName: "Coded")
                let first = updating ? values.map { _ in StoredValue.null } : values
                let made = try engine.save(
                    .init(inserted: [snapshot(new, first)], editingState: EditingState()))
                guard updating, let identifier = made[new] else { return true }
                for slot in values.indices {
                    _ = try engine.save(
                        .init(
                            inserted: [], updated: [snapshot(identifier, values)], deleted: [],
                            editingState: EditingState(), changedSlots: [SlotSet([slot])]))
                }
                return true
            } catch EngineError.codedValueTooLarge {
                return false
            }
        }
        func isSame(_ engine: Engine) -> Bool {
            guard let table = engine.version.tables["Coded"], table.count == 1 else { return false }
            return values.indices.allSatisfy { table.value(row: 0, slot: $0).isIdentical(to: values[$0]) }
        }
        var found: [(name: String, isTaken: Bool, isSame: Bool)] = []
        let memory = Engine(.empty(Catalog(schema: schema.stored, storeIdentifier: "memory")))
        found.append(("memory", try save(memory), isSame(memory)))
        let disk = try makeDisk()
        var log = logConfiguration(disk)
        log.schema = schema
        var json = JSONFileConfiguration(path: "/data/store.json", in: disk)
        json.schema = schema
        let logStore = try AppendLogStore(log, migrationPlan: nil)
        let isTakenByLog = try save(logStore.engine)
        try logStore.close()
        let logAgain = try AppendLogStore(log, migrationPlan: nil)
        found.append(("log", isTakenByLog, isSame(logAgain.engine)))
        try logAgain.close()
        let jsonStore = try JSONFileStore(json, migrationPlan: nil)
        let isTakenByJSON = try save(jsonStore.engine)
        try jsonStore.close()
        let jsonAgain = try JSONFileStore(json, migrationPlan: nil)
        found.append(("json", isTakenByJSON, isSame(jsonAgain.engine)))
        try jsonAgain.close()
        return found
    }

    private func expect(
        _ values: [StoredValue], updating: Bool = false, isTaken: Bool, _ name: String,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        for outcome in try outcomes(values, updating: updating) {
            #expect(outcome.isTaken == isTaken, "\(name): \(outcome)", sourceLocation: sourceLocation)
            if isTaken { #expect(outcome.isSame, "\(name): \(outcome)", sourceLocation: sourceLocation) }
        }
    }

    @Test(arguments: 0..<5)
    func aValueAtTheLimitIsTakenByEveryStoreAndOnePartMoreByNone(shape: Int) throws {
        try expect([Self.value(shape, parts: Self.limit), .null], isTaken: true, "shape \(shape)")
        try expect([Self.value(shape, parts: Self.limit + 1), .null], isTaken: false, "shape \(shape) and one")
    }

    @Test func nestingIsLimitedAlike() throws {
        try expect([Self.nested(CodedBudget.deepest), .null], isTaken: true, "deepest")
        try expect([Self.nested(CodedBudget.deepest + 1), .null], isTaken: false, "deeper")
    }

    /// Strings make room, also where they come last; the values of one record count together, also one by one.
    @Test(arguments: [false, true])
    func theValuesOfARecordCountTogether(updating: Bool) throws {
        let half = Self.value(0, parts: Self.limit / 2)
        try expect([half, half], updating: updating, isTaken: true, "two halves")
        try expect(
            [half, Self.value(1, parts: Self.limit / 2 + 1)], updating: updating, isTaken: false, "two halves and one")
        guard case .array(let many) = Self.value(0, parts: Self.limit) else { return }
        let text = StoredValue.string(String(repeating: "é\u{1}", count: 64))
        try expect([.array(many + [text, text]), .null], updating: updating, isTaken: true, "strings behind")
    }

    @Test func valuesAroundTheLimitHaveTheSameFateEverywhere() throws {
        let seed = testSeed()
        var generator = TestGenerator(seed: seed)
        for _ in 0..<(isFullSize ? 60 : 2) {
            let value = Self.value(
                Int.random(in: 0..<6, using: &generator),
                parts: Self.limit + Int.random(in: -3...3, using: &generator) * [1, 1_000].randomElement(
                    using: &generator)!,
                text: [0, 1, 15, 16, 60, 70].randomElement(using: &generator)!)
            let found = try outcomes([value, .null], updating: Bool.random(using: &generator))
            #expect(Set(found.map(\.isTaken)).count == 1, "seed \(seed): \(found)")
            #expect(found.allSatisfy { $0.isTaken == $0.isSame }, "seed \(seed): \(found)")
        }
    }
}

private final class Coded: PersistentModel {
    var persistentBackingData: any BackingData<Coded> = Coded.createBackingData()
    static var schemaMetadata: [Schema.PropertyMetadata] {
        [.init(name: "first", keypath: \Coded.first), .init(name: "second", keypath: \Coded.second)]
    }
    init(backingData: any BackingData<Coded>) { persistentBackingData = backingData }
    var first: [Int]? {
        get { getValue(forKey: \.first) }
        set { setValue(forKey: \.first, to: newValue) }
    }
    var second: [Int]? {
        get { getValue(forKey: \.second) }
        set { setValue(forKey: \.second, to: newValue) }
    }
}
