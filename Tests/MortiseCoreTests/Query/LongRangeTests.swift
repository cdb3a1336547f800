import Foundation
import MortiseCore
import MortiseInMemory
import Testing

/// Ranges in predicates may be as long as integers go, and are not written out.
@Suite struct LongRangeTests {
    private let context: ModelContext

    init() throws {
        context = ModelContext(try makeLibrary())
        context.insert(Book(title: "long", pages: 10_000_000_000_000))
        context.insert(Book(title: "longest", pages: .max))
        context.insert(Book(title: "short", pages: 3))
        try context.save()
    }

    private func titles(_ predicate: Predicate<Book>) throws -> [String] {
        try context.fetch(FetchDescriptor(predicate: predicate, sortBy: [SortDescriptor(\.pages)])).map(\.title)
    }

    @Test func aTestOfEveryNumberEndsAtTheFirstThatFails() throws {
        #expect(try titles(#Predicate { book in (0..<book.pages).allSatisfy { $0 < 3 } }) == ["short"])
        #expect(try titles(#Predicate { book in (0...book.pages).allSatisfy { $0 < 4 } }) == ["short"])
        #expect(try titles(#Predicate { book in (0...book.pages).allSatisfy { $0 < 3 } }) == [])
        #expect(try titles(#Predicate { book in (3..<book.pages).allSatisfy { $0 < 3 } }) == ["short"])
    }

    @Test func aSearchEndsAtTheFirstThatIsFound() throws {
        let far = #Predicate<Book> { book in (0..<book.pages).contains { $0 == 5 } }
        #expect(try titles(far) == ["long", "longest"])
        let last = #Predicate<Book> { book in (1...book.pages).contains { $0 == 3 } }
        #expect(try titles(last) == ["short", "long", "longest"])
    }
}
