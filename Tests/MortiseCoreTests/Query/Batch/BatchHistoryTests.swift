import Foundation
import MortiseAppendLog
import MortiseCore
import MortiseEngine
import Testing
import MortiseTestSupport

/// What the history of a store that keeps one says of batches: a transaction each, with the properties that were assigned
/// and the values that deleted records leave behind.
@Suite struct BatchHistoryTests {
    let context: ModelContext

    init() throws {
        let disk = SimulatedFileSystem()
        try disk.install(.directory, at: "/data")
        context = ModelContext(
            try ModelContainer(
                for: Schema([Show.self, Ticket.self]),
                configurations: [AppendLogConfiguration(path: "/data/tickets.log", in: disk)]))
        context.author = "box office"
    }

    private func history() throws -> [DefaultHistoryTransaction] {
        try context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>())
    }

    /// Five tickets of one batch.
    private func sell() throws -> [PersistentIdentifier] {
        try context.insert(Ticket.self, from: 0..<5) { ticket, number in
            try ticket.set(\.code, to: "T\(number)")
            try ticket.set(\.row, to: number)
        }
    }

    @Test func anInsertionIsOneTransaction() throws {
        let tickets = try sell()
        let transactions = try history()
        #expect(transactions.map(\.author) == ["box office"])
        let inserted = transactions[0].changes.compactMap { change in
            if case .insert(let insert) = change { (insert as? DefaultHistoryInsert<Ticket>) } else { nil }
        }
        #expect(inserted.map(\.changedPersistentIdentifier) == tickets && transactions[0].changes.count == 5)
    }

    @Test func anUpdateSaysWhatWasAssigned() throws {
        let tickets = try sell()
        try context.update(Ticket.self, where: #Predicate { $0.row >= 3 }) {
            $0.set(\.note, to: "balcony")
            $0.increment(\.row, by: 10)
        }
        let transactions = try history()
        #expect(transactions.count == 2 && transactions[1].author == "box office")
        let updates = transactions[1].changes.compactMap { change in
            if case .update(let update) = change { (update as? DefaultHistoryUpdate<Ticket>) } else { nil }
        }
        #expect(updates.map(\.changedPersistentIdentifier) == Array(tickets[3...]))
        #expect(transactions[1].changes.count == 2)
        for update in updates {
            let paths: [PartialKeyPath<Ticket>] = update.updatedAttributes.map { $0 }
            #expect(Set(paths) == [\Ticket.row, \Ticket.note])
        }
    }

    @Test func aDeletionKeepsThePreservedValuesOfAllThatGo() throws {
        let show = Show("opera")
        context.insert(show)
        for number in 0..<3 { context.insert(Ticket("S\(number)", row: number, show: show)) }
        let other = Show("play")
        let ticket = Ticket("P0", row: 0, show: other)
        ticket.spare = show
        context.insert(ticket)
        try context.save()
        let left = ticket.persistentModelID
        try context.delete(model: Show.self, where: #Predicate { $0.name == "opera" })
        let changes = try #require(try history().last).changes
        let tickets = changes.compactMap { change in
            if case .delete(let delete) = change { (delete as? DefaultHistoryDelete<Ticket>) } else { nil }
        }
        #expect(Set(tickets.map { $0.tombstone[\.code] as? String }) == ["S0", "S1", "S2"])
        #expect(tickets.allSatisfy { $0.tombstone[\.row] == nil })
        let shows = changes.compactMap { change in
            if case .delete(let delete) = change { (delete as? DefaultHistoryDelete<Show>) } else { nil }
        }
        #expect(shows.map { $0.tombstone[\.name] as? String } == ["opera"])
        // The record that referred to the deleted one and stays was changed by that.
        let updates = changes.compactMap { change in
            if case .update(let update) = change { (update as? DefaultHistoryUpdate<Ticket>) } else { nil }
        }
        #expect(updates.map(\.changedPersistentIdentifier) == [left])
        let paths: [PartialKeyPath<Ticket>] = updates.flatMap { $0.updatedAttributes.map { $0 } }
        #expect(paths == [\Ticket.spare] && ticket.spare == nil)
        #expect(changes.count == 5)
    }

    @Test func aBatchThatFailsIsInNoHistory() throws {
        _ = try sell()
        #expect {
            try context.update(Ticket.self) { $0.increment(\.row, by: Int.max) }
        } throws: {
            if case QueryEvaluationError.arithmeticOverflow = $0 { true } else { false }
        }
        #expect(throws: ModelValidationError.self) {
            try context.insert(Ticket.self, from: 0..<2) { try $0.set(\.row, to: $1) }
        }
        #expect(try history().count == 1)
        #expect(try context.fetch(FetchDescriptor<Ticket>()).map(\.row) == [0, 1, 2, 3, 4])
    }
}

private final class Show: PersistentModel {
    var persistentBackingData: any BackingData<Show> = Show.createBackingData()
    static var schemaMetadata: [Schema.PropertyMetadata] {
        [
            .init(name: "name", keypath: \Show.name, metadata: Schema.Attribute(.preserveValueOnDeletion)),
            .init(
                name: "tickets", keypath: \Show.tickets,
                metadata: Schema.Relationship(deleteRule: .cascade, inverse: \Ticket.show)),
        ]
    }
    init(backingData: any BackingData<Show>) { persistentBackingData = backingData }
    init(_ name: String) { self.name = name }

    var name: String {
        get { getValue(forKey: \.name) }
        set { setValue(forKey: \.name, to: newValue) }
    }
    var tickets: [Ticket] {
        get { getValue(forKey: \.tickets) }
        set { setValue(forKey: \.tickets, to: newValue) }
    }
}

private final class Ticket: PersistentModel {
    var persistentBackingData: any BackingData<Ticket> = Ticket.createBackingData()
    static var schemaMetadata: [Schema.PropertyMetadata] {
        [
            .init(name: "code", keypath: \Ticket.code, metadata: Schema.Attribute(.preserveValueOnDeletion)),
            .init(name: "row", keypath: \Ticket.row), .init(name: "note", keypath: \Ticket.note),
            .init(name: "show", keypath: \Ticket.show), .init(name: "spare", keypath: \Ticket.spare),
        ]
    }
    init(backingData: any BackingData<Ticket>) { persistentBackingData = backingData }
    init(_ code: String, row: Int, show: Show? = nil) {
        self.code = code
        self.row = row
        self.show = show
    }

    var code: String {
        get { getValue(forKey: \.code) }
        set { setValue(forKey: \.code, to: newValue) }
    }
    var row: Int {
        get { getValue(forKey: \.row) }
        set { setValue(forKey: \.row, to: newValue) }
    }
    var note: String? {
        get { getValue(forKey: \.note) }
        set { setValue(forKey: \.note, to: newValue) }
    }
    var show: Show? {
        get { getValue(forKey: \.show) }
        set { setValue(forKey: \.show, to: newValue) }
    }
    var spare: Show? {
        get { getValue(forKey: \.spare) }
        set { setValue(forKey: \.spare, to: newValue) }
    }
}
