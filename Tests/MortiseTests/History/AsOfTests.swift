import Foundation
import Mortise
import PackageTestSupport
import Testing

/// Contexts that read the stores as they were: `ModelContext(_:asOf:allowsReplay:)`.
@Suite struct AsOfTests {
    private let folder: Folder

    init() throws { folder = try Folder() }

    private static let rounds = ProcessInfo.processInfo.environment["MORTISE_TEST_SIZE"] == "full" ? 30 : 4

    private func container(_ store: HistoryStore, _ name: String = "past") throws -> ModelContainer {
        try ModelContainer(for: Schema(PastProgram.types), configurations: [store.configuration(folder, name)])
    }

    // MARK: Random programs

    /// Every token of a random program, with the container that saved and, for stores on disk, after opening it again.
    @Test(arguments: HistoryStore.allCases) func everyTokenShowsTheStateOfItsTime(_ store: HistoryStore) throws {
        let seed = testSeed()
        for round in 0..<Self.rounds {
            var container = try container(store, "\(round)")
            var program = PastProgram(seed: seed &+ UInt64(round), in: container)
            try program.run(saves: 30)
            for again in [false, true] {
                if again {
                    if store == .memory { break }
                    try container.close()
                    container = try self.container(store, "\(round)")
                }
                for (place, moment) in program.states.enumerated() {
                    let context = try ModelContext(container, asOf: .token(moment.token), allowsReplay: store == .log)
                    let found = try PastState(context)
                    #expect(found == moment.state, "\(seed) \(round) \(place): \(found.difference(from: moment.state))")
                    #expect(!context.hasChanges)
                }
            }
            try container.close()
        }
    }

    /// Conditions, orders, windows, counts and relationships, against the same on all records of that time.
    @Test(arguments: HistoryStore.allCases) func queriesSeeThePast(_ store: HistoryStore) throws {
        let seed = testSeed()
        let container = try container(store)
        var program = PastProgram(seed: seed, in: container)
        try program.run(saves: 40)
        var generator = SeededGenerator(seed: seed)
        for moment in program.states {
            let context = try ModelContext(container, asOf: .token(moment.token), allowsReplay: store == .log)
            let all = try context.fetch(FetchDescriptor<PastItem>())
            let size = generator.below(20)
            func codes(_ items: [PastItem]) -> [String] { items.map(\.code) }
            func check(_ predicate: Predicate<PastItem>, _ test: (PastItem) -> Bool) throws {
                let wanted = all.filter(test)
                #expect(codes(try context.fetch(FetchDescriptor(predicate: predicate))) == codes(wanted), "\(seed)")
                #expect(try context.fetchCount(FetchDescriptor(predicate: predicate)) == wanted.count)
                #expect(
                    Set(try context.fetchIdentifiers(FetchDescriptor(predicate: predicate)))
                        == Set(wanted.map(\.persistentModelID)))
            }
            try check(#Predicate { $0.size < size }) { $0.size < size }
            try check(#Predicate { $0.note == nil && $0.size > size }) { $0.note == nil && $0.size > size }
            try check(#Predicate { $0.box?.size ?? 0 > size }) { $0.box?.size ?? 0 > size }
            try check(#Predicate { $0.tags.isEmpty }) { $0.tags.isEmpty }
            try check(#Predicate { $0.favorite != nil }) { $0.favorite != nil }
            if let item = all.first {
                let code = item.code
                #expect(try context.first(PastItem.self, where: \.code, is: code) === item)
            }
            var descriptor = FetchDescriptor<PastItem>(sortBy: [
                SortDescriptor(\.size, order: .reverse), SortDescriptor(\.name),
            ])
            let sorted = all.sorted { ($1.size, $0.name) < ($0.size, $1.name) }
            #expect(codes(try context.fetch(descriptor)) == codes(sorted))
            descriptor.fetchOffset = 2
            descriptor.fetchLimit = 3
            #expect(codes(try context.fetch(descriptor)) == codes(Array(sorted.dropFirst(2).prefix(3))))
            #expect(try context.fetchCount(FetchDescriptor<PastGem>()) == all.count { $0 is PastGem })
            let boxes = try context.fetch(
                FetchDescriptor<PastBox>(predicate: #Predicate { $0.items.contains { $0.size < size } }))
            #expect(Set(boxes.map(\.name)) == Set(all.filter { $0.size < size }.compactMap { $0.box?.name }))
        }
    }

    // MARK: What it is for

    @Test(arguments: HistoryStore.allCases) func aContextStaysWhereItIs(_ store: HistoryStore) throws {
        let container = try container(store)
        let context = ModelContext(container)
        let (item, box) = (PastItem(1), PastBox(2))
        item.box = box
        context.insert(item)
        try context.save()
        let token = try #require(try context.history().last?.token)
        context.delete(box)
        context.insert(PastItem(3))
        try context.save()
        let past = try ModelContext(container, asOf: .token(token), allowsReplay: true)
        let before = try PastState(past)
        #expect(before.lines.count == 2)
        context.insert(PastItem(4))
        try context.save()
        // What it needs of the history it has.
        try context.deleteHistory(HistoryOf())
        try past.refresh()
        past.rollback()
        #expect(try PastState(past) == before)
        let old: PastItem = try past.existingModel(for: item.persistentModelID)
        #expect(old.box?.items.first === old)
        #expect(past.model(for: box.persistentModelID) is PastBox)
    }

    @Test(arguments: HistoryStore.allCases) func nothingIsSavedInThePast(_ store: HistoryStore) throws {
        let container = try container(store)
        let context = ModelContext(container)
        context.insert(PastItem(1))
        try context.save()
        let token = try #require(try context.history().last?.token)
        let past = try ModelContext(container, asOf: .token(token))
        let item = try onlyModel(PastItem.self, in: past)
        item.size = 9
        #expect(throws: ModelContextError.readsPast) { try past.save() }
        #expect(past.hasChanges)
        past.rollback()
        #expect(item.size == 1)
        past.delete(item)
        #expect(throws: ModelContextError.readsPast) { try past.save() }
        past.rollback()
        past.insert(PastItem(2))
        #expect(throws: ModelContextError.readsPast) { try past.fetch(FetchDescriptor<PastItem>()) }
        #expect(throws: ModelContextError.readsPast) { try past.save() }
        past.rollback()
        #expect(throws: ModelContextError.readsPast) { try past.update(PastItem.self) { $0.set(\.size, to: 3) } }
        #expect(throws: ModelContextError.readsPast) { try past.delete(model: PastItem.self) }
        #expect(throws: ModelContextError.readsPast) { try past.revert(token) }
        #expect(try context.fetch(FetchDescriptor<PastItem>()).map(\.size) == [1])
        #expect(try past.fetch(FetchDescriptor<PastItem>()).map(\.size) == [1])
    }

    /// A clock that goes back: the last transaction whose own time is early enough counts.
    @Test func aDateMeansTheLastTransactionOfThatTime() throws {
        let container = try container(.memory)
        let context = ModelContext(container)
        var times: [Date] = []
        let item = PastItem(0)
        context.insert(item)
        for size in 1...4 {
            item.size = size
            try context.save()
            times.append(try #require(try context.history().last?.timestamp))
        }
        for (place, time) in times.enumerated() {
            let past = try ModelContext(container, asOf: .date(time))
            let last = times.lastIndex { $0 <= time } ?? place
            #expect(try onlyModel(PastItem.self, in: past).size == last + 1)
        }
        #expect(try ModelContext(container, asOf: .date(.distantPast)).fetchCount(FetchDescriptor<PastItem>()) == 0)
        #expect(try onlyModel(PastItem.self, in: ModelContext(container, asOf: .date(.distantFuture))).size == 4)
        let second = try context.history()[1].token
        try context.deleteHistory(HistoryOf(predicate: #Predicate { $0.token <= second }))
        do {
            _ = try ModelContext(container, asOf: .date(.distantPast))
            Issue.record("nobody knows what was then")
        } catch let error as AsOfUnavailable {
            #expect(error.reason == .notKept && error.oldest == 2)
        }
    }

    // MARK: What cannot be read

    private func reason(_ body: () throws -> ModelContext) -> AsOfUnavailable.Reason? {
        do { _ = try body() } catch { return (error as? AsOfUnavailable)?.reason }
        return nil
    }

    @Test(arguments: HistoryStore.allCases) func beforeTheHorizonIsAnError(_ store: HistoryStore) throws {
        let container = try store.container(folder)
        let context = ModelContext(container)
        try context.saveParcels(by: "a", "b", "c", "d")
        let tokens = try context.history().map(\.token)
        let name = try #require(tokens[0].storeIdentifier)
        let second = tokens[1]
        try context.deleteHistory(HistoryOf(predicate: #Predicate { $0.token <= second }))
        #expect(reason { try ModelContext(container, asOf: .token(tokens[0])) } == .notKept)
        #expect(reason { try ModelContext(container, asOf: .token(DefaultHistoryToken([name: 0]))) } == .notKept)
        #expect(try ModelContext(container, asOf: .token(second)).fetchCount(FetchDescriptor<Parcel>()) == 2)
        let foreign = DefaultHistoryToken([name: 3], marks: [name: (tokens[2].marks[name] ?? 0) ^ 1])
        #expect(throws: SwiftDataError.historyTokenExpired) { try ModelContext(container, asOf: .token(foreign)) }
        #expect(throws: SwiftDataError.historyTokenExpired) {
            try ModelContext(container, asOf: .token(DefaultHistoryToken([name: 9])))
        }
        #expect(reason { try ModelContext(container, asOf: .token(DefaultHistoryToken(["other": 1]))) } == .otherStore)
        // A hole after the point.
        let third = tokens[2]
        try context.saveParcels(by: "e")
        try context.deleteHistory(HistoryOf(predicate: #Predicate { $0.author == "d" }))
        #expect(reason { try ModelContext(container, asOf: .token(third)) } == .notKept)
        #expect(try ModelContext(container, asOf: .token(tokens[3])).fetchCount(FetchDescriptor<Parcel>()) == 4)
    }

    @Test(arguments: HistoryStore.allCases) func beforeARemovalOfAllRecordsIsAnError(_ store: HistoryStore) throws {
        let container = try store.container(folder)
        let context = ModelContext(container)
        try context.saveParcels(by: "a")
        let token = try #require(try context.history().last?.token)
        try container.erase()
        #expect([.erased, .notKept].contains(reason { try ModelContext(container, asOf: .token(token)) }))
    }

    @Test func aLogLooksFurtherBackOnlyIfItMay() throws {
        let container = try HistoryStore.log.container(folder)
        let context = ModelContext(container)
        let parcel = Parcel("a", weight: 1)
        context.insert(parcel)
        try context.save()
        parcel.weight = 2
        try context.save()
        let token = try #require(try context.history().last?.token)
        context.insert(Parcel("b"))
        try context.save()
        // An insertion since needs no values.
        #expect(try ModelContext(container, asOf: .token(token)).fetchCount(FetchDescriptor<Parcel>()) == 1)
        parcel.weight = 3
        try context.save()
        #expect(reason { try ModelContext(container, asOf: .token(token)) } == .needsReplay)
        let past = try ModelContext(container, asOf: .token(token), allowsReplay: true)
        #expect(try onlyModel(Parcel.self, in: past).weight == 2)
        // What was written before the log begins cannot be found.
        let first = try context.history()[1].token
        try context.deleteHistory(HistoryOf(predicate: #Predicate { $0.token <= first }))
        #expect(reason { try ModelContext(container, asOf: .token(token), allowsReplay: true) } == .valuesNotKept)
    }

    /// One store is read as it was, and the other, which the token does not name, as it is.
    @Test func aTokenOfOneStoreLeavesTheOthers() throws {
        let container = try ModelContainer(
            for: Schema(PastProgram.types + [Parcel.self, Storehouse.self]),
            configurations: [
                InMemoryConfiguration("a", schema: Schema([Parcel.self, Storehouse.self])),
                JSONFileConfiguration("b", schema: Schema(PastProgram.types), path: folder.path("b.json")),
            ])
        let context = ModelContext(container)
        let (parcel, item) = (Parcel("p"), PastItem(1))
        context.insert(parcel)
        context.insert(item)
        try context.save()
        let tokens = try context.history().map(\.token)
        parcel.weight = 3
        item.size = 3
        try context.save()
        func values(_ token: DefaultHistoryToken) throws -> (weight: Int, size: Int) {
            let past = try ModelContext(container, asOf: .token(token))
            return (try onlyModel(Parcel.self, in: past).weight, try onlyModel(PastItem.self, in: past).size)
        }
        let found = try tokens.map { try values($0) }
        #expect(Set(found.map { "\($0.weight) \($0.size)" }) == ["0 3", "3 1"])
        let both = try values(tokens[0].advanced(by: tokens[1]))
        #expect(both.weight == 0 && both.size == 1)
        let past = try ModelContext(container, asOf: .token(tokens[0]))
        parcel.weight = 5
        item.size = 5
        try context.save()
        #expect(try onlyModel(Parcel.self, in: past).weight != 5 && onlyModel(PastItem.self, in: past).size != 5)
    }

    @Test func aPlanTellsHowManyRecordsHaveChanged() throws {
        let container = try container(.memory)
        let context = ModelContext(container)
        for number in 0..<20 { context.insert(PastItem(number)) }
        try context.save()
        let token = try #require(try context.history().last?.token)
        for item in try context.fetch(FetchDescriptor<PastItem>(predicate: #Predicate { $0.size < 3 })) {
            item.size += 100
        }
        try context.save()
        let past = try ModelContext(container, asOf: .token(token))
        let found = try past.explain(FetchDescriptor<PastItem>(predicate: #Predicate { $0.size < 5 }))
        #expect("\(found)".contains("3 records that have changed since"))
        #expect(!"\(try past.explain(FetchDescriptor<PastTag>()))".contains("changed since"))
    }
}
