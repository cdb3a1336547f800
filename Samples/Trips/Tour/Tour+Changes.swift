import Foundation
import Mortise
import Observation

extension Tour {
    /// Models are `Observable`: a reader of a property is notified before it changes, which is how views stay up to
    /// date.
    func observeATrip() throws {
        let trip = try trip(named: "Northern lights")
        withObservationTracking {
            _ = trip.isFavourite
        } onChange: {
            print("observation: a property that was read is about to change")
        }
        trip.price += 1
        trip.isFavourite = false
        try context.save()
    }

    /// `rollback` forgets everything since the last save: changes, inserts and deletes.
    func rollBack() throws {
        let trip = try trip(named: "Northern lights")
        let price = trip.price
        trip.price = 0
        context.insert(Stop(name: "Nowhere", nights: 99))
        context.rollback()
        say("rollback", "price as it was: \(trip.price == price), has changes: \(context.hasChanges)")
    }

    /// A transaction saves when its block ends. If the block throws, nothing is saved and the error comes through; the
    /// changes are still pending then, and `rollback` takes them back.
    func runATransaction() throws {
        let trip = try trip(named: "Night train")
        try context.transaction {
            trip.isFavourite = true
            context.insert(Stop(name: "Linz", nights: 1, trip: trip))
        }
        say("transaction", "saved: \(!context.hasChanges), stops \(trip.stops.map(\.name).sorted())")

        do {
            try context.transaction {
                trip.price += 1_000
                throw TourError.noMoney(missing: 690)
            }
        } catch {
            context.rollback()
            say("failed transaction", "\(error); the price is still \(trip.price)")
        }
    }
}
