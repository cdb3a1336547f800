import Foundation
import MortiseCore
import MortiseInMemory
import Testing

@Suite struct JoinedPredicateTests {
    let context: ModelContext

    init() throws {
        context = ModelContext(try makeLibrary())
        for (title, pages) in [("Émile", 10), ("emma", 20), ("Ulysses", 30), ("a10", 40), ("a9", 50)] {
            context.insert(Book(title: title, pages: pages))
        }
        try context.save()
    }

    private func titles(_ predicate: Predicate<Book>) throws -> [String] {
        try context.fetch(FetchDescriptor(predicate: predicate)).map(\.title)
    }

    @Test func joinedPredicatesArePushedAsOne() throws {
        let long = #Predicate<Book> { $0.pages > 15 }
        let short = #Predicate<Book> { $0.pages < 35 }
        #expect(try titles(long.and(short)) == ["emma", "Ulysses"])
        #expect(try titles(long.not().or(short.not())) == ["Émile", "a10", "a9"])
        #expect(try long.and(short).evaluate(Book(title: "", pages: 20)))
        let explanation = try context.explain(FetchDescriptor(predicate: long.and(short).or(long.not())))
        #expect(explanation.conjuncts.map(\.status) == [.pushed])
    }

    @Test func searchingAsPeopleDoIsLowered() throws {
        let predicate = #Predicate<Book> { $0.title.localizedStandardContains("em") }
        #expect(try titles(predicate) == ["Émile", "emma"])
        #expect(try context.explain(FetchDescriptor(predicate: predicate)).conjuncts.map(\.status) == [.pushed])
    }

    @Test func namesSortAsPeopleExpect() throws {
        let descriptor = FetchDescriptor<Book>(sortBy: [SortDescriptor(\.title, comparator: .localizedStandard)])
        #expect(try context.fetch(descriptor).map(\.title) == ["a9", "a10", "Émile", "emma", "Ulysses"])
        #expect(try context.explain(descriptor).orderIsPushed)
        let backwards = FetchDescriptor<Book>(
            sortBy: [SortDescriptor(\.title, comparator: .localizedStandard, order: .reverse)])
        #expect(try context.fetch(backwards).map(\.title) == ["Ulysses", "emma", "Émile", "a10", "a9"])
    }
}
