import Foundation
import Mortise
import Testing

/// The code of the guide "Saving, conflicts, errors".
@Suite struct SavingGuide {
    @Test func aSaveIsWholeOrNotAtAll() throws {
        let context = try GuideModels.context()
        let porto = try #require(try context.first(Trip.self, where: \.code, is: "POR"))
        porto.price += 60
        context.insert(
            Trip(code: "VIE", destination: "Vienna", startDate: .now, price: 310))
        #expect(context.hasChanges)
        try context.save()
        #expect(!context.hasChanges)

        porto.price = 0
        context.rollback()
        #expect(porto.price == 449)
    }

    @Test func aTransactionSavesAtItsEnd() throws {
        let context = try GuideModels.context()
        do {
            try context.transaction {
                try context.delete(model: Stop.self)
                throw CancellationError()
            }
            Issue.record("the block did not throw")
        } catch is CancellationError {
            context.rollback()
        }
    }

    @Test func twoWhoChangeOneRecordAreMerged() throws {
        let container = try GuideModels.container()
        let here = ModelContext(container)
        let there = ModelContext(container)
        let mine = try #require(try here.first(Trip.self, where: \.code, is: "POR"))
        let theirs = try #require(try there.first(Trip.self, where: \.code, is: "POR"))

        mine.price = 400
        theirs.destination = "Porto and Braga"
        try there.save()
        try here.save()  // propertyWise: both changes stay
        #expect(mine.price == 400 && mine.destination == "Porto and Braga")
    }

    @Test func aConflictCanBeAnError() throws {
        let container = try GuideModels.container()
        container.mergePolicy = .error
        let here = ModelContext(container)
        let there = ModelContext(container)
        let mine = try #require(try here.first(Trip.self, where: \.code, is: "POR"))
        let theirs = try #require(try there.first(Trip.self, where: \.code, is: "POR"))
        mine.price = 400
        theirs.price = 380
        try there.save()

        var price: SaveConflict.Property?
        do {
            try here.save()
        } catch let conflict as SaveConflict {
            price = conflict.properties.first { $0.name == "price" }
            here.mergePolicy = .objectWins  // or ask the user
            try here.save()
        }
        #expect(price?.stored == .decimal(380) && price?.unsaved == .decimal(400))
        #expect(mine.price == 400)
    }

    @Test func aRepeatedTransactionLosesNothing() throws {
        let container = try GuideModels.container()
        let here = ModelContext(container)
        let there = ModelContext(container)
        var isFirst = true
        let outcome = try here.transaction(retrying: 5) {
            let trip = try here.first(Trip.self, where: \.code, is: "POR")
            trip?.rating = (trip?.rating ?? 0) + 1
            if isFirst {
                isFirst = false
                // Somebody else is faster.
                let trip = try there.first(Trip.self, where: \.code, is: "POR")
                trip?.rating = (trip?.rating ?? 0) + 1
                try there.save()
            }
        }
        #expect(outcome.attempts == 2)
        #expect(try here.first(Trip.self, where: \.code, is: "POR")?.rating == 2)
    }

    @Test func everyErrorHasAClass() throws {
        func status(of error: any Error) -> Int {
            switch (error as? any ClassifiedStoreError)?.errorClass {
            case .missing: 404
            case .denied: 403
            case .conflict, .locked, .alreadyExists: 409
            case .busy, .closed: 503
            case .invalid, .usage: 422
            default: 500
            }
        }
        let container = try GuideModels.container()
        let context = ModelContext(container)
        let trip = try #require(try context.first(Trip.self, where: \.code, is: "POR"))
        context.delete(trip)
        try context.save()
        do {
            _ = try context.existingModel(for: trip.persistentModelID, as: Trip.self)
            Issue.record("the trip is still there")
        } catch {
            #expect(status(of: error) == 404)
        }
        try container.close()
        #expect(throws: ModelContextError.containerClosed) { try context.fetch(FetchDescriptor<Trip>()) }
    }

    @Test func swiftDataNamesMatch() throws {
        var container: ModelContainer?
        do {
            container = try ModelContainer(for: Trip.self, store: "nowhere:trips")
        } catch SwiftDataError.loadIssueModelContainer {
            // As with SwiftData; the error itself says more.
        }
        #expect(container == nil)
    }
}
