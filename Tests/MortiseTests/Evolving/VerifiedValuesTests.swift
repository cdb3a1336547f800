import Foundation
import Mortise
import Testing

/// Values that the types of the next version do not know, although their kind is the same.
@Suite struct VerifiedValuesTests {
    enum Before: VersionedSchema {
        static var models: [any PersistentModel.Type] { [Parcel.self] }
        static var versionIdentifier: Schema.Version { Schema.Version(1, 0, 0) }

        enum State: String, Codable { case open, sent, lost }
        struct Place: Codable {
            var city: String
            var street: String?
        }
        @Model final class Parcel {
            var number: Int
            var state: State
            @Attribute(.codable) var place: Place?
            init(_ number: Int, _ state: State, _ place: Place? = nil) {
                self.number = number
                self.state = state
                self.place = place
            }
        }
    }

    /// A case less, and a member that is required.
    enum After: VersionedSchema {
        static var models: [any PersistentModel.Type] { [Parcel.self] }
        static var versionIdentifier: Schema.Version { Schema.Version(2, 0, 0) }

        enum State: String, Codable { case open, sent }
        struct Place: Codable {
            var city: String
            var street: String
        }
        @Model final class Parcel {
            var number: Int
            var state: State
            @Attribute(.codable) var place: Place?
            init(_ number: Int, _ state: State) {
                self.number = number
                self.state = state
            }
        }
    }

    /// Says nothing of what has changed.
    enum Silent: SchemaMigrationPlan {
        static var schemas: [any VersionedSchema.Type] { [Before.self, After.self] }
        static var stages: [MigrationStage] { [.lightweight(fromVersion: Before.self, toVersion: After.self)] }
    }
    enum Verifying: SchemaMigrationPlan {
        static var schemas: [any VersionedSchema.Type] { Silent.schemas }
        static var stages: [MigrationStage] { Silent.stages }
        static var migrationOptions: MigrationOptions {
            var options = MigrationOptions()
            options.verifiesValues = true
            return options
        }
    }
    /// Makes an open one of each that was lost, which a preview does not know.
    enum Finding: SchemaMigrationPlan {
        static var schemas: [any VersionedSchema.Type] { Silent.schemas }
        static var migrationOptions: MigrationOptions { Verifying.migrationOptions }
        static var stages: [MigrationStage] {
            [
                .custom(
                    fromVersion: Before.self, toVersion: After.self,
                    willMigrate: { context in
                        for parcel in try context.fetch(FetchDescriptor<Before.Parcel>()) where parcel.state == .lost {
                            parcel.state = .open
                        }
                    }, didMigrate: nil)
            ]
        }
    }

    private func filled(_ kind: String, lost: Int, withoutStreet: Int) throws -> ShapeWorld {
        let world = try ShapeWorld(kind)
        let all = (0..<40).map { number in
            Before.Parcel(
                number, number < lost ? .lost : number % 2 == 0 ? .open : .sent,
                number % 3 == 0 ? nil : Before.Place(city: "c", street: "s"))
        }
        let others = (0..<withoutStreet).map { Before.Parcel(100 + $0, .open, Before.Place(city: "d")) }
        try world.fill(Before.self, all + others)
        return world
    }

    @Test(arguments: ShapeWorld.kinds, ["state", "place"])
    func whatATypeDoesNotKnowEndsTheMigration(_ kind: String, _ property: String) throws {
        let count = 13
        let world = try filled(
            kind, lost: property == "state" ? count : 0, withoutStreet: property == "place" ? count : 0)
        let preview = try #require(try world.preview(After.self, Verifying.self))
        #expect(preview.stages.map { $0.refusal?.contains("\(property) of 13 records of Parcel") } == [true])
        #expect(try world.preview(After.self, Silent.self)?.stages.map(\.refusal) == [nil])
        let error = #expect(throws: MigrationError.self) { try world.open(After.self, Verifying.self).close() }
        guard case .stageFailed(let failure)? = error,
            case MigrationError.valuesNotRepresentable("Parcel", property, count, let examples) = failure.underlying
        else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(failure.part == .validate && Set(examples).count == 10)
        // The store is as it was, and opens without that option.
        let before = try world.open(Before.self)
        let lost = try ModelContext(before).fetch(FetchDescriptor<Before.Parcel>()).filter { $0.state == .lost }
        #expect(lost.count == (property == "state" ? count : 0))
        try before.close()
        let after = try world.open(After.self, Silent.self)
        // A comparison with all records would read those that are not asked for.
        after.verifiesPushDown = false
        let known = FetchDescriptor<After.Parcel>(predicate: #Predicate { $0.number >= 20 && $0.number < 40 })
        #expect(try ModelContext(after).fetch(known).count == 20)
        // Only a fetch of such a record fails.
        #expect {
            try ModelContext(after).fetch(FetchDescriptor<After.Parcel>())
        } throws: { error in
            if case .invalidStoredValue("Parcel", property, _, _)? = error as? ModelContextError { true } else { false }
        }
        try after.close()
    }

    @Test(arguments: ShapeWorld.kinds) func whatEveryTypeKnowsGoesOn(_ kind: String) throws {
        try filled(kind, lost: 0, withoutStreet: 0).migrated(to: After.self, Verifying.self) { context in
            let parcels = try context.fetch(FetchDescriptor<After.Parcel>(sortBy: [SortDescriptor(\.number)]))
            #expect(parcels.map(\.state) == (0..<40).map { $0 % 2 == 0 ? .open : .sent })
            #expect(parcels.map { $0.place?.street } == (0..<40).map { $0 % 3 == 0 ? nil : "s" })
        }
    }

    /// Code has the last word: the values that it leaves are the ones that are looked at.
    @Test(arguments: ShapeWorld.kinds) func whatCodeHasMendedIsNoFault(_ kind: String) throws {
        let world = try filled(kind, lost: 3, withoutStreet: 0)
        #expect(try world.preview(After.self, Finding.self)?.stages.map(\.refusal) == [nil])
        try world.migrated(to: After.self, Finding.self) { context in
            let parcels = try context.fetch(FetchDescriptor<After.Parcel>())
            #expect(parcels.count { $0.state == .open } == 21)
        }
    }
}
