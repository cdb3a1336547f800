import Foundation
import MortiseCore
import PackageTestSupport
import Testing

/// A history in memory packs the values of change sets; what it hands over is what it took in.
@Suite struct PackedHistoryTests {
    private static let store = "packed"
    private static let layout = StoredSchema(entities: [
        StoredEntity(
            name: "Thing",
            properties: (0..<70).map { number in
                StoredProperty(
                    name: "p\(number)", isOptional: true, content: .attribute(StoredAttribute(kind: .coded)))
            })
    ]).recordLayouts()["Thing"]

    private static func value(_ random: inout SeededGenerator) -> StoredValue {
        func record(_ random: inout SeededGenerator) -> PersistentIdentifier {
            let namespace = IdentifierNamespace(
                storeIdentifier: store, entityName: Bool.random(using: &random) ? "Thing" : "Other")
            return namespace[UInt64.random(in: 0..<(1 << 40), using: &random)]
        }
        let bits =
            Bool.random(using: &random)
            ? UInt64.random(in: 0 ... .max, using: &random) : UInt64.random(in: 0..<300, using: &random)
        let text = String(repeating: "ä\u{0}x", count: Int.random(in: 0..<120, using: &random))
        return switch Int.random(in: 0..<18, using: &random) {
        case 0: .null
        case 1: .bool(bits % 2 == 0)
        case 2: .integer(Int64(bitPattern: bits))
        case 3: .unsigned(bits)
        case 4: .float(Float(bitPattern: UInt32(truncatingIfNeeded: bits)))
        case 5: .double(Double(bitPattern: bits))
        case 6: .decimal(Decimal(Int64(bitPattern: bits)) / 7)
        case 7, 8: .string(text)
        case 9: .data(Data(text.utf8))
        case 10: .date(Date(timeIntervalSinceReferenceDate: Double(bitPattern: bits)))
        case 11: .uuid(UUID())
        case 12: .url(URL(filePath: "/\(bits)"))
        case 13: .identifier(record(&random))
        case 14: .identifiers((0..<Int.random(in: 0..<4, using: &random)).map { _ in record(&random) })
        case 15: .array([.integer(1), .null, .string(text)])
        case 16: .object(["a": .double(.nan)])
        default: .identifier(PersistentIdentifier.temporary(entityName: "Thing"))
        }
    }

    private static func changes(_ number: UInt64, _ random: inout SeededGenerator) throws -> ChangeSet {
        let layout = try #require(layout)
        let namespace = IdentifierNamespace(storeIdentifier: store, entityName: "Thing")
        func values() -> ContiguousArray<StoredValue> {
            ContiguousArray(layout.slots.indices.map { _ in value(&random) })
        }
        func slots() -> SlotSet {
            SlotSet(layout.slots.indices.filter { _ in Int.random(in: 0..<4, using: &random) == 0 })
        }
        var changes = ChangeSet(author: number % 3 == 0 ? "a" : nil)
        changes.commit = .init(number: number, timestamp: Date(), mark: number)
        let inserted = (0..<Int.random(in: 0..<4, using: &random)).map { place in
            DefaultSnapshot(
                persistentIdentifier: namespace[number * 10 + UInt64(place)], layout: layout, values: values())
        }
        changes.inserted =
            number % 5 == 0
            ? .init(records: inserted.map(\.persistentIdentifier)) : ChangeSet.Insertions(inserted)
        for place in 0..<Int.random(in: 0..<4, using: &random) {
            let (hasOld, hasNew) = (Bool.random(using: &random), Bool.random(using: &random))
            changes.updated.append(
                .init(
                    record: namespace[UInt64(place)], layout: layout, slots: slots(), values: hasNew ? values() : [],
                    oldValues: hasOld ? values() : []))
        }
        for place in 0..<Int.random(in: 0..<4, using: &random) {
            let isKnown = Bool.random(using: &random)
            changes.deleted.append(
                .init(
                    record: namespace[UInt64(place + 5)], layout: layout, values: isKnown ? values() : [],
                    preserved: Bool.random(using: &random) ? slots() : SlotSet()))
        }
        // Values that do not fit their slots are the maker's mistake, and are kept as they are.
        if number % 7 == 0, !changes.updated.isEmpty { changes.updated[0].values = [.bool(true)] }
        return changes
    }

    private func expect(_ found: ChangeSet, _ given: ChangeSet) {
        #expect(found.author == given.author && found.commit == given.commit)
        #expect(found.inserted.records == given.inserted.records)
        #expect(found.inserted.hasValues == given.inserted.hasValues)
        for (a, b) in zip(found.inserted.values, given.inserted.values) {
            #expect(a.persistentIdentifier == b.persistentIdentifier && a.layout === b.layout)
            #expect(a.values.elementsEqual(b.values) { $0.isIdentical(to: $1) })
        }
        #expect(found.updated.map(\.record) == given.updated.map(\.record))
        for (a, b) in zip(found.updated, given.updated) {
            #expect(a.slots == b.slots && a.layout === b.layout)
            #expect(a.values.isEmpty == b.values.isEmpty && a.oldValues.isEmpty == b.oldValues.isEmpty)
            for slot in 0..<70 {
                #expect(same(a.value(at: slot), b.value(at: slot)) && same(a.oldValue(at: slot), b.oldValue(at: slot)))
            }
        }
        #expect(found.deleted.map(\.record) == given.deleted.map(\.record))
        for (a, b) in zip(found.deleted, given.deleted) {
            #expect(a.preserved == b.preserved)
            for slot in b.preserved.slots where !b.values.isEmpty {
                #expect(a.values[slot].isIdentical(to: b.values[slot]))
            }
        }
    }

    private func same(_ a: StoredValue?, _ b: StoredValue?) -> Bool {
        switch (a, b) {
        case (nil, nil): true
        case (let a?, let b?): a.isIdentical(to: b)
        default: false
        }
    }

    @Test(arguments: [1, 2, 3] as [UInt64])
    func valuesComeBack(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let recorder = HistoryRecorder(ofStore: Self.store, numbering: .ofCommits, keeping: .unlimited)
        var given: [ChangeSet] = []
        for number in 1...120 as ClosedRange<UInt64> {
            let changes = try Self.changes(number, &random)
            given.append(changes)
            recorder.record([changes])
        }
        var read = 0
        try recorder.readChangeSets(1...120) { entry, changes in
            expect(try changes(), given[Int(entry.number) - 1])
            read += 1
            return true
        }
        #expect(read == recorder.status.transactions)
    }

    /// A save of a thousand records with ten numbers each: less than a third of what arrays of values take.
    @Test func numbersArePacked() throws {
        let layout = try #require(Self.layout)
        let namespace = IdentifierNamespace(storeIdentifier: Self.store, entityName: "Thing")
        var values = ContiguousArray<StoredValue>(repeating: .null, count: layout.slots.count)
        for slot in 0..<10 { values[slot] = .integer(Int64(slot)) }
        var changes = ChangeSet()
        changes.commit = .init(number: 1, timestamp: Date(), mark: 1)
        changes.inserted = .init(
            (1...1_000).map { DefaultSnapshot(persistentIdentifier: namespace[$0], layout: layout, values: values) })
        let recorder = HistoryRecorder(ofStore: Self.store, numbering: .ofCommits, keeping: .unlimited)
        recorder.record([changes])
        let whole = 1_000 * layout.slots.count * MemoryLayout<StoredValue>.stride
        #expect(recorder.status.bytes > 0 && recorder.status.bytes < Int64(whole / 3))
    }
}
