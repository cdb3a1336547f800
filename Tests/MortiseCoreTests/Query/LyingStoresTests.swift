import Foundation
import MortiseCore
import MortiseInMemory
import Testing

/// Stores that claim what cannot be, or what is not true, are found out; stores that claim a part rightly are believed.
@Suite struct LyingStoresTests {
    /// Books whose titles differ by case only, and whose pages do not follow the titles.
    private func library(_ behaviour: Behaviour, isChecked: Bool = true) throws -> ModelContext {
        let container = try ModelContainer(
            for: Schema([Author.self, Book.self, Shelf.self]), configurations: [ClaimingConfiguration(behaviour)])
        container.verifiesPushDown = isChecked
        let context = ModelContext(container)
        context.insert(Author(name: "Ada"))
        for (title, pages) in [("solaris", 300), ("Solaris", 200), ("fiasco", 300), ("Eden", 100), ("Solaris", 400)] {
            context.insert(Book(title: title, pages: pages))
        }
        try context.save()
        return context
    }

    private var solaris: FetchDescriptor<Book> {
        FetchDescriptor(
            predicate: #Predicate { $0.title == "Solaris" && $0.pages > 250 }, sortBy: [SortDescriptor(\.pages)])
    }

    // MARK: Right

    @Test(arguments: [Behaviour.equality, .superset, .orderPrefix, .everything])
    func whatIsClaimedRightlyIsAnsweredRightly(_ behaviour: Behaviour) throws {
        let context = try library(behaviour)
        #expect(try context.fetch(solaris).map(\.pages) == [400])
        #expect(try context.fetchCount(solaris) == 1)
        var page = FetchDescriptor<Book>(
            predicate: #Predicate { $0.title == "Solaris" || $0.title == "Eden" },
            sortBy: [SortDescriptor(\.pages, order: .reverse)])
        page.fetchOffset = 1
        page.fetchLimit = 2
        #expect(try context.fetch(page).map(\.pages) == [200, 100])
        context.insert(Book(title: "Solaris", pages: 251))
        #expect(try context.fetch(solaris).map(\.pages) == [251, 400])
        try context.save()
        #expect(try context.fetch(solaris).map(\.pages) == [251, 400])
    }

    @Test func thePlanSaysWhoDidWhat() throws {
        let found = try library(.superset).explain(solaris)
        #expect(found.conjuncts.map(\.status) == [.rechecked, .pushed])
        #expect(try library(.equality).explain(solaris).conjuncts.map(\.status) == [.pushed, .residual])
        #expect(try !library(.orderPrefix).explain(solaris).orderIsPushed)
        #expect(try library(.everything).explain(solaris).orderIsPushed)
        var byTwo = solaris
        byTwo.sortBy.append(SortDescriptor(\.title))
        for (behaviour, keys, text) in [
            (.equality, 0, "in memory"), (.orderPrefix, 1, "in memory, after 1 of 2 keys by the store"),
            (.everything, 2, "pushed"),
        ] as [(Behaviour, Int, String)] {
            let found = try library(behaviour).explain(byTwo)
            #expect(found.pushedSortKeys == keys)
            #expect(found.description.contains("sort (\(text)): pages, title"))
        }
    }

    // MARK: Illegal claims

    @Test(
        arguments: [
            (.limitUnderResidual, #"title == "Solaris""#), (.unknownConjunct, "conjunct 99"), (.otherQuery, nil),
            (.tooManyKeys, nil),
        ] as [(Behaviour, String?)])
    func whatCannotBeClaimedIsRefusedAtOnce(_ behaviour: Behaviour, _ conjunct: String?) throws {
        // Without checking too: a plan's legality needs no rows.
        let context = try library(behaviour, isChecked: false)
        var limited = solaris
        limited.fetchLimit = 1
        let error = try #require(throws: QueryPlanError.self) { try context.fetch(limited) }
        guard case .illegalClaim(let adapter, let named, _) = error else {
            Issue.record("\(error)")
            return
        }
        #expect(adapter == "ClaimingStore")
        #expect(named == conjunct)
    }

    @Test func aWindowBeforeTheOrderIsRefused() throws {
        var limited = FetchDescriptor<Book>(
            predicate: #Predicate { $0.pages > 250 }, sortBy: [SortDescriptor(\.pages)])
        limited.fetchLimit = 1
        let context = try library(.windowBeforeOrder, isChecked: false)
        let error = try #require(throws: QueryPlanError.self) { try context.fetch(limited) }
        guard case .illegalClaim("ClaimingStore", nil, _) = error else {
            Issue.record("\(error)")
            return
        }
    }

    @Test func codeCannotBeClaimed() throws {
        let context = try library(.claimsCode, isChecked: false)
        let byItself = FetchDescriptor<Book>(predicate: #Predicate { $0.title == "Eden" && $0.shout == "EDEN" })
        let error = try #require(throws: QueryPlanError.self) { try context.fetch(byItself) }
        guard case .illegalClaim("ClaimingStore", .some(let conjunct), _) = error else {
            Issue.record("\(error)")
            return
        }
        #expect(conjunct.hasPrefix("code("))
    }

    /// A store that evaluates a condition exactly for records that an earlier one keeps from it fails where Foundation
    /// says no.
    @Test func aConditionThatMayThrowIsNotClaimedWithoutItsGuard() throws {
        let guarded = FetchDescriptor<Book>(predicate: #Predicate { $0.pages != 0 && 600 / $0.pages > 2 })
        for claim in [FetchPlan.Claim.residual, .superset] {
            var configuration = ClaimingConfiguration(.unguarded)
            configuration.guardClaim = claim
            let container = try ModelContainer(
                for: Schema([Author.self, Book.self, Shelf.self]), configurations: [configuration])
            let context = ModelContext(container)
            context.insert(Book(title: "empty", pages: 0))
            try context.save()
            let error = try #require(throws: QueryPlanError.self) { try context.fetch(guarded) }
            guard case .illegalClaim("ClaimingStore", "(600 / pages) > 2", let reason) = error else {
                Issue.record("\(error)")
                continue
            }
            #expect(reason.contains("pages != 0"))
        }
        // All of it, or the guard alone, is what a store can take.
        for behaviour in [Behaviour.everything, .equality] {
            let context = try library(behaviour)
            context.insert(Book(title: "empty", pages: 0))
            try context.save()
            #expect(try context.fetch(guarded).map(\.pages) == [200, 100])
        }
        let engine = ModelContext(
            try ModelContainer(
                for: Schema([Author.self, Book.self, Shelf.self]), configurations: [InMemoryConfiguration()]))
        engine.insert(Book(title: "empty", pages: 0))
        engine.insert(Book(title: "short", pages: 100))
        try engine.save()
        #expect(try engine.fetch(guarded).map(\.title) == ["short"])
        #expect(try engine.explain(guarded).conjuncts.map(\.status) == [.pushed, .pushed])
    }

    // MARK: False claims

    @Test(arguments: [
        Behaviour.dropsConjunct, .exactForSuperset, .losesRows, .repeatsRows, .wrongOrder, .ignoresLimit,
    ])
    func whatIsNotTrueIsFoundOutByChecking(_ behaviour: Behaviour) throws {
        let context = try library(behaviour)
        var descriptor = FetchDescriptor<Book>(
            predicate: #Predicate { $0.title == "Solaris" && $0.pages > 150 }, sortBy: [SortDescriptor(\.pages)])
        if behaviour == .dropsConjunct { descriptor = solaris }
        if behaviour == .ignoresLimit { descriptor.fetchLimit = 1 }
        let error = try #require(throws: QueryPlanError.self) { try context.fetch(descriptor) }
        guard case .falseClaim(let adapter, let claim, let expected, let found) = error else {
            Issue.record("\(error)")
            return
        }
        #expect(adapter == "ClaimingStore")
        #expect(claim.contains(#"for title == "Solaris""#))
        #expect(expected != found)
    }

    @Test func anOrThatIsSplitIsFoundOut() throws {
        let context = try library(.splitsOr)
        let either = FetchDescriptor<Book>(predicate: #Predicate { $0.title == "Eden" || $0.pages == 400 })
        #expect(throws: QueryPlanError.self) { try context.fetch(either) }
        #expect(throws: QueryPlanError.self) { try context.fetchCount(either) }
    }

    @Test func aWrongCountIsFoundOut() throws {
        let context = try library(.countsAll)
        #expect(try context.fetch(solaris).map(\.pages) == [400])
        #expect(throws: QueryPlanError.self) { try context.fetchCount(solaris) }
    }

    @Test func falseClaimsAreFoundOutUnderUnsavedChanges() throws {
        for behaviour in [Behaviour.dropsConjunct, .exactForSuperset, .losesRows, .repeatsRows] {
            let context = try library(behaviour)
            context.insert(Book(title: "new"))
            let descriptor =
                behaviour == .dropsConjunct
                ? solaris : FetchDescriptor<Book>(predicate: #Predicate { $0.title == "Solaris" && $0.pages > 150 })
            #expect(throws: QueryPlanError.self, "\(behaviour)") { try context.fetch(descriptor) }
        }
    }

    @Test func aPrefixIsNeverReliedOn() throws {
        #expect(try library(.wrongPrefix).fetch(solaris).map(\.pages) == [400])
    }

    @Test func rowsOfAnotherEntityAreRefused() throws {
        let context = try library(.otherEntity, isChecked: false)
        let error = try #require(throws: ModelContextError.self) { try context.fetch(solaris) }
        #expect("\(error)".contains("Author"))
    }
}

extension Book {
    /// A property that no store keeps.
    var shout: String { title.uppercased() }
}
