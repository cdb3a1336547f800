import Foundation
import Mortise
import PackageTestSupport
import Testing

@testable import MortiseCore

/// Transactions that are taken back: `ModelContext.revert(_:onConflict:)` and `revert(after:onConflict:)`.
@Suite struct RevertTests {
    private let folder: Folder

    init() throws { folder = try Folder() }

    private static let rounds = ProcessInfo.processInfo.environment["MORTISE_TEST_SIZE"] == "full" ? 40 : 6

    private func container(_ store: HistoryStore, _ name: String = "past") throws -> ModelContainer {
        try ModelContainer(for: Schema(PastProgram.types), configurations: [store.configuration(folder, name)])
    }

    private func last(_ context: ModelContext) throws -> DefaultHistoryToken {
        try #require(try context.history().last?.token)
    }

    // MARK: Random programs

    @Test(arguments: HistoryStore.allCases) func theLastTransactionLeavesNothingBehind(_ store: HistoryStore) throws {
        let seed = testSeed()
        // A log gives records that come back other identifiers.
        let isNamed = store == .log
        for round in 0..<Self.rounds {
            let container = try container(store, "\(round)")
            var program = PastProgram(seed: seed &+ UInt64(round), in: container, named: isNamed)
            try program.run(saves: 4)
            for step in 0..<25 {
                let before = try PastState(ModelContext(container), named: isNamed)
                let known = program.states.count
                try program.run(saves: 1)
                guard program.states.count > known, let token = program.states.last?.token else { continue }
                let context = ModelContext(container)
                let report = try context.revert(token)
                #expect(report.conflicts.isEmpty && report.cleared.isEmpty)
                let unsaved = try PastState(context, named: true)
                try context.save()
                let after = try PastState(ModelContext(container), named: isNamed)
                #expect(after == before, "\(seed) \(round) \(step): \(after.difference(from: before))")
                #expect(unsaved == (try PastState(ModelContext(container), named: true)), "\(seed) \(round) \(step)")
                try program.context.refresh()
                try program.note()
            }
            try container.close()
        }
    }

    @Test(arguments: HistoryStore.allCases) func allThatCameAfterATokenIsTakenBack(_ store: HistoryStore) throws {
        let seed = testSeed()
        let isNamed = store == .log
        for round in 0..<Self.rounds {
            let container = try container(store, "\(round)")
            var program = PastProgram(seed: seed &+ UInt64(round), in: container, named: isNamed)
            try program.run(saves: 12)
            var generator = SeededGenerator(seed: seed &+ UInt64(round))
            for _ in 0..<6 {
                let goal = generator.pick(program.states)
                let context = ModelContext(container)
                let report = try context.revert(after: goal.token)
                #expect(report.conflicts.isEmpty && report.cleared.isEmpty)
                try context.save()
                let after = try PastState(ModelContext(container), named: isNamed)
                #expect(after == goal.state, "\(seed) \(round): \(after.difference(from: goal.state))")
                try program.context.refresh()
                try program.note()
                try program.run(saves: 3)
            }
            try container.close()
        }
    }

    /// Transactions on records without relationships, reverted in any order, against a list of what each has written. In a log a record that
    /// comes back is another one for the transactions before.
    @Test(arguments: [HistoryStore.memory, .json], RevertPolicy.allCases)
    func aTransactionComesBackAsAReferenceSays(_ store: HistoryStore, _ policy: RevertPolicy) throws {
        let seed = testSeed()
        var reverted = 0
        for round in 0..<Self.rounds {
            let place = try Folder()
            defer { withExtendedLifetime(place) {} }
            var reference = RevertReference(
                seed: seed &+ UInt64(round), in: try store.container(place), policy: policy)
            for _ in 0..<40 { if let fault = try reference.step() { Issue.record("\(seed) \(round): \(fault)") } }
            reverted += reference.reverted
        }
        #expect(reverted > 3)
    }

    // MARK: One case for each rule

    @Test(arguments: HistoryStore.allCases) func aSlotThatWasChangedSinceIsInConflict(_ store: HistoryStore) throws {
        let context = ModelContext(try container(store))
        let item = PastItem(1)
        context.insert(item)
        try context.save()
        item.name = "new"
        item.size = 5
        try context.save()
        let token = try last(context)
        item.size = 6
        try context.save()
        let conflict = RevertConflict(record: item.persistentModelID, property: "size", reason: .changedSince)
        #expect(throws: RevertError.conflicts([conflict])) { try context.revert(token) }
        #expect(!context.hasChanges && item.name == "new" && item.size == 6)
        var report = try context.revert(token, onConflict: .skip)
        #expect(report.conflicts == [conflict] && report.updated == [item.persistentModelID])
        #expect(item.name == "n1" && item.size == 6)
        context.rollback()
        report = try context.revert(token, onConflict: .force)
        #expect(report.conflicts == [conflict])
        #expect(item.name == "n1" && item.size == 1)
        context.rollback()
        // An unsaved change counts as well, and one that leads back to the value is none.
        item.size = 5
        try context.save()
        item.name = "mine"
        #expect(throws: RevertError.self) { try context.revert(token) }
        item.name = "new"
        #expect(try context.revert(token).conflicts.isEmpty)
        #expect(item.name == "n1" && item.size == 1)
    }

    @Test(arguments: HistoryStore.allCases) func whatIsAsBeforeIsLeftAlone(_ store: HistoryStore) throws {
        let context = ModelContext(try container(store))
        let item = PastItem(1)
        context.insert(item)
        try context.save()
        item.size = 5
        try context.save()
        let token = try last(context)
        item.size = 1
        try context.save()
        let report = try context.revert(token)
        #expect(report == RevertReport() && !context.hasChanges)
    }

    @Test(arguments: HistoryStore.allCases) func aDeletedRecordHasNoValuesToTakeBack(_ store: HistoryStore) throws {
        let context = ModelContext(try container(store))
        let item = PastItem(1)
        context.insert(item)
        try context.save()
        item.size = 5
        try context.save()
        let token = try last(context)
        let record = item.persistentModelID
        context.delete(item)
        try context.save()
        let conflict = RevertConflict(record: record, property: nil, reason: .deletedSince)
        #expect(throws: RevertError.conflicts([conflict])) { try context.revert(token) }
        #expect(try context.revert(token, onConflict: .force).conflicts == [conflict])
        #expect(!context.hasChanges)
    }

    @Test(arguments: HistoryStore.allCases) func anInsertedRecordGoesUnlessItWasChanged(_ store: HistoryStore) throws {
        let context = ModelContext(try container(store))
        let item = PastGem(1)
        context.insert(item)
        try context.save()
        let token = try last(context)
        item.cutter = "x"
        try context.save()
        let conflict = RevertConflict(record: item.persistentModelID, property: "cutter", reason: .changedSince)
        #expect(throws: RevertError.conflicts([conflict])) { try context.revert(token) }
        #expect(try context.revert(token, onConflict: .skip).deleted.isEmpty)
        #expect(!context.hasChanges)
        #expect(try context.revert(token, onConflict: .force).deleted == [item.persistentModelID])
        context.rollback()
        item.cutter = nil
        try context.save()
        try context.revert(token)
        try context.save()
        #expect(try context.fetchCount(FetchDescriptor<PastItem>()) == 0)
        // It is gone: nothing is left to do.
        #expect(try context.revert(token) == RevertReport())
    }

    @Test(arguments: HistoryStore.allCases) func laterChildrenKeepAnInsertedRecord(_ store: HistoryStore) throws {
        let context = ModelContext(try container(store))
        let box = PastBox(1)
        context.insert(box)
        box.items.append(PastItem(2))
        try context.save()
        let token = try last(context)
        let later = PastItem(3)
        later.box = box
        context.insert(later)
        try context.save()
        let conflict = RevertConflict(record: box.persistentModelID, property: "items", reason: .takesOthers)
        #expect(throws: RevertError.conflicts([conflict])) { try context.revert(token) }
        // The child of the transaction goes with it and takes nothing.
        #expect(try context.revert(token, onConflict: .skip).deleted.count == 1)
        try context.save()
        #expect(try context.fetch(FetchDescriptor<PastItem>()).map(\.code) == ["c3"])
        #expect(box.items.map(\.code) == ["c3"])
        try context.revert(token, onConflict: .force)
        try context.save()
        #expect(try context.fetchCount(FetchDescriptor<PastItem>()) == 0)
        #expect(try context.fetchCount(FetchDescriptor<PastBox>()) == 0)
    }

    /// The record knows nothing of those who refer to it one way.
    @Test(arguments: HistoryStore.allCases) func aLaterOneWayReferenceKeepsAnInsertedRecord(_ store: HistoryStore)
        throws
    {
        let context = ModelContext(try container(store))
        let item = PastItem(1)
        context.insert(item)
        try context.save()
        let tag = PastTag(2)
        context.insert(tag)
        try context.save()
        let token = try last(context)
        item.favorite = tag
        try context.save()
        let conflict = RevertConflict(record: tag.persistentModelID, property: nil, reason: .takesOthers)
        #expect(throws: RevertError.conflicts([conflict])) { try context.revert(token) }
        item.favorite = nil
        try context.save()
        #expect(try context.revert(token).deleted == [tag.persistentModelID])
    }

    /// The transaction's own reference goes with the record that it leads to.
    @Test(arguments: HistoryStore.allCases) func whatTheTransactionItselfRelatedIsNoConflict(_ store: HistoryStore)
        throws
    {
        let context = ModelContext(try container(store))
        let (item, label) = (PastItem(1), PastLabel(2))
        context.insert(item)
        context.insert(label)
        try context.save()
        let tag = PastTag(3)
        item.favorite = tag
        item.tags = [tag]
        item.label = label
        item.box = PastBox(4)
        try context.save()
        try context.revert(last(context))
        #expect(item.favorite == nil && item.tags.isEmpty && item.label == nil && item.box == nil)
        try context.save()
        #expect(try context.fetchCount(FetchDescriptor<PastTag>()) == 0)
        #expect(try context.fetchCount(FetchDescriptor<PastBox>()) == 0)
    }

    @Test(arguments: HistoryStore.allCases) func aDeletionComesBackWithBothSides(_ store: HistoryStore) throws {
        let context = ModelContext(try container(store))
        let (box, tag, label) = (PastBox(1), PastTag(2), PastLabel(3))
        let gem = PastGem(4)
        gem.carats = 3
        gem.colors = ["a", "b"]
        gem.tags = [tag]
        gem.label = label
        gem.favorite = tag
        box.items = [gem, PastItem(5)]
        context.insert(box)
        try context.save()
        let before = try PastState(context, named: store == .log)
        let records = [box.persistentModelID] + box.items.map(\.persistentModelID)
        context.delete(box)
        try context.save()
        let report = try context.revert(last(context))
        #expect(Set(report.inserted) == Set(records) && report.deleted.isEmpty)
        try context.save()
        let after = try PastState(ModelContext(context.container), named: store == .log)
        #expect(after == before, "\(after.difference(from: before))")
        // The old identifier leads to the record in this context whatever the store can.
        let again: PastBox = try context.existingModel(for: records[0])
        #expect(again.items.count == 2)
    }

    @Test(arguments: HistoryStore.allCases) func referencesToWhatIsGoneAreNil(_ store: HistoryStore) throws {
        let context = ModelContext(try container(store))
        let (item, box) = (PastItem(1), PastBox(2))
        item.box = box
        item.tags = [PastTag(3), PastTag(4)]
        context.insert(item)
        try context.save()
        let tag = try #require(item.tags.first)
        context.delete(item)
        try context.save()
        let token = try last(context)
        let record = try #require(try context.history().last?.changes.last?.changedPersistentIdentifier)
        context.delete(box)
        context.delete(tag)
        try context.save()
        let report = try context.revert(token)
        #expect(
            Set(report.cleared.map(\.property)) == ["box", "tags"] && report.cleared.allSatisfy { $0.record == record })
        try context.save()
        let back = try onlyModel(PastItem.self, in: context)
        #expect(back.box == nil && back.tags.map(\.name) == ["t4"])
    }

    @Test(arguments: HistoryStore.allCases) func aRequiredReferenceToWhatIsGoneIsInConflict(_ store: HistoryStore)
        throws
    {
        let container = try ModelContainer(
            for: Schema([RequiredOwner.self, RequiredPart.self]), configurations: [store.configuration(folder)])
        let context = ModelContext(container)
        let owner = RequiredOwner()
        let part = RequiredPart(owner)
        context.insert(part)
        try context.save()
        let record = part.persistentModelID
        context.delete(part)
        try context.save()
        let token = try last(context)
        context.delete(owner)
        try context.save()
        let conflict = RevertConflict(record: record, property: "owner", reason: .targetGone)
        #expect(throws: RevertError.conflicts([conflict])) { try context.revert(token) }
        #expect(try context.revert(token, onConflict: .force).conflicts == [conflict])
        #expect(!context.hasChanges)
    }

    @Test(arguments: HistoryStore.allCases) func aUniqueValueOfAnotherIsNeverTaken(_ store: HistoryStore) throws {
        let context = ModelContext(try container(store))
        let item = PastItem(1)
        let moved = PastItem(2)
        context.insert(item)
        context.insert(moved)
        try context.save()
        let (record, other) = (item.persistentModelID, moved.persistentModelID)
        context.delete(item)
        moved.code = "moved"
        try context.save()
        let token = try last(context)
        for number in [1, 2] {
            let stranger = PastGem(number)
            stranger.name = "stranger"
            context.insert(stranger)
        }
        try context.save()
        let conflicts = [
            RevertConflict(record: record, property: "code", reason: .notUnique),
            RevertConflict(record: other, property: "code", reason: .notUnique),
        ]
        #expect(throws: RevertError.conflicts(conflicts)) { try context.revert(token) }
        for policy in [RevertPolicy.skip, .force] {
            #expect(try context.revert(token, onConflict: policy).conflicts == conflicts)
            #expect(!context.hasChanges)
        }
        #expect(try context.fetch(FetchDescriptor<PastGem>()).map(\.name) == ["stranger", "stranger"])
        // One that was not saved yet owns it as well.
        try context.delete(model: PastGem.self)
        try context.save()
        context.insert(PastItem(1))
        #expect(throws: RevertError.conflicts([conflicts[0]])) { try context.revert(token) }
        context.rollback()
        try context.revert(token)
        try context.save()
        #expect(Set(try context.fetch(FetchDescriptor<PastItem>()).map(\.code)) == ["c1", "c2"])
    }

    @Test(arguments: HistoryStore.allCases) func uniqueValuesThatWereExchangedAreExchangedBack(_ store: HistoryStore)
        throws
    {
        let context = ModelContext(try container(store))
        let (one, two) = (PastItem(1), PastItem(2))
        context.insert(one)
        context.insert(two)
        try context.save()
        (one.code, two.code) = (two.code, one.code)
        try context.save()
        let token = try last(context)
        #expect(try context.revert(token).updated.count == 2)
        try context.save()
        #expect(one.code == "c1" && two.code == "c2")
        (one.code, two.code) = (two.code, one.code)
        try context.save()
        // If one of them cannot go back, neither can the other.
        let again = try last(context)
        two.code = "other"
        one.note = "x"
        try context.save()
        #expect(throws: RevertError.self) { try context.revert(again) }
        try context.revert(again, onConflict: .skip)
        try context.save()
        #expect(one.code == "c1" && two.code == "other")
    }

    @Test(arguments: HistoryStore.allCases) func thePartnerOfAOneToOneIsNotTakenAway(_ store: HistoryStore) throws {
        let context = ModelContext(try container(store))
        let (one, two, label) = (PastItem(1), PastItem(2), PastLabel(3))
        one.label = label
        context.insert(one)
        context.insert(two)
        try context.save()
        one.label = nil
        try context.save()
        let token = try last(context)
        two.label = label
        try context.save()
        #expect(throws: RevertError.self) { try context.revert(token) }
        #expect(!context.hasChanges)
        try context.revert(token, onConflict: .skip)
        #expect(one.label == nil && two.label === label && label.item === two)
        context.rollback()
        try context.revert(token, onConflict: .force)
        #expect(one.label === label && two.label == nil && label.item === one)
        try context.save()
    }

    @Test(arguments: HistoryStore.allCases) func aRevertIsRevertedAndUndone(_ store: HistoryStore) throws {
        let context = ModelContext(try container(store))
        context.undoManager = UndoManager()
        let item = PastItem(1)
        context.insert(item)
        try context.save()
        item.size = 5
        try context.save()
        context.author = "revert"
        try context.revert(last(context))
        #expect(item.size == 1)
        context.undo_()
        #expect(item.size == 5)
        try context.redo()
        try context.save()
        #expect(try context.history().last?.author == "revert")
        try context.revert(last(context))
        try context.save()
        #expect(item.size == 5)
    }

    // MARK: What cannot be reverted

    @Test(arguments: HistoryStore.allCases) func anExpiredTokenIsRefused(_ store: HistoryStore) throws {
        let context = ModelContext(try store.container(folder))
        try context.saveParcels(by: "a", "b", "c")
        let tokens = try context.history().map(\.token)
        let name = try #require(tokens[0].storeIdentifier)
        let second = tokens[1]
        try context.deleteHistory(HistoryOf(predicate: #Predicate { $0.token == second }))
        #expect(throws: SwiftDataError.historyTokenExpired) { try context.revert(tokens[1]) }
        #expect(throws: SwiftDataError.historyTokenExpired) { try context.revert(DefaultHistoryToken([name: 9])) }
        #expect(throws: SwiftDataError.historyTokenExpired) {
            try context.revert(DefaultHistoryToken([name: 3], marks: [name: (tokens[2].marks[name] ?? 0) ^ 1]))
        }
        #expect(throws: SwiftDataError.historyTokenExpired) { try context.revert(DefaultHistoryToken([name: 0])) }
        #expect(throws: SwiftDataError.historyTokenExpired) { try context.revert(after: tokens[0]) }
        #expect(throws: RevertError.noStore(DefaultHistoryToken(["other": 1]))) {
            try context.revert(DefaultHistoryToken(["other": 1]))
        }
        #expect(!context.hasChanges)
        #expect(try context.revert(after: tokens[1]).deleted.count == 1)
    }

    @Test(arguments: HistoryStore.allCases) func aRemovalOfAllRecordsIsRefused(_ store: HistoryStore) throws {
        let container = try store.container(folder)
        try ModelContext(container).saveParcels(by: "a")
        try container.erase()
        let context = ModelContext(container)
        let token = try last(context)
        let name = try #require(token.storeIdentifier)
        #expect(
            throws: RevertError.notRevertible(
                store: try place(of: container), transaction: token.tokenValue?[name] ?? 0, kind: .erasure)
        ) {
            try context.revert(token)
        }
    }

    /// A token of each of two stores stands for the save that both have taken part in.
    @Test func aSaveOfTwoStoresIsRevertedInBoth() throws {
        let container = try ModelContainer(
            for: Schema([
                PastLabel.self, PastItem.self, PastBox.self, PastTag.self, PastGem.self, Parcel.self, Storehouse.self,
            ]),
            configurations: [
                InMemoryConfiguration("a", schema: Schema([Parcel.self, Storehouse.self])),
                JSONFileConfiguration("b", schema: Schema(PastProgram.types), path: folder.path("b.json")),
            ])
        let context = ModelContext(container)
        let (parcel, item) = (Parcel("p"), PastItem(1))
        context.insert(parcel)
        context.insert(item)
        try context.save()
        parcel.weight = 3
        item.size = 3
        try context.save()
        let tokens = try context.history().suffix(2).map(\.token)
        try context.revert(tokens[0])
        #expect([parcel.weight == 0, item.size == 1].filter { $0 }.count == 1)
        context.rollback()
        try context.revert(tokens[0].advanced(by: tokens[1]))
        #expect(parcel.weight == 0 && item.size == 1)
        context.rollback()
        try context.revert(after: try context.history()[0].token)
        #expect([parcel.weight == 0, item.size == 1].filter { $0 }.count == 1)
    }
}

@Model final class RequiredOwner {
    var name = "owner"
    var parts: [RequiredPart] = []
    init() {}
}

@Model final class RequiredPart {
    @Relationship(inverse: \RequiredOwner.parts) var owner: RequiredOwner
    init(_ owner: RequiredOwner) { self.owner = owner }
}

extension ModelContext {
    fileprivate func undo_() { try? undo() }
}

/// Transactions on records without relationships, and what a revert of one of them has to come to.
private struct RevertReference {
    private typealias Values = [String: String]
    private struct Written {
        let token: DefaultHistoryToken
        /// Nil where there was no record.
        var before: [String: Values?] = [:]
        var after: [String: Values?] = [:]
    }

    private let context: ModelContext
    private let policy: RevertPolicy
    private var generator: SeededGenerator
    private var parcels: [String: Values] = [:]
    private var written: [Written] = []
    private var next = 0
    private(set) var reverted = 0

    init(seed: UInt64, in container: ModelContainer, policy: RevertPolicy) {
        context = ModelContext(container)
        generator = SeededGenerator(seed: seed)
        self.policy = policy
    }

    /// The records by a key that never changes.
    private func stored() throws -> [String: Parcel] {
        Dictionary(
            try context.fetch(FetchDescriptor<Parcel>()).map { ($0.code, $0) }, uniquingKeysWith: { first, _ in first })
    }

    private static func values(_ parcel: Parcel) -> Values {
        ["weight": "\(parcel.weight)", "note": parcel.note ?? "-"]
    }

    /// One transaction, or a revert of one.
    /// - Returns: what went wrong.
    mutating func step() throws -> String? {
        if written.count > 3, generator.chance(3) { return try revert(generator.pick(written)) }
        let all = try stored()
        for _ in 0...generator.below(4) {
            next += 1
            let keys = all.keys.sorted().filter { all[$0]?.isDeleted == false }
            guard !keys.isEmpty, !generator.chance(4), let parcel = all[generator.pick(keys)] else {
                context.insert(Parcel("p\(next)", weight: generator.below(3)))
                continue
            }
            switch generator.below(5) {
            case 0: context.delete(parcel)
            case 1, 2: parcel.weight = generator.below(3)
            default: parcel.note = generator.chance(3) ? nil : "n\(generator.below(3))"
            }
        }
        return try finish()
    }

    /// Saves, and notes what was written.
    private mutating func finish() throws -> String? {
        let last = try context.history().last?.token
        try context.save()
        guard let token = try context.history().last?.token, token != last else { return nil }
        let after = try stored().mapValues(Self.values)
        var entry = Written(token: token)
        for key in Set(parcels.keys).union(after.keys) where parcels[key] != after[key] {
            entry.before[key] = .some(parcels[key])
            entry.after[key] = .some(after[key])
        }
        written.append(entry)
        parcels = after
        return nil
    }

    private mutating func revert(_ entry: Written) throws -> String? {
        var expected = parcels
        var conflicts: Set<String> = []
        for (key, before) in entry.before {
            let after = entry.after[key] ?? nil
            let now = parcels[key]
            switch (before, after) {
            case (nil, let written?):
                guard let now else { continue }
                if now != written {
                    for (name, value) in written where now[name] != value { conflicts.insert("\(key).\(name)") }
                    if policy == .skip { continue }
                }
                expected[key] = nil
            case (let old?, nil):
                if now == nil { expected[key] = old }
            case (let old?, let written?):
                guard let now else {
                    conflicts.insert(key)
                    continue
                }
                for (name, value) in old where written[name] != value && now[name] != value {
                    if now[name] != written[name] {
                        conflicts.insert("\(key).\(name)")
                        if policy == .skip { continue }
                    }
                    expected[key]?[name] = value
                }
            default: break
            }
        }
        let keys = Dictionary(
            try stored().map { ($1.persistentModelID, $0) }, uniquingKeysWith: { first, _ in first })
        do {
            let report = try context.revert(entry.token, onConflict: policy)
            reverted += 1
            if policy == .refuse, !conflicts.isEmpty { return "reverted although \(conflicts) are in the way" }
            let told = report.conflicts.filter { keys[$0.record] != nil }.map {
                (keys[$0.record] ?? "") + ($0.property.map { ".\($0)" } ?? "")
            }
            let wanted = conflicts.filter { $0.contains(".") }
            if Set(told) != wanted { return "told \(told) for \(wanted)" }
        } catch RevertError.conflicts(let told) where policy == .refuse {
            if conflicts.isEmpty { return "refused for \(told)" }
            if context.hasChanges { return "refused and changed" }
            return nil
        }
        let unsaved = try stored().mapValues(Self.values)
        if unsaved != expected { return "unsaved \(unsaved) for \(expected)" }
        if let fault = try finish() { return fault }
        return parcels == expected ? nil : "\(parcels) for \(expected)"
    }
}
