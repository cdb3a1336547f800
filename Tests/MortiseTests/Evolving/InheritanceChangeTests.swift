import Foundation
import Mortise
import Testing

/// Subclasses that come and go with a version of the schema.
@Suite struct InheritanceChangeTests {
    /// One class for all trips, which says by a property what kind each is.
    enum Flat: VersionedSchema {
        static var models: [any PersistentModel.Type] { [Trip.self, Stop.self] }
        static var versionIdentifier: Schema.Version { Schema.Version(1, 0, 0) }

        @Model final class Trip {
            var title: String
            var company: String?
            @Relationship(deleteRule: .cascade, inverse: \Stop.trip) var stops: [Stop] = []
            init(_ title: String, company: String? = nil) {
                self.title = title
                self.company = company
            }
        }
        @Model final class Stop {
            var place: String
            var trip: Trip?
            init(_ place: String, _ trip: Trip?) {
                self.place = place
                self.trip = trip
            }
        }
    }

    /// Business trips have a class of their own.
    enum Deep: VersionedSchema {
        static var models: [any PersistentModel.Type] { [Trip.self, BusinessTrip.self, Stop.self] }
        static var versionIdentifier: Schema.Version { Schema.Version(2, 0, 0) }

        @Model class Trip {
            var title: String
            @Relationship(deleteRule: .cascade, inverse: \Stop.trip) var stops: [Stop] = []
            init(_ title: String) { self.title = title }
        }
        @Model final class BusinessTrip: Trip {
            var company: String
            init(_ title: String, company: String) {
                self.company = company
                super.init(title)
            }
        }
        @Model final class Stop {
            var place: String
            var trip: Trip?
            init(_ place: String, _ trip: Trip?) {
                self.place = place
                self.trip = trip
            }
        }
    }

    /// All in one class again.
    enum FlatAgain: VersionedSchema {
        static var models: [any PersistentModel.Type] { [Trip.self, Stop.self] }
        static var versionIdentifier: Schema.Version { Schema.Version(3, 0, 0) }

        @Model final class Trip {
            var title: String
            var company: String?
            @Relationship(deleteRule: .cascade, inverse: \Stop.trip) var stops: [Stop] = []
            init(_ title: String, company: String? = nil) {
                self.title = title
                self.company = company
            }
        }
        @Model final class Stop {
            var place: String
            var trip: Trip?
            init(_ place: String, _ trip: Trip?) {
                self.place = place
                self.trip = trip
            }
        }
    }

    /// Each stop has a trip.
    enum Strict: VersionedSchema {
        static var models: [any PersistentModel.Type] { [Trip.self, BusinessTrip.self, Stop.self] }
        static var versionIdentifier: Schema.Version { Schema.Version(1, 0, 0) }

        @Model class Trip {
            var title: String
            init(_ title: String) { self.title = title }
        }
        @Model final class BusinessTrip: Trip {
            var company: String
            init(_ title: String, company: String) {
                self.company = company
                super.init(title)
            }
        }
        @Model final class Stop {
            var trip: Trip
            init(_ trip: Trip) { self.trip = trip }
        }
    }

    enum StrictFlat: VersionedSchema {
        static var models: [any PersistentModel.Type] { [Trip.self, Stop.self] }
        static var versionIdentifier: Schema.Version { Schema.Version(2, 0, 0) }

        @Model final class Trip {
            var title: String
            init(_ title: String) { self.title = title }
        }
        @Model final class Stop {
            var trip: Trip
            init(_ trip: Trip) { self.trip = trip }
        }
    }

    enum StrictPlan: SchemaMigrationPlan {
        static var schemas: [any VersionedSchema.Type] { [Strict.self, StrictFlat.self] }
        static var stages: [MigrationStage] { [.custom(from: Strict.self, to: StrictFlat.self) { _, _ in }] }
    }

    enum Plan: SchemaMigrationPlan {
        static var schemas: [any VersionedSchema.Type] { [Flat.self, Deep.self, FlatAgain.self] }
        static var stages: [MigrationStage] { [deepening, flattening] }

        static var deepening: MigrationStage {
            .custom(from: Flat.self, to: Deep.self) { old, new in
                for trip in try old.fetch(Flat.Trip.self) {
                    guard let company = trip.company,
                        let before = try new.model(Deep.Trip.self, for: trip.persistentModelID)
                    else { continue }
                    let after = Deep.BusinessTrip(trip.title, company: company)
                    new.insert(after)
                    after.stops = before.stops
                    new.context.delete(before)
                }
            }
        }

        static var flattening: MigrationStage {
            .custom(from: Deep.self, to: FlatAgain.self) { old, new in
                for trip in try old.fetch(Deep.BusinessTrip.self) {
                    let after = FlatAgain.Trip(trip.title, company: trip.company)
                    new.insert(after)
                    after.stops = try trip.stops.compactMap {
                        try new.model(FlatAgain.Stop.self, for: $0.persistentModelID)
                    }
                }
            }
        }
    }

    private func filled(_ kind: String) throws -> ShapeWorld {
        let world = try ShapeWorld(kind)
        let (alps, bergen, cadiz) = (Flat.Trip("Alps"), Flat.Trip("Bergen", company: "Fjord"), Flat.Trip("Cadiz"))
        try world.fill(
            Flat.self,
            [
                alps, bergen, cadiz, Flat.Stop("a", alps), Flat.Stop("b", bergen), Flat.Stop("c", bergen),
                Flat.Stop("d", nil),
            ])
        return world
    }

    @Test(arguments: ShapeWorld.kinds) func someRecordsMoveToASubclass(_ kind: String) throws {
        try filled(kind).migrated(to: Deep.self, Plan.self) { context in
            let trips = try context.fetch(FetchDescriptor<Deep.Trip>(sortBy: [SortDescriptor(\.title)]))
            #expect(trips.map(\.title) == ["Alps", "Bergen", "Cadiz"])
            #expect(trips.map { ($0 as? Deep.BusinessTrip)?.company } == [nil, "Fjord", nil])
            #expect(trips.map { $0.stops.map(\.place).sorted() } == [["a"], ["b", "c"], []])
            let stops = try context.fetch(FetchDescriptor<Deep.Stop>(sortBy: [SortDescriptor(\.place)]))
            #expect(stops.map { $0.trip?.title } == ["Alps", "Bergen", "Bergen", nil])
        }
    }

    @Test(arguments: ShapeWorld.kinds) func aSubclassIsGivenUp(_ kind: String) throws {
        let world = try filled(kind)
        try world.open(Deep.self, Plan.self).close()
        try world.migrated(to: FlatAgain.self, Plan.self) { context in
            let trips = try context.fetch(FetchDescriptor<FlatAgain.Trip>(sortBy: [SortDescriptor(\.title)]))
            #expect(trips.map(\.title) == ["Alps", "Bergen", "Cadiz"])
            #expect(trips.map(\.company) == [nil, "Fjord", nil])
            #expect(trips.map { $0.stops.map(\.place).sorted() } == [["a"], ["b", "c"], []])
        }
    }

    @Test(arguments: ShapeWorld.kinds) func bothStagesAreOneStep(_ kind: String) throws {
        try filled(kind).migrated(to: FlatAgain.self, Plan.self) { context in
            let trips = try context.fetch(FetchDescriptor<FlatAgain.Trip>(sortBy: [SortDescriptor(\.title)]))
            #expect(trips.map(\.company) == [nil, "Fjord", nil])
            #expect(trips.map { $0.stops.map(\.place).sorted() } == [["a"], ["b", "c"], []])
        }
    }

    /// A reference that is required keeps its target; the error names the relationship, and the store stays.
    @Test(arguments: ShapeWorld.kinds) func whatIsRequiredDoesNotLoseItsTarget(_ kind: String) throws {
        let world = try ShapeWorld(kind)
        let trip = Strict.BusinessTrip("Bergen", company: "Fjord")
        try world.fill(Strict.self, [trip, Strict.Stop(trip)])
        let error = #expect(throws: MigrationError.self) { try world.open(StrictFlat.self, StrictPlan.self) }
        #expect("\(error as Any)".contains("Stop.trip"), "\(error as Any)")
        let container = try world.open(Strict.self)
        #expect(try ModelContext(container).fetch(FetchDescriptor<Strict.Stop>()).map(\.trip.title) == ["Bergen"])
        try container.close()
    }
}
