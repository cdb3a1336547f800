import Foundation
import MortiseAppendLog
import MortiseCore
import MortiseEngine
import Testing
import MortiseTestSupport

/// A part of a checkpoint that cannot be read is an error of whatever needed it, and never records that are not there.
@Suite struct DamagedChunkTests {
    private static let count = 2_000

    /// A log with a checkpoint in which the chunk with one author, or one book, is damaged.
    private func damagedLog(_ marker: String) throws -> ModelContainer {
        let disk = SimulatedFileSystem()
        try disk.install(.directory, at: "/data")
        func open() throws -> ModelContainer {
            try ModelContainer(
                for: Schema([Author.self, Book.self, Shelf.self]),
                configurations: [
                    AppendLogConfiguration(
                        "books", path: "/data/books.log", history: .keep(days: 0), compaction: .onCall, in: disk)
                ])
        }
        let container = try open()
        let context = ModelContext(container)
        for number in 0..<Self.count {
            let author = Author(name: "an author with a longer name \(number)", born: number)
            context.insert(author)
            context.insert(Book(title: "a book with a longer title \(number)", pages: number, author: author))
        }
        try context.save()
        // A log that has all of its history would stand in for its checkpoint.
        try #require(container.store(AppendLogStore.self)).compact()
        try container.close()
        let path = "/data/books.log.checkpoint"
        var bytes = try #require(disk.contents(at: path))
        let wanted = Array(marker.utf8)
        let place = try #require(bytes.indices.first { bytes[$0...].starts(with: wanted) })
        bytes[place] ^= 0x20
        try disk.install(bytes, at: path)
        return try open()
    }

    private static let book = "a book with a longer title 1901"
    private static let author = "an author with a longer name 1901"

    private func expectDamage(at location: SourceLocation = #_sourceLocation, _ body: () throws -> Void) {
        #expect(sourceLocation: location) {
            try body()
        } throws: {
            if case .damagedRegion = ($0 as? AppendLogError)?.fault { true } else { false }
        }
    }

    @Test func whatAStoreCalculatesFromAPartOfItsRecordsIsNoResult() throws {
        var context = ModelContext(try damagedLog(Self.book))
        expectDamage { _ = try context.aggregate(FetchDescriptor<Book>(), .sum(\.pages)) }
        context = ModelContext(try damagedLog(Self.author))
        expectDamage { _ = try context.aggregate(FetchDescriptor<Author>(), .count, .maximum(\.born)) }
        context = ModelContext(try damagedLog(Self.author))
        let old = #Predicate<Author> { $0.born != nil }
        expectDamage { _ = try context.aggregate(FetchDescriptor(predicate: old), .count) }
    }

    /// The store hands out the authors whole; only the rest of the query meets their books.
    @Test func whatTheFrameworkFindsOutFromAPartOfTheRecordsIsNoResult() throws {
        let wrote = FetchDescriptor<Author>(predicate: #Predicate { $0.books.contains { $0.pages == 1901 } })
        var context = ModelContext(try damagedLog(Self.book))
        context.insert(Shelf(label: "unsaved"))
        expectDamage { _ = try context.fetch(wrote) }
        context = ModelContext(try damagedLog(Self.book))
        context.insert(Shelf(label: "unsaved"))
        expectDamage { _ = try context.fetchCount(wrote) }
        context = ModelContext(try damagedLog(Self.book))
        context.insert(Shelf(label: "unsaved"))
        expectDamage { _ = try context.aggregate(wrote, .count) }
    }

    @Test func whatTheFrameworkCalculatesFromAPartOfTheRecordsIsNoResult() throws {
        let context = ModelContext(try damagedLog(Self.author))
        context.insert(Shelf(label: "unsaved"))
        expectDamage { _ = try context.aggregate(FetchDescriptor<Book>(), .maximum(\.author?.born)) }
    }
}
