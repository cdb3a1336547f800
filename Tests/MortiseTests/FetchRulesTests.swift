import Foundation
import Mortise
import Testing

@Suite struct FetchRulesTests {
    let container: ModelContainer
    let context: ModelContext

    init() throws {
        container = try householdContainer()
        context = ModelContext(container)
        for number in 0..<25 { context.insert(Poster(title: String(format: "%02d", number))) }
        try context.save()
    }

    @Test func batchesHoldEveryModelInOrder() throws {
        let order = FetchDescriptor<Poster>(sortBy: [SortDescriptor(\.title, order: .reverse)])
        let batches = try ModelContext(container).fetch(order, batchSize: 10)
        #expect(batches.count == 25)
        #expect(batches.first?.title == "24" && batches.last?.title == "00")
        #expect(batches[7] === batches[7])
        #expect(try context.fetchIdentifiers(order, batchSize: 3).map { $0 } == context.fetchIdentifiers(order))
    }

    @Test func batchesRefuseToIncludeUnsavedChanges() throws {
        context.insert(Poster(title: "new"))
        do {
            _ = try context.fetch(FetchDescriptor<Poster>(), batchSize: 10)
            Issue.record("The fetch went through.")
        } catch SwiftDataError.includePendingChangesWithBatchSize {
        }
        var saved = FetchDescriptor<Poster>()
        saved.includePendingChanges = false
        #expect(try context.fetch(saved, batchSize: 10).count == 25)
    }

    @Test func enumeratingVisitsEveryModelAndStopsAtAnError() throws {
        struct Stop: Error {}
        var titles: [String] = []
        try context.enumerate(FetchDescriptor<Poster>(sortBy: [SortDescriptor(\.title)]), batchSize: 4) {
            titles.append($0.title)
        }
        #expect(titles.count == 25 && titles == titles.sorted())
        var count = 0
        #expect(throws: Stop.self) {
            try context.enumerate(FetchDescriptor<Poster>()) { _ in
                count += 1
                if count == 3 { throw Stop() }
            }
        }
        #expect(count == 3)
    }

    @Test func enumeratingMayChangeAndDelete() throws {
        try context.enumerate(FetchDescriptor<Poster>()) { poster in
            if poster.title < "05" { context.delete(poster) } else { poster.title += "!" }
        }
        #expect(context.deletedModelsArray.count == 5)
        try context.save()
        #expect(try ModelContext(container).fetch(FetchDescriptor<Poster>()).allSatisfy { $0.title.hasSuffix("!") })
    }

    @Test func enumeratingDoesNotStartWithUnsavedChangesUnlessAllowed() throws {
        context.insert(Poster(title: "new"))
        #expect(throws: ModelContextError.unsavedChanges) { try context.enumerate(FetchDescriptor<Poster>()) { _ in } }
        #expect("\(ModelContextError.unsavedChanges)".contains("allowEscapingMutations: true"))
        var count = 0
        try context.enumerate(FetchDescriptor<Poster>(), allowEscapingMutations: true) { _ in count += 1 }
        #expect(count == 26)
    }

    @Test func deletingByPredicateSavesAtOnceInACleanContext() throws {
        let first = try #require(try context.fetch(FetchDescriptor<Poster>()).first)
        try context.delete(model: Poster.self, where: #Predicate { $0.title < "10" })
        #expect(!context.hasChanges)
        #expect(first.isDeleted && first.title == "00")
        #expect(try ModelContext(container).fetchCount(FetchDescriptor<Poster>()) == 15)
        try context.delete(model: Poster.self)
        #expect(try ModelContext(container).fetchCount(FetchDescriptor<Poster>()) == 0)
    }

    @Test func deletingByPredicateWaitsForTheSaveInADirtyContext() throws {
        context.insert(Poster(title: "0x"))
        context.insert(House(name: "h"))
        try context.delete(model: Poster.self, where: #Predicate { $0.title.starts(with: "0") })
        #expect(context.hasChanges)
        #expect(context.insertedModelsArray.count == 1)
        #expect(try ModelContext(container).fetchCount(FetchDescriptor<Poster>()) == 25)
        #expect(try context.fetchCount(FetchDescriptor<Poster>()) == 15)
        try context.save()
        #expect(try ModelContext(container).fetchCount(FetchDescriptor<Poster>()) == 15)
    }

    @Test func deletingByPredicateFollowsDeleteRules() throws {
        let house = House(name: "h")
        house.lamps = [Lamp(watts: 1, house: house)]
        context.insert(house)
        try context.save()
        try context.delete(model: House.self, where: #Predicate { $0.name == "h" })
        #expect(try ModelContext(container).fetchCount(FetchDescriptor<Lamp>()) == 0)
        let kept = House(name: "kept")
        kept.tenants = [Tenant(name: "t")]
        context.insert(kept)
        try context.save()
        #expect(throws: ModelValidationError.self) { try context.delete(model: House.self) }
        #expect(try ModelContext(container).fetchCount(FetchDescriptor<House>()) == 1)
    }

    @Test func clearingRequiredReferencesByDeletingAllIsRefused() throws {
        let house = House(name: "h")
        context.insert(Room(name: "r", house: house))
        try context.save()
        #expect { try context.delete(model: House.self) } throws: { error in
            "\(error)".contains("Room.house of Room/") && "\(error)".contains("which does not exist")
        }
        context.rollback()
        #expect(try onlyModel(Room.self, in: ModelContext(container)).house.name == "h")
    }
}
