import CustomStore
import Foundation
import Mortise
import Testing

@Model private final class KeptOrder {
    @Attribute(.unique) var number: Int
    @Relationship(deleteRule: .cascade, inverse: \KeptLine.order) var lines: [KeptLine] = []
    @Relationship(deleteRule: .cascade) var covers: [KeptCover] = []
    @Relationship(inverse: \KeptTag.orders) var tags: [KeptTag] = []
    init(_ number: Int) { self.number = number }
}

@Model private final class KeptLine {
    var amount: Int
    @Attribute(.unique) var key: String?
    var order: KeptOrder?
    var parent: KeptLine?
    @Relationship(deleteRule: .cascade, inverse: \KeptLine.parent) var parts: [KeptLine] = []
    @Relationship(deleteRule: .cascade, inverse: \KeptPhoto.line) var photo: KeptPhoto?
    @Relationship(deleteRule: .cascade, inverse: \KeptNote.line) var notes: [KeptNote] = []
    init(_ amount: Int, key: String? = nil) { (self.amount, self.key) = (amount, key) }
}

@Model private final class KeptPhoto {
    var name: String
    var line: KeptLine?
    init(_ name: String) { self.name = name }
}

@Model private final class KeptNote {
    var text: String
    var line: KeptLine
    init(_ text: String, _ line: KeptLine) { (self.text, self.line) = (text, line) }
}

/// Nothing leads back from it.
@Model private final class KeptCover {
    var name: String
    init(_ name: String) { self.name = name }
}

@Model private final class KeptTag {
    @Attribute(.unique) var name: String
    var color: String?
    var orders: [KeptOrder] = []
    init(_ name: String, _ color: String? = nil) { (self.name, self.color) = (name, color) }
}

@Model private final class KeptShelf {
    var name: String
    var books: [KeptBook] = []
    init(_ name: String) { self.name = name }
}

@Model private final class KeptBook {
    static let gone = Tally()
    @Attribute(.unique) var number: Int
    @Relationship(inverse: \KeptShelf.books) var shelf: KeptShelf?
    init(_ number: Int, _ shelf: KeptShelf) { (self.number, self.shelf) = (number, shelf) }
    deinit { Self.gone.add() }
}

/// What `.keep` leaves where it is, below the newcomer and around it.
@Suite struct UniqueKeepTests {
    private let folder: Folder

    init() throws { folder = try Folder() }

    private func container(_ kind: String) throws -> ModelContainer {
        if kind == "plain" { return try ModelContainer(for: KeptOrder.self, configurations: PlainConfiguration()) }
        guard kind == "csv" else {
            return try ModelContainer(
                for: KeptOrder.self,
                store: kind == "memory" ? "memory:\(UUID())" : "\(kind):\(folder.path("orders.\(kind)"))")
        }
        try FileManager.default.createDirectory(atPath: folder.path("orders"), withIntermediateDirectories: true)
        return try ModelContainer(
            for: KeptOrder.self,
            configurations: CSVConfiguration(folder: URL(fileURLWithPath: folder.path("orders"))))
    }

    private func contents(_ container: ModelContainer) throws -> [String] {
        let context = ModelContext(container)
        let orders = try context.fetch(FetchDescriptor<KeptOrder>()).map { order in
            "order \(order.number) \(order.lines.map(\.amount).sorted()) \(order.covers.map(\.name).sorted()) "
                + "\(order.tags.map(\.name).sorted())"
        }
        let lines = try context.fetch(FetchDescriptor<KeptLine>()).map { line in
            "line \(line.amount) of \(line.order?.number ?? -1) \(line.photo?.name ?? "-") "
                + "\(line.notes.map(\.text).sorted())"
        }
        let photos = try context.fetch(FetchDescriptor<KeptPhoto>()).map {
            "photo \($0.name) of \($0.line?.amount ?? -1)"
        }
        let notes = try context.fetch(FetchDescriptor<KeptNote>()).map { "note \($0.text) of \($0.line.amount)" }
        let covers = try context.fetch(FetchDescriptor<KeptCover>()).map { "cover \($0.name)" }
        let tags = try context.fetch(FetchDescriptor<KeptTag>()).map { "tag \($0.name) \($0.color ?? "-")" }
        return orders.sorted() + lines.sorted() + photos.sorted() + notes.sorted() + covers.sorted() + tags.sorted()
    }

    /// An order with a line that has a photo and a note.
    private func stored(_ context: ModelContext) throws -> (order: KeptOrder, line: KeptLine, photo: KeptPhoto) {
        let (order, line, photo) = (KeptOrder(1), KeptLine(0), KeptPhoto("p"))
        context.insert(order)
        order.lines = [line]
        line.photo = photo
        line.notes = [KeptNote("n", line)]
        order.tags = [KeptTag("red", "#f00")]
        try context.save()
        return (order, line, photo)
    }

    /// Bug: the deletion of a newcomer's new child cascaded to stored models that the child had claimed.
    @Test(arguments: BillStores.all, [1, 2, 500])
    func whatAChildOfANewcomerClaimedStaysWhereItWas(_ kind: String, depth: Int) throws {
        let container = try container(kind)
        let context = ModelContext(container)
        let (order, line, photo) = try stored(context)
        let before = try contents(container)
        let new = KeptOrder(1)
        var last = KeptLine(2)
        new.lines = [last]
        for number in 1..<depth {
            let part = KeptLine(2 + number)
            last.parts = [part]
            last = part
        }
        last.photo = photo
        last.notes = line.notes
        context.insert(new, onConflict: .keep)
        try context.save()
        #expect(try contents(container) == before)
        #expect(photo.line === line && line.photo === photo && line.notes.count == 1 && order.lines.count == 1)
        #expect(!photo.isDeleted && last.modelContext == nil && !context.hasChanges)
        // Nothing is left that another save would write.
        photo.name = "q"
        try context.save()
        #expect(try contents(container) == before.map { $0.replacing(" p ", with: " q ") })
    }

    /// Bug: a save in which every newcomer was kept wrote the stored records that these had been related to.
    @Test func aSaveThatKeepsAllWritesNothing() throws {
        let container = try container("log")
        let context = ModelContext(container)
        let (order, line, photo) = try stored(context)
        let tag = try #require(order.tags.first)
        func transactions() throws -> Int {
            try ModelContext(container).fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>()).count
        }
        let count = try transactions()
        let new = KeptOrder(1)
        let part = KeptLine(2)
        part.photo = photo
        new.lines = [part, line]
        new.tags = [tag, KeptTag("red")]
        context.insert(new, onConflict: .keep)
        let identifier = new.persistentModelID
        try context.save()
        #expect(try transactions() == count && !context.hasChanges)
        // The newcomer is an alias all the same.
        #expect(new.persistentModelID == order.persistentModelID && new.tags.allSatisfy { $0 === tag })
        #expect(context.model(for: identifier) === order)
        line.amount = 7
        try context.save()
        #expect(try transactions() == count + 1 && order.tags.count == 1 && line.photo === photo)
    }

    /// Bug: a newcomer that a stored model had been given before was inserted with the context's policy, and its children kept that.
    @Test(arguments: BillStores.all) func thePolicyReachesWhatCameInByARelationship(_ kind: String) throws {
        let container = try container(kind)
        let context = ModelContext(container)
        let (_, line, _) = try stored(context)
        let before = try contents(container)
        let new = KeptOrder(1)
        new.tags = [KeptTag("red", "new")]
        // This inserts both.
        new.lines = [line]
        #expect(new.modelContext === context)
        context.insert(new, onConflict: .keep)
        try context.save()
        #expect(try contents(container) == before)
        // What was inserted by name keeps its own policy, and what another call said first is replaced with it.
        let (second, red, blue) = (KeptOrder(1), KeptTag("red", "named"), KeptTag("blue"))
        second.tags = [red, blue]
        second.lines = [line]
        context.insert(red, onConflict: .update)
        context.insert(second, onConflict: .fail)
        context.insert(second, onConflict: .keep)
        try context.save()
        #expect(
            try contents(container) == before.dropLast() + ["tag blue -", "tag red named"])
    }

    /// Bug: what the program had inserted by name, or given to others, was dropped with the newcomer.
    @Test(arguments: BillStores.all) func whatIsNotTheNewcomersAloneIsSaved(_ kind: String) throws {
        let container = try container(kind)
        let context = ModelContext(container)
        let (order, line, photo) = try stored(context)
        let (new, named, held, taken, alone) = (
            KeptOrder(1), KeptLine(10), KeptLine(11), KeptLine(12, key: "k"), KeptLine(13)
        )
        // Another newcomer becomes the one that is the order's at first.
        order.lines.append(taken)
        context.insert(KeptLine(120, key: "k"))
        new.lines = [named, held, taken, alone]
        new.covers = [KeptCover("c")]
        context.insert(new, onConflict: .keep)
        context.insert(named)
        photo.line = held
        try context.save()
        #expect(
            try contents(container) == [
                "order 1 [0] [] [\"red\"]", "line 0 of 1 - [\"n\"]", "line 10 of -1 - []", "line 11 of -1 p []",
                "line 120 of -1 - []", "photo p of 11", "note n of 0", "cover c", "tag red #f00",
            ])
        #expect(alone.modelContext == nil && named.modelContext === context && line.order === order)
    }

    /// Bug: a member that had named its owner itself no longer counted as that when another was appended.
    @Test(arguments: BillStores.all) func appendingSetsOnlyWhatIsAppended(_ kind: String) throws {
        let container = try BillStores.container(kind, folder)
        let context = ModelContext(container)
        context.insert(Bill(1, "old"))
        try context.save()
        let new = Bill(1, "new")
        let named = BillLine(3, new)
        new.lines.append(BillLine(4))
        new.lines.append(BillLine(5))
        context.insert(new, onConflict: .keep)
        try context.save()
        #expect(try BillStores.contents(container) == ["1 old [3] - [] -", "line 3 1"])
        #expect(named.modelContext === context)
    }

    /// Bug: each newcomer made models of all that its owner has.
    @Test func importingAgainMakesEachModelOnce() throws {
        for count in [1_000, 10_000] {
            let container = try ModelContainer(for: KeptShelf.self, store: "memory:\(UUID())")
            try within {
                let context = ModelContext(container)
                let shelf = KeptShelf("a")
                context.insert(shelf)
                for number in 0..<count { context.insert(KeptBook(number, shelf)) }
                try context.save()
            }
            let before = KeptBook.gone.count
            try within {
                let context = ModelContext(container)
                let shelf = try onlyModel(KeptShelf.self, in: context)
                for number in 0..<count { context.insert(KeptBook(number, shelf), onConflict: .keep) }
                try context.save()
                #expect(!context.hasChanges)
            }
            // The newcomers and those that have their values.
            #expect(KeptBook.gone.count - before <= 3 * count)
            #expect(try ModelContext(container).fetchCount(FetchDescriptor<KeptBook>()) == count)
        }
    }

    private func within(_ body: () throws -> Void) rethrows { try body() }
}
