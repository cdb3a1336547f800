import CustomStore
import Foundation
import Mortise
import Testing

/// What becomes of a new model whose unique values another one has is chosen by name.
@Suite struct UniqueConflictTests {
    private let folder: Folder

    init() throws { folder = try Folder() }

    private func container(_ kind: String) throws -> ModelContainer { try BillStores.container(kind, folder) }

    private func imported(_ amounts: [Int], tags: [String], stamp: String, note: String) -> Bill {
        let bill = Bill(1, note)
        bill.lines = amounts.map { BillLine($0) }
        bill.tags = tags.map { BillTag($0) }
        bill.stamp = BillStamp(stamp)
        return bill
    }

    /// The stored record, or one that waits for the same save.
    @Test(arguments: BillStores.all, [false, true])
    func importingAgainWithFewerChildren(_ kind: String, isPending: Bool) throws {
        let expected: [(UniqueConflictPolicy, [String])] = [
            (
                .update,
                [
                    "1 new [3, 5, 7] second [\"a\", \"b\", \"c\"] -", "line 3 1", "line 5 1", "line 7 1",
                    "stamp first -1", "stamp second 1", "tag a - [1]", "tag b - [1]", "tag c - [1]",
                ]
            ),
            (
                .replace,
                [
                    "1 new [3] second [\"b\", \"c\"] -", "line 3 1", "stamp second 1", "tag a - []", "tag b - [1]",
                    "tag c - [1]",
                ]
            ),
            (
                .keep,
                [
                    "1 old [5, 7] first [\"a\", \"b\"] -", "line 5 1", "line 7 1", "stamp first 1", "tag a - [1]",
                    "tag b - [1]", "tag c - []",
                ]
            ),
        ]
        for (policy, contents) in expected {
            let folder = try Folder()
            let container = try BillStores.container(kind, folder)
            let context = ModelContext(container)
            let old = imported([5, 7], tags: ["a", "b"], stamp: "first", note: "old")
            context.insert(old)
            if !isPending { try context.save() }
            let new = imported([3], tags: ["b", "c"], stamp: "second", note: "new")
            context.insert(new, onConflict: policy)
            try context.save()
            #expect(try BillStores.contents(container) == contents, "\(policy)")
            #expect(new.persistentModelID == old.persistentModelID && new.modelContext == nil && !old.isDeleted)
            #expect(!context.hasChanges)
            // Nothing is left that another save would write.
            try context.save()
            #expect(try BillStores.contents(container) == contents, "\(policy)")
            try container.close()
        }
    }

    @Test(arguments: BillStores.all, [false, true])
    func aNewcomerThatMustNotExistFailsAndCanBeCorrected(_ kind: String, isPending: Bool) throws {
        let container = try container(kind)
        let context = ModelContext(container)
        let old = Bill(7, "old", branch: "north", code: 1)
        context.insert(old)
        if !isPending { try context.save() }
        let new = Bill(8, "new", branch: "north", code: 1)
        new.lines = [BillLine(1)]
        context.insert(new, onConflict: .fail)
        for _ in 0..<2 {
            #expect(
                throws: ModelContextError.notUnique(
                    entity: "Bill", properties: ["branch", "code"], values: [.string("north"), .integer(1)],
                    model: new.persistentModelID, other: old.persistentModelID)
            ) { try context.save() }
            #expect(context.hasChanges && new.modelContext === context && new.lines.count == 1 && old.note == "old")
        }
        do { try context.save() } catch {
            #expect("\(error)".contains("branch \"north\"") || "\(error)".contains("branch north"), "\(error)")
            #expect((error as? any ClassifiedStoreError)?.errorClass == .conflict)
        }
        // Nil in a part is no value.
        new.code = nil
        try context.save()
        #expect(
            try BillStores.contents(container) == ["7 old [] - [] -", "8 new [1] - [] -", "line 1 8"])
        // Another policy will do as well.
        let third = Bill(8, "third")
        context.insert(third, onConflict: .fail)
        #expect(throws: ModelContextError.self) { try context.save() }
        context.insert(third, onConflict: .keep)
        try context.save()
        #expect(third.persistentModelID == new.persistentModelID && new.note == "new")
        let fourth = Bill(8, "fourth")
        context.insert(fourth, onConflict: .fail)
        context.delete(fourth)
        try context.save()
        #expect(!context.hasChanges)
    }

    @Test(arguments: BillStores.all, UniqueConflictPolicy.allCases)
    func oneThatConflictsWithSeveralFailsUnderEveryPolicy(_ kind: String, _ policy: UniqueConflictPolicy) throws {
        let container = try container(kind)
        let context = ModelContext(container)
        for bill in [Bill(1, "one"), Bill(2, "two", branch: "north", code: 1)] { context.insert(bill) }
        try context.save()
        let before = try BillStores.contents(container)
        let new = Bill(1, "both", branch: "north", code: 1)
        context.insert(new, onConflict: policy)
        #expect {
            try context.save()
        } throws: {
            if case ModelContextError.notUnique("Bill", _, _, _, _) = $0 { true } else { false }
        }
        #expect(try BillStores.contents(container) == before)
        new.branch = nil
        new.number = 3
        try context.save()
        #expect(try BillStores.contents(container) == before + ["3 both [] - [] -"])
    }

    @Test(arguments: BillStores.all, UniqueConflictPolicy.allCases)
    func aStoredModelThatGetsAnothersValuesFailsUnderEveryPolicy(_ kind: String, _ policy: UniqueConflictPolicy) throws
    {
        let container = try container(kind)
        container.uniqueConflictPolicy = policy
        let context = ModelContext(container)
        let (one, two) = (Bill(1), Bill(2))
        for bill in [one, two] { context.insert(bill) }
        try context.save()
        two.number = 1
        #expect(
            throws: ModelContextError.notUnique(
                entity: "Bill", properties: ["number"], values: [.integer(1)], model: two.persistentModelID,
                other: one.persistentModelID)
        ) { try context.save() }
        two.number = 3
        try context.save()
        // A value that a change makes free is free, and one that a change takes is taken.
        two.number = 4
        context.insert(Bill(3, "free"))
        let taken = Bill(4, "taken")
        context.insert(taken)
        if policy == .fail {
            #expect(throws: ModelContextError.self) { try context.save() }
            context.delete(taken)
        }
        try context.save()
        let note = policy == .update || policy == .replace ? "taken" : "-"
        #expect(
            try BillStores.contents(container)
                == ["1 - [] - [] -", "3 free [] - [] -", "4 \(note) [] - [] -"])
    }

    @Test(arguments: BillStores.all) func whatWasSetInOthersLeadsToTheSurvivor(_ kind: String) throws {
        for policy in [UniqueConflictPolicy.update, .replace, .keep] {
            let folder = try Folder()
            let container = try BillStores.container(kind, folder)
            let context = ModelContext(container)
            let (bill, payer, tag) = (Bill(1), BillPayer("a@b", "Ada"), BillTag("red", "#f00"))
            bill.payer = payer
            bill.tags = [tag]
            context.insert(bill)
            try context.save()
            let (new, line) = (Bill(2), BillLine(9))
            new.payer = BillPayer("a@b")
            new.tags = [BillTag("red")]
            // Of a bill that is there already.
            line.bill = Bill(1)
            context.insert(new, onConflict: policy)
            context.insert(line, onConflict: policy)
            try context.save()
            let isKept = policy == .keep
            #expect(
                try BillStores.contents(container) == [
                    "1 - [9] - [\"red\"] a@b", "2 - [] - [\"red\"] a@b", "line 9 1",
                    "tag red \(isKept ? "#f00" : "-") [1, 2]", "payer a@b \(isKept ? "Ada" : "-") [1, 2]",
                ], "\(policy)")
            #expect(new.payer === payer && new.tags.first === tag && line.bill === bill)
        }
    }

    @Test(arguments: BillStores.all) func anEmptyListReplacesIfItWasSetByName(_ kind: String) throws {
        let container = try container(kind)
        let context = ModelContext(container)
        context.insert(imported([5, 7], tags: ["a"], stamp: "first", note: "old"))
        try context.save()
        let before = try BillStores.contents(container)
        context.insert(Bill(1, "old"), onConflict: .replace)
        try context.save()
        #expect(try BillStores.contents(container) == before, "it has said nothing of them")
        let empty = Bill(1, "empty")
        (empty.lines, empty.stamp) = ([], nil)
        context.insert(empty, onConflict: .replace)
        try context.save()
        #expect(try BillStores.contents(container) == ["1 empty [] - [\"a\"] -", "tag a - [1]"])
    }

    /// What joins a list that was left empty, or takes a model over, was not set in that.
    @Test(arguments: BillStores.all) func aListThatOthersJoinedIsNoListThatWasSet(_ kind: String) throws {
        let container = try container(kind)
        let context = ModelContext(container)
        let (bill, other) = (Bill(1), Bill(3))
        bill.tags = [BillTag("red")]
        for bill in [bill, other] { context.insert(bill) }
        try context.save()
        let (new, tag, line) = (Bill(2), BillTag("red"), BillLine(4))
        tag.bills = []
        new.tags = [tag]
        // The bill that has it last counts.
        line.bill = Bill(3)
        let last = Bill(3)
        last.lines = [line]
        context.insert(new, onConflict: .replace)
        context.insert(last, onConflict: .keep)
        try context.save()
        #expect(
            try BillStores.contents(container) == [
                "1 - [] - [\"red\"] -", "2 - [] - [\"red\"] -", "3 - [] - [] -", "tag red - [1, 2]",
            ])
    }

    /// A child with a unique value of its own keeps its record, and one that has found another owner stays.
    @Test(arguments: BillStores.all) func whatIsNamedAgainIsNotDeleted(_ kind: String) throws {
        let container = try container(kind)
        let context = ModelContext(container)
        let (bill, other) = (Bill(1), Bill(2))
        bill.lines = [BillLine(5, key: "x"), BillLine(6, key: "y"), BillLine(7, key: "z"), BillLine(8)]
        for bill in [bill, other] { context.insert(bill) }
        try context.save()
        let stored = Dictionary(bill.lines.map { ($0.amount, $0) }, uniquingKeysWith: { first, _ in first })
        let new = Bill(1)
        new.lines = [BillLine(50, key: "x")]
        context.insert(new, onConflict: .replace)
        stored[6]?.bill = other
        context.insert(BillLine(70, key: "z"))
        try context.save()
        #expect(
            try BillStores.contents(container) == [
                "1 - [50] - [] -", "2 - [6] - [] -", "line 50 1", "line 6 2", "line 70 -1",
            ])
        #expect(stored[5]?.amount == 50 && stored[8]?.isDeleted == true)
    }

    /// The value of what falls out is free in the same save.
    @Test(arguments: BillStores.all) func whatFallsOutFreesItsValues(_ kind: String) throws {
        let container = try container(kind)
        let context = ModelContext(container)
        let bill = Bill(1)
        bill.lines = [BillLine(5, key: "x")]
        context.insert(bill)
        try context.save()
        let new = Bill(1)
        new.lines = []
        context.insert(new, onConflict: .replace)
        context.insert(BillLine(6, key: "x"), onConflict: .fail)
        try context.save()
        #expect(try BillStores.contents(container) == ["1 - [] - [] -", "line 6 -1"])
    }

    @Test(arguments: BillStores.all) func whatAKeptNewcomerClaimedStaysWhereItWas(_ kind: String) throws {
        let container = try container(kind)
        let context = ModelContext(container)
        let (one, two, three) = (Bill(1), Bill(2), BillLine(3))
        two.lines = [BillLine(2)]
        two.stamp = BillStamp("two")
        for bill in [one, two] { context.insert(bill) }
        context.insert(three)
        try context.save()
        let before = try BillStores.contents(container)
        let new = Bill(1)
        new.lines = two.lines + [three]
        new.stamp = two.stamp
        context.insert(new, onConflict: .keep)
        try context.save()
        #expect(try BillStores.contents(container) == before)
        #expect(two.lines.count == 1 && two.stamp?.text == "two" && three.bill == nil)
    }

    @Test func theDefaultIsTheContainersAndEachContextMayHaveItsOwn() async throws {
        let container = try container("memory")
        let before = ModelContext(container)
        container.uniqueConflictPolicy = .keep
        let context = ModelContext(container)
        #expect(before.uniqueConflictPolicy == .update && context.uniqueConflictPolicy == .keep)
        context.insert(Bill(1, "first"))
        try context.save()
        let actor = BillActor(modelContainer: container)
        try await actor.insert(1, "actor")
        #expect(try BillStores.contents(container) == ["1 first [] - [] -"])
        before.insert(Bill(1, "before"))
        try before.save()
        #expect(try BillStores.contents(container) == ["1 before [] - [] -"])
        context.uniqueConflictPolicy = .fail
        let new = Bill(1, "new")
        context.insert(new)
        #expect(throws: ModelContextError.self) { try context.save() }
        // It is asked at the save.
        context.uniqueConflictPolicy = .replace
        try context.save()
        #expect(try BillStores.contents(container) == ["1 new [] - [] -"])
        // What was said of an insertion that was dropped is forgotten.
        context.uniqueConflictPolicy = .update
        let again = Bill(1, "again")
        context.insert(again, onConflict: .fail)
        context.rollback()
        context.insert(again)
        try context.save()
        #expect(try BillStores.contents(container) == ["1 again [] - [] -"])
    }

    @Test(arguments: BillStores.all) func theOlderOneOfTwoThatWaitFollowsItsOwnPolicy(_ kind: String) throws {
        let container = try container(kind)
        let context = ModelContext(container)
        context.insert(Bill(1, "stored"))
        try context.save()
        let (kept, updating) = (Bill(1, "kept"), Bill(1, "updating"))
        context.insert(kept, onConflict: .keep)
        context.insert(updating, onConflict: .update)
        try context.save()
        #expect(try BillStores.contents(container) == ["1 updating [] - [] -"])
        #expect(kept.persistentModelID == updating.persistentModelID && kept.note == "kept")
    }

    @Test(arguments: ["json", "log"], UniqueConflictPolicy.allCases)
    func aSaveThatComesInBetweenCounts(_ kind: String, _ policy: UniqueConflictPolicy) throws {
        func open() throws -> ModelContainer {
            ValueTransformer.setValueTransformer(StaffRacing(), forName: NSValueTransformerName("StaffRacing"))
            return try ModelContainer(
                for: Bill.self, Racer.self, store: "\(kind):\(folder.path("race.\(kind)"))")
        }
        let (container, beside) = (try open(), try open())
        let context = ModelContext(container)
        let count = Tally()
        let race: @Sendable () -> Void = {
            count.add()
            guard count.count == 1 else { return }
            let context = ModelContext(beside)
            let bill = Bill(1, "beside")
            bill.lines = [BillLine(1)]
            context.insert(bill)
            #expect(throws: Never.self) { try context.save() }
        }
        let new = Bill(1, "here")
        new.lines = [BillLine(2)]
        context.insert(new, onConflict: policy)
        context.insert(Racer(["a"]))
        let result = Result { try StaffRacing.$race.withValue(race) { try context.save() } }
        #expect(count.count > 0)
        let expected: [String] =
            switch policy {
            case .update: ["1 here [1, 2] - [] -", "line 1 1", "line 2 1"]
            case .replace: ["1 here [2] - [] -", "line 2 1"]
            case .keep, .fail: ["1 beside [1] - [] -", "line 1 1"]
            }
        #expect(try BillStores.contents(container) == expected)
        if policy == .fail {
            #expect(throws: ModelContextError.self) { try result.get() }
            new.number = 2
            try context.save()
            #expect(
                try BillStores.contents(container) == expected.prefix(1) + [
                    "2 here [2] - [] -", "line 1 1", "line 2 2",
                ])
        } else {
            #expect(throws: Never.self) { try result.get() }
        }
    }

    @Test(arguments: BillStores.all, [false, true]) func batches(_ kind: String, hasChanges: Bool) throws {
        for policy in UniqueConflictPolicy.allCases {
            let folder = try Folder()
            let container = try BillStores.container(kind, folder)
            let context = ModelContext(container)
            let (bill, tags) = (Bill(1, "old"), ["a", "b"].map { BillTag($0) })
            bill.tags = [tags[0]]
            context.insert(bill)
            for tag in tags { context.insert(tag) }
            try context.save()
            if hasChanges { context.insert(BillPayer("x")) }
            let insert = {
                let made = try context.insert(Bill.self, from: [1, 2, 2], onConflict: policy) { record, number in
                    try record.set(\.number, to: number)
                    try record.set(\.note, to: "new")
                    try record.set(\.tags, to: [tags[1]])
                }
                try context.save()
                return made
            }
            let rest = ["tag a", "tag b"]
            let payers = hasChanges ? ["payer x - []"] : []
            guard policy != .fail else {
                #expect {
                    try insert()
                } throws: {
                    if case ModelContextError.notUnique("Bill", ["number"], let values, _, let other) = $0 {
                        values == [.integer(1)] && other == bill.persistentModelID
                            || values == [.integer(2)]
                    } else {
                        false
                    }
                }
                #expect(try BillStores.contents(container).first == "1 old [] - [\"a\"] -")
                continue
            }
            let made = try insert()
            if !hasChanges {
                #expect(made.first == bill.persistentModelID && made[1] == made[2] && made[0] != made[1])
            }
            let (first, a, b) =
                switch policy {
                case .update: ("1 new [] - [\"a\", \"b\"] -", " - [1]", " - [1, 2]")
                case .replace: ("1 new [] - [\"b\"] -", " - []", " - [1, 2]")
                default: ("1 old [] - [\"a\"] -", " - [1]", " - [2]")
                }
            #expect(
                try BillStores.contents(container)
                    == [first, "2 new [] - [\"b\"] -", rest[0] + a, rest[1] + b] + payers, "\(policy)")
        }
    }

    @Test(arguments: ["memory", "json", "log"]) func subclasses(_ kind: String) throws {
        func open() throws -> (ModelContext, Medal, GoldMedal) {
            let context = ModelContext(
                try ModelContainer(
                    for: Medal.self, GoldMedal.self,
                    store: kind == "memory" ? "memory:\(UUID())" : "\(kind):\(folder.path("\(UUID()).\(kind)"))"))
            let (medal, gold) = (Medal(number: 1, holder: "Ada"), GoldMedal(number: 2, holder: "Bea"))
            context.insert(medal)
            context.insert(gold)
            try context.save()
            return (context, medal, gold)
        }
        for policy in UniqueConflictPolicy.allCases {
            let (context, medal, gold) = try open()
            let same = GoldMedal(number: 2, holder: "x")
            context.insert(same, onConflict: policy)
            if policy == .fail {
                #expect(throws: ModelContextError.self) { try context.save() }
                context.rollback()
            } else {
                try context.save()
                #expect(gold.holder == (policy == .keep ? "Bea" : "x"))
            }
            // A gold medal is a medal, and not the other way round.
            let general = Medal(number: 2, holder: "y")
            context.insert(general, onConflict: policy)
            if policy != .fail {
                try context.save()
                #expect(general.persistentModelID == gold.persistentModelID)
                #expect(gold.holder == (policy == .keep ? "Bea" : "y"))
            } else {
                #expect(throws: ModelContextError.self) { try context.save() }
                context.rollback()
            }
            context.insert(GoldMedal(number: 1, holder: "z"), onConflict: policy)
            #expect(throws: ModelContextError.self) { try context.save() }
            context.rollback()
            #expect(medal.holder == "Ada")
        }
    }

    /// A required owner: what cannot be without the newcomer goes with it.
    @Test(arguments: ["memory", "json", "log"]) func whatRequiresAKeptNewcomerGoesWithIt(_ kind: String) throws {
        let context = ModelContext(
            try ModelContainer(
                for: BillShelf.self, BillBook.self,
                store: kind == "memory" ? "memory:\(UUID())" : "\(kind):\(folder.path("s.\(kind)"))"))
        let shelf = BillShelf("A")
        context.insert(shelf)
        try context.save()
        for policy in [UniqueConflictPolicy.keep, .update] {
            let new = BillShelf("A")
            new.books = [BillBook("\(policy)", new)]
            context.insert(new, onConflict: policy)
            try context.save()
            #expect(shelf.books.map(\.title) == (policy == .keep ? [] : ["update"]))
        }
        // It names its shelf itself.
        context.insert(BillBook("named", BillShelf("A")), onConflict: .keep)
        try context.save()
        #expect(shelf.books.map(\.title).sorted() == ["named", "update"])
    }

    @Test(arguments: BillStores.all) func aTransactionThatIsRepeatedTakesThePolicyIntoAccount(_ kind: String) throws {
        let container = try container(kind)
        let (context, other) = (ModelContext(container), ModelContext(container))
        for policy in UniqueConflictPolicy.allCases {
            let number = policy.hashValue & 0xFFFF_FFFF
            var runs = 0
            let result = Result {
                try context.transaction(retrying: 3) {
                    runs += 1
                    context.insert(Bill(number, "here"), onConflict: policy)
                    if runs == 1 {
                        other.insert(Bill(number, "there"))
                        try other.save()
                    }
                }
            }
            let stored = try #require(try ModelContext(container).first(Bill.self, where: \.number, is: number as Int?))
            switch policy {
            case .update, .replace: #expect(stored.note == "here" && runs == 2)
            case .keep: #expect(stored.note == "there" && runs == 1)
            case .fail:
                #expect(stored.note == "there")
                #expect(throws: ModelContextError.self) { try result.get() }
            }
            #expect(!context.hasChanges)
        }
    }
}
