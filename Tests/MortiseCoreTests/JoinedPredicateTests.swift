import Foundation
import MortiseCore
import MortiseInMemory
import Synchronization
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

    @Test func joinedPredicatesMeanWhatTheirOperatorsDo() throws {
        let long = #Predicate<Book> { $0.pages > 15 }
        let short = #Predicate<Book> { $0.pages < 35 }
        #expect(try titles(long.and(short)) == ["emma", "Ulysses"])
        #expect(try titles(long.not().or(short.not())) == ["Émile", "a10", "a9"])
        #expect(try long.and(short).evaluate(Book(title: "", pages: 20)))
    }

    @Test func joinedConjunctionsAreSplitAsThoseOfOnePredicate() throws {
        let long = #Predicate<Book> { $0.pages > 15 }
        let titled = #Predicate<Book> { $0.title != "" && $0.pages < 35 }
        let code = #Predicate<Book> { $0.title.hashValue == $0.title.hashValue }
        func conjuncts(_ predicate: Predicate<Book>) throws -> [String] {
            try context.explain(FetchDescriptor(predicate: predicate)).conjuncts.map { "\($0.status): \($0.text)" }
        }
        #expect(
            try conjuncts(long.and(titled)) == [
                "pushed: pages > 15", "pushed: title != \"\"", "pushed: pages < 35",
            ])
        #expect(try titles(long.and(titled)) == ["emma", "Ulysses"])
        // Only the part that cannot be lowered is left to code, as deep as it is.
        let mixed = try conjuncts(titled.and(code).and(long))
        #expect(mixed.map { String($0.prefix(7)) } == ["pushed:", "pushed:", "onModel", "pushed:"])
        #expect(try titles(titled.and(code).and(long)) == ["emma", "Ulysses"])
        #expect(try titles(code.and(long)) == ["emma", "Ulysses", "a10", "a9"])
        // A disjunction and a negation are one condition each.
        #expect(try conjuncts(long.and(titled).or(long.not())).count == 1)
        #expect(try conjuncts(long.and(titled).not()).count == 1)
        #expect(try conjuncts(long.and(titled.or(long.not()))).count == 2)
    }

    /// A predicate joined with itself binds one variable in both parts.
    @Test func aPredicateCanBeJoinedWithItself() throws {
        let long = #Predicate<Book> { $0.pages > 15 }
        #expect(try titles(long.and(long)) == ["emma", "Ulysses", "a10", "a9"])
        #expect(try titles(long.and(long.not())) == [])
        #expect(try titles(long.or(long.not())).count == 5)
    }

    /// What guards an expression that may throw is asked first, also where another predicate is the guard.
    @Test func aPartThatGuardsAnotherComesFirst() throws {
        let guarding = #Predicate<Book> { $0.pages != 10 }
        let dividing = #Predicate<Book> { 100 / ($0.pages - 10) > 4 }
        #expect(try titles(guarding.and(dividing)) == ["emma", "Ulysses"])
        // Behind it, the guard may still keep records from it, as an index does; by itself it throws.
        let late = Result { try titles(dividing.and(guarding)) }
        switch late {
        case .success(let found): #expect(found == ["emma", "Ulysses"])
        case .failure(let error): #expect(error is QueryEvaluationError)
        }
        #expect(throws: QueryEvaluationError.self) { try titles(dividing) }
    }

    /// Bug: the stack was used up in lowering, in evaluating, in writing down and in releasing what was joined of many.
    @Test(arguments: ["and", "or", "andBefore", "alternating", "not"])
    func anyNumberOfPredicatesCanBeJoined(kind: String) throws {
        let count = isFullSize ? 4_000 : 2_000
        @Sendable func join() -> Predicate<Book> {
            var joined: Predicate<Book> = #Predicate { $0.pages > 25 }
            for number in 0..<count {
                let part: Predicate<Book> = #Predicate { $0.pages != number + 30 }
                let other: Predicate<Book> = #Predicate { $0.pages == number + 45 }
                switch kind {
                case "and": joined = joined.and(part)
                case "or": joined = joined.or(other)
                case "andBefore": joined = part.and(joined)
                case "alternating": joined = number % 2 == 0 ? joined.or(part) : joined.and(other.not())
                default: joined = joined.not()
                }
            }
            return joined
        }
        let failure = Mutex<(any Error)?>(nil)
        let isDone = DispatchSemaphore(value: 0)
        let thread = Thread {
            do {
                let context = ModelContext(try makeLibrary())
                let books = [10, 20, 30, 40, 50].map { Book(title: "\($0)", pages: $0) }
                for book in books { context.insert(book) }
                let predicate = join()
                let expected = try books.filter { try predicate.evaluate($0) }.map(\.pages)
                // With unsaved models, and with stored ones.
                for _ in 0..<2 {
                    let found = try context.fetch(FetchDescriptor(predicate: predicate, sortBy: [.init(\.pages)]))
                    #expect(found.map(\.pages) == expected)
                    #expect(try context.fetchCount(FetchDescriptor(predicate: predicate)) == expected.count)
                    try context.save()
                }
                #expect("\(predicate.expression)".contains("25"))
                _ = "\(try context.explain(FetchDescriptor(predicate: predicate)))"
            } catch {
                failure.withLock { $0 = error }
            }
            isDone.signal()
        }
        // What a thread of macOS has that is not the main one.
        thread.stackSize = 512 << 10
        thread.start()
        isDone.wait()
        if let error = failure.withLock({ $0 }) { throw error }
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

    @Test func optionalNamesAndThoseOfRelatedModelsSortSoToo() throws {
        let names = ["a10", "A9", "é", nil, "E"]
        let library = ModelContext(try makeLibrary())
        for (number, name) in names.enumerated() {
            library.insert(Book(title: "\(number)", author: name.map { Author(name: $0) }))
        }
        try library.save()
        func order(_ comparator: LocalizedStringComparator, _ order: SortOrder) throws -> [String] {
            let descriptor = FetchDescriptor<Book>(
                sortBy: [SortDescriptor(\.author?.name, comparator: comparator, order: order)])
            let found = try library.explain(descriptor)
            #expect(found.orderIsPushed && found.order == ["author.name" + (order == .forward ? "" : " descending")])
            return try library.fetch(descriptor).map { $0.author?.name ?? "nil" }
        }
        #expect(try order(.localizedStandard, .forward) == ["nil", "A9", "a10", "E", "é"])
        #expect(try order(.localizedStandard, .reverse) == ["é", "E", "a10", "A9", "nil"])
        #expect(try order(.localized, .forward) == ["nil", "a10", "A9", "E", "é"])
    }
}
