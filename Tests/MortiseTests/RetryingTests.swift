import CustomStore
import Foundation
import Mortise
import Synchronization
import Testing

@Model private final class Account {
    @Attribute(.unique) var number: Int
    var balance: Int
    init(_ number: Int, _ balance: Int) { (self.number, self.balance) = (number, balance) }
}

@Model private final class Statement {
    #Unique<Statement>([\.account, \.day])
    var account: Account?
    var day: Int
    var amount: Int
    init(_ account: Account, _ day: Int, _ amount: Int) {
        (self.account, self.day, self.amount) = (account, day, amount)
    }
}

@Suite struct RetryingTests {
    private static let stores = StoreKinds.versioned + ["csv"] + StoreKinds.sqlite

    private func container(_ kind: String, _ folder: Folder) throws -> ModelContainer {
        guard kind == "csv" else {
            return try ModelContainer(
                for: Account.self, Statement.self,
                store: kind == "memory" ? "memory:\(UUID())" : "\(kind):\(folder.path("accounts.\(kind)"))")
        }
        try FileManager.default.createDirectory(atPath: folder.path("accounts"), withIntermediateDirectories: true)
        return try ModelContainer(
            for: Account.self, Statement.self,
            configurations: CSVConfiguration(folder: URL(fileURLWithPath: folder.path("accounts"))))
    }

    @Test(arguments: stores) func manyWritersComeToTheExactSum(_ kind: String) throws {
        let folder = try Folder()
        let container = try container(kind, folder)
        let first = ModelContext(container)
        first.insert(Account(1, 0))
        try first.save()
        let failures = Mutex<[String]>([])
        let attempts = Mutex(0)
        let (writers, rounds) = (4, StoreKinds.versioned.contains(kind) ? 50 : 10)
        DispatchQueue.concurrentPerform(iterations: writers) { _ in
            let context = ModelContext(container)
            for _ in 0..<rounds {
                do {
                    let account = try context.first(Account.self, where: \.number, is: 1)
                    let outcome = try context.transaction(retrying: 10_000) { account?.balance += 1 }
                    attempts.withLock { $0 += outcome.attempts }
                } catch {
                    failures.withLock { $0.append("\(error)") }
                }
            }
        }
        #expect(failures.withLock { $0 } == [])
        #expect(try onlyModel(Account.self, in: ModelContext(container)).balance == writers * rounds)
        #expect(attempts.withLock { $0 } >= writers * rounds)
    }

    @Test(arguments: stores) func aConflictIsRepeatedAndCounted(_ kind: String) throws {
        let folder = try Folder()
        let container = try container(kind, folder)
        let (context, other) = (ModelContext(container), ModelContext(container))
        context.insert(Account(1, 100))
        try context.save()
        let mine = try onlyModel(Account.self, in: context)
        let theirs = try onlyModel(Account.self, in: other)
        /// Somebody else is faster, that often.
        func transaction(retrying retries: Int, rivals: Int) throws -> (balance: Int, attempts: Int) {
            var left = rivals
            let outcome = try context.transaction(retrying: retries) {
                mine.balance += 1
                if left > 0 {
                    left -= 1
                    try other.refresh()
                    theirs.balance += 10
                    try other.save()
                }
                return mine.balance
            }
            return (outcome.result, outcome.attempts)
        }
        #expect(try transaction(retrying: 3, rivals: 0) == (101, 1))
        #expect(try transaction(retrying: 3, rivals: 2) == (122, 3))
        #expect(context.mergePolicy == .propertyWise)
        // The last attempt is not repeated, and leaves nothing.
        #expect {
            try transaction(retrying: 1, rivals: 2)
        } throws: { error in
            (error as? any ClassifiedStoreError)?.errorClass == .conflict
        }
        #expect(!context.hasChanges)
        try context.refresh()
        #expect(mine.balance == 142)
        struct Refused: Error {}
        #expect(throws: Refused.self) {
            try context.transaction(retrying: 5) {
                mine.balance = 0
                context.insert(Account(2, 0))
                throw Refused()
            }
        }
        #expect(mine.balance == 142 && !context.hasChanges)
        #expect(try context.fetchCount(FetchDescriptor<Account>()) == 1)
        // What was changed before would be lost by a repetition.
        mine.balance = 7
        #expect(throws: ModelContextError.unsavedChanges) { try context.transaction(retrying: 5) {} }
        #expect(mine.balance == 7)
    }

    @Test(arguments: stores) func aUniqueValueThatOthersTakeIsAConflict(_ kind: String) throws {
        let folder = try Folder()
        let container = try container(kind, folder)
        let (context, other) = (ModelContext(container), ModelContext(container))
        context.insert(Account(1, 0))
        try context.save()
        var rivals = 1
        let outcome = try context.transaction(retrying: 3) {
            try context.findOrCreate(Account.self, where: \.number, is: 9) { Account(9, 0) }.balance += 1
            guard rivals > 0 else { return }
            rivals -= 1
            other.insert(Account(9, 100))
            try other.save()
        }
        #expect(outcome.attempts == 2)
        func stored(_ number: Int) throws -> Int? {
            try ModelContext(container).first(Account.self, where: \.number, is: number)?.balance
        }
        #expect(try stored(9) == 101)
        // A value that was taken before the transaction is one that is meant.
        let meant = try context.transaction(retrying: 3) { context.insert(Account(9, 5)) }
        #expect(meant.attempts == (StoreKinds.versioned.contains(kind) ? 1 : 2))
        #expect(try stored(9) == 5)
        #expect(try ModelContext(container).fetchCount(FetchDescriptor<Account>()) == 2)
        // So is one that another record has been changed to.
        rivals = 1
        let one = try #require(try context.first(Account.self, where: \.number, is: 1))
        let changed = try context.transaction(retrying: 3) {
            let isTaken = try context.first(Account.self, where: \.number, is: 7) != nil
            one.number = isTaken ? 8 : 7
            guard rivals > 0 else { return }
            rivals -= 1
            other.insert(Account(7, 70))
            try other.save()
        }
        #expect(changed.attempts == 2)
        #expect(try (stored(7), stored(8)) == (70, 0))
    }

    /// Bug: a value that was taken when the block began was met again as often as the block might run.
    @Test(arguments: stores) func whatWasTakenBeforeIsNoConflict(_ kind: String) throws {
        let folder = try Folder()
        let container = try container(kind, folder)
        let (context, other) = (ModelContext(container), ModelContext(container))
        for number in [1, 2] { context.insert(Account(number, 0)) }
        try context.save()
        let two = try #require(try context.first(Account.self, where: \.number, is: 2))
        func runs(_ block: () throws -> Void) -> Int {
            var runs = 0
            #expect {
                try context.transaction(retrying: 5) {
                    runs += 1
                    try block()
                }
            } throws: {
                if case ModelContextError.notUnique = $0 { true } else { false }
            }
            #expect(!context.hasChanges)
            return runs
        }
        // A store without versions cannot tell at first.
        let once = StoreKinds.versioned.contains(kind) ? 1 : 2
        #expect(runs { context.insert(Account(1, 5), onConflict: .fail) } == once)
        #expect(runs { two.number = 1 } == once)
        // Two models of the block itself.
        #expect(runs { for _ in 0..<2 { context.insert(Account(7, 5), onConflict: .fail) } } == 1)
        var isFirst = true
        let attempts = runs {
            context.insert(Account(9, 5), onConflict: .fail)
            guard isFirst else { return }
            isFirst = false
            other.insert(Account(9, 6))
            try other.save()
        }
        #expect(attempts == 2)
    }

    /// Bug: a store without versions got to know one record in each attempt, so that a block with more of them failed for ever.
    @Test(arguments: stores, [0, 5]) func anyNumberOfKnownRecordsIsMet(_ kind: String, retries: Int) throws {
        let folder = try Folder()
        let container = try container(kind, folder)
        let context = ModelContext(container)
        for number in 0..<20 { context.insert(Account(number, 0)) }
        try context.save()
        let outcome = try context.transaction(retrying: retries) {
            for number in 0..<25 { context.insert(Account(number, 7)) }
        }
        #expect(outcome.attempts == (StoreKinds.versioned.contains(kind) ? 1 : 2))
        let stored = try ModelContext(container).fetch(FetchDescriptor<Account>(sortBy: [SortDescriptor(\.number)]))
        #expect(stored.map(\.number) == Array(0..<25) && stored.allSatisfy { $0.balance == 7 })
    }

    /// A child's value has its parent in it, which is known only once the parent has turned out to be stored.
    @Test(arguments: stores) func whatAMergeLeadsToIsMetInTheSameAttempt(_ kind: String) throws {
        let folder = try Folder()
        let container = try container(kind, folder)
        let context = ModelContext(container)
        func insertAll(_ amount: Int) {
            for number in 0..<3 {
                let account = Account(number, amount)
                context.insert(account)
                for day in 0..<3 { context.insert(Statement(account, day, amount)) }
            }
        }
        insertAll(1)
        try context.save()
        let outcome = try context.transaction(retrying: 0) { insertAll(2) }
        #expect(outcome.attempts == (StoreKinds.versioned.contains(kind) ? 1 : 2))
        let stored = try ModelContext(container).fetch(FetchDescriptor<Statement>())
        #expect(stored.count == 9 && stored.allSatisfy { $0.amount == 2 })
    }

    /// Only what may have been there at first is free: the next to take a value is a conflict that counts.
    @Test(arguments: stores) func aRivalIsCountedAlthoughKnownRecordsAreNot(_ kind: String) throws {
        let folder = try Folder()
        let container = try container(kind, folder)
        let (context, other) = (ModelContext(container), ModelContext(container))
        context.insert(Account(1, 0))
        try context.save()
        var runs = 0
        #expect {
            try context.transaction(retrying: 1) {
                runs += 1
                context.insert(Account(1, runs))
                context.insert(Account(100 + runs, 0))
                other.insert(Account(100 + runs, 1))
                try other.save()
            }
        } throws: {
            if case ModelContextError.notUnique = $0 { true } else { false }
        }
        #expect(runs == (StoreKinds.versioned.contains(kind) ? 2 : 3) && !context.hasChanges)
    }

    @Test(arguments: StoreKinds.versioned) func whatOthersHaveDeletedIsNoCounter(_ kind: String) throws {
        let folder = try Folder()
        let container = try container(kind, folder)
        let (context, other) = (ModelContext(container), ModelContext(container))
        context.insert(Account(1, 2))
        try context.save()
        let mine = try onlyModel(Account.self, in: context)
        let identifier = mine.persistentModelID
        var runs = 0
        #expect(throws: ModelContextError.noSuchModel(identifier)) {
            try context.transaction(retrying: 5) {
                runs += 1
                mine.balance += 1
                other.delete(try onlyModel(Account.self, in: other))
                try other.save()
            }
        }
        #expect(runs == 1 && !context.hasChanges)
    }

    @Test func theContainersPolicyIsThatOfItsContexts() async throws {
        let container = try memory(Account.self)
        #expect(ModelContext(container).mergePolicy == .propertyWise)
        container.mergePolicy = .error
        #expect(ModelContext(container).mergePolicy == .error)
        #expect(await Teller(modelContainer: container).policy == .error)
    }
}

@ModelActor private actor Teller {
    var policy: MergePolicy { modelContext.mergePolicy }
}
