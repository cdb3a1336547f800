import Foundation
@testable import MortiseCore
import MortiseEngine
import Testing

@testable import MortiseAppendLog

/// Models of a target are saved while a stage goes on: what such a save meets is neither lost nor taken for the end.
@Suite(.serialized) struct MigrationTargetTests {
    private static let count = 2_500

    private enum TicketStatus: String, Codable, CaseIterable {
        case open, closed
    }

    private enum Tickets: VersionedSchema {
        static var models: [any PersistentModel.Type] { [Ticket.self] }
        static var versionIdentifier: Schema.Version { Schema.Version(1, 0, 0) }

        final class Ticket: PersistentModel {
            var persistentBackingData: any BackingData<Ticket> = Ticket.createBackingData()
            static var schemaMetadata: [Schema.PropertyMetadata] {
                [
                    .init(name: "code", keypath: \Ticket.code, metadata: Schema.Attribute(.unique)),
                    .init(name: "status", keypath: \Ticket.status),
                ]
            }
            init(backingData: any BackingData<Ticket>) { persistentBackingData = backingData }
            init(_ code: Int, _ status: String) { (self.code, self.status) = (code, status) }
            var code: Int {
                get { getValue(forKey: \.code) }
                set { setValue(forKey: \.code, to: newValue) }
            }
            var status: String {
                get { getValue(forKey: \.status) }
                set { setValue(forKey: \.status, to: newValue) }
            }
        }
    }

    private enum TicketsLater: VersionedSchema {
        static var models: [any PersistentModel.Type] { [Ticket.self] }
        static var versionIdentifier: Schema.Version { Schema.Version(2, 0, 0) }

        final class Ticket: PersistentModel {
            var persistentBackingData: any BackingData<Ticket> = Ticket.createBackingData()
            static var schemaMetadata: [Schema.PropertyMetadata] {
                [
                    .init(name: "code", keypath: \Ticket.code, metadata: Schema.Attribute(.unique)),
                    .init(name: "status", keypath: \Ticket.status),
                    .init(name: "note", keypath: \Ticket.note),
                ]
            }
            init(backingData: any BackingData<Ticket>) { persistentBackingData = backingData }
            init(_ code: Int) { (self.code, self.status, self.note) = (code, .open, "made") }
            var code: Int {
                get { getValue(forKey: \.code) }
                set { setValue(forKey: \.code, to: newValue) }
            }
            var status: TicketStatus {
                get { getValue(forKey: \.status) }
                set { setValue(forKey: \.status, to: newValue) }
            }
            var note: String? {
                get { getValue(forKey: \.note) }
                set { setValue(forKey: \.note, to: newValue) }
            }
        }
    }

    private enum TicketPlan: SchemaMigrationPlan {
        nonisolated(unsafe) static var code: (MigrationSource, MigrationTarget) throws -> Void = { _, _ in }
        static var schemas: [any VersionedSchema.Type] { [Tickets.self, TicketsLater.self] }
        static var stages: [MigrationStage] {
            [.custom(from: Tickets.self, to: TicketsLater.self, migrate: { try code($0, $1) })]
        }
    }

    private func world(_ kind: MigrationWorld.Kind, statusOfThird: String = "open") throws -> MigrationWorld {
        let world = try MigrationWorld(kind)
        let container = try world.open(Tickets.self, nil)
        let context = ModelContext(container)
        for code in 0..<Self.count { context.insert(Tickets.Ticket(code, code == 3 ? statusOfThird : "open")) }
        try context.save()
        try container.close()
        return world
    }

    private func codes(_ container: ModelContainer) throws -> [Int] {
        try ModelContext(container).fetch(
            FetchDescriptor<TicketsLater.Ticket>(sortBy: [SortDescriptor(\.code)])
        ).map(\.code)
    }

    /// Each new record has the code of one that is about to be deleted.
    @Test(arguments: MigrationWorld.Kind.allCases)
    func newRecordsAreNotMergedIntoThoseThatAreAboutToGo(_ kind: MigrationWorld.Kind) throws {
        defer { TicketPlan.code = { _, _ in } }
        let world = try world(kind)
        TicketPlan.code = { old, new in
            for ticket in try old.fetch(Tickets.Ticket.self) {
                new.insert(TicketsLater.Ticket(ticket.code + 1))
                if let gone = try new.model(TicketsLater.Ticket.self, for: ticket.persistentModelID) {
                    new.context.delete(gone)
                }
            }
        }
        let container = try world.open(TicketsLater.self, TicketPlan.self)
        #expect(try codes(container) == Array(1...Self.count))
        try container.close()
    }

    /// A record that the new class cannot read is not passed over.
    @Test(arguments: MigrationWorld.Kind.allCases)
    func whatAModelCannotReadEndsTheMigration(_ kind: MigrationWorld.Kind) throws {
        defer { TicketPlan.code = { _, _ in } }
        let world = try world(kind, statusOfThird: "lost")
        let before = try world.files()
        for changesOthers in [true, false] {
            TicketPlan.code = { old, new in
                for ticket in try old.fetch(Tickets.Ticket.self) {
                    let model = try new.model(TicketsLater.Ticket.self, for: ticket.persistentModelID)
                    if changesOthers { model?.note = "seen" }
                }
            }
            #expect {
                try world.open(TicketsLater.self, TicketPlan.self)
            } throws: { error in
                guard case MigrationError.stageFailed(let failure) = error else { return false }
                return "\(failure)".contains("lost")
            }
            #expect(try world.files() == before)
        }
    }

    /// Two passes, of which the first leaves what no save would take.
    @Test(arguments: MigrationWorld.Kind.allCases)
    func whatIsUnfinishedIsSavedWhenItIsFinished(_ kind: MigrationWorld.Kind) throws {
        defer { TicketPlan.code = { _, _ in } }
        let world = try world(kind)
        TicketPlan.code = { old, new in
            let all = try old.fetch(Tickets.Ticket.self).map(\.persistentModelID)
            // All codes move up by one, the first of them first: until the last has moved two records share a code.
            for identifier in all { try new.model(TicketsLater.Ticket.self, for: identifier)?.code += 1 }
            for identifier in all { try new.model(TicketsLater.Ticket.self, for: identifier)?.note = "second" }
        }
        let container = try world.open(TicketsLater.self, TicketPlan.self)
        #expect(try codes(container) == Array(1...Self.count))
        let noted = FetchDescriptor<TicketsLater.Ticket>(predicate: #Predicate { $0.note == "second" })
        #expect(try ModelContext(container).fetchCount(noted) == Self.count)
        try container.close()
    }
}
