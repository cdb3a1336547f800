import Foundation
import Mortise
import Testing

/// What two contexts do to relationships that share one inverse, which is stored beside them: what the later one has set
/// holds on both sides.
///
/// Bugs: the other side was left as the earlier one had set it, and a cascade of one owner took the other owner's model.
@Suite struct SharedInverseMergeTests {
    @Test(arguments: StoreKind.allCases) func aToOneSetLaterHoldsOnBothSides(kind: StoreKind) throws {
        let folder = try Folder()
        let container = try ModelContainer(
            for: Shared.Hive.self, store: kind == .memory ? "memory:" : "\(kind):\(folder.path("hives.\(kind)"))")
        let (here, there) = (ModelContext(container), ModelContext(container))
        let (old, new, bee) = (Shared.Hive("a"), Shared.Hive("b"), Shared.Bee("bee"))
        for hive in [old, new] { there.insert(hive) }
        old.workers = [bee]
        try there.save()
        let hives = try here.fetch(FetchDescriptor<Shared.Hive>(sortBy: [SortDescriptor(\.name)]))
        hives[0].queen = hives[0].workers.first
        #expect(hives[0].queen?.name == "bee")
        new.workers.append(bee)
        try there.save()
        try here.save()
        let stored = ModelContext(container)
        let found = try stored.fetch(FetchDescriptor<Shared.Hive>(sortBy: [SortDescriptor(\.name)]))
        #expect(found[0].queen?.hive === found[0] && found[1].workers.isEmpty)
        stored.delete(found[1])
        try stored.save()
        #expect(try ModelContext(container).fetchCount(FetchDescriptor<Shared.Bee>()) == 1)
    }

    private typealias Change<Owner, Member> = (
        name: String, make: (_ context: ModelContext, _ one: Owner, _ two: Owner, _ member: Member) -> Void
    )

    @Test func whateverTwoContextsDoToListAndToOneBothSidesAgree() throws {
        let changes: [Change<Shared.Hive, Shared.Bee>] = [
            ("none", { _, _, _, _ in }),
            (
                "bee.hive = nil",
                {
                    $3.hive = nil; _ = ($0, $1, $2)
                }
            ),
            (
                "bee.hive = one",
                {
                    $3.hive = $1; _ = ($0, $2)
                }
            ),
            (
                "bee.hive = two",
                {
                    $3.hive = $2; _ = ($0, $1)
                }
            ),
            (
                "one.workers = [bee]",
                {
                    $1.workers = [$3]; _ = ($0, $2)
                }
            ),
            (
                "one.workers = []",
                {
                    $1.workers = []; _ = ($0, $2, $3)
                }
            ),
            (
                "two.workers = [bee]",
                {
                    $2.workers = [$3]; _ = ($0, $1)
                }
            ),
            (
                "one.queen = bee",
                {
                    $1.queen = $3; _ = ($0, $2)
                }
            ),
            (
                "one.queen = nil",
                {
                    $1.queen = nil; _ = ($0, $2, $3)
                }
            ),
            (
                "two.queen = bee",
                {
                    $2.queen = $3; _ = ($0, $1)
                }
            ),
            (
                "delete one",
                {
                    $0.delete($1); _ = ($2, $3)
                }
            ),
            (
                "delete bee",
                {
                    $0.delete($3); _ = ($1, $2)
                }
            ),
        ]
        let contradictions = try contradictions(changes, Shared.Hive.init, Shared.Bee.init) { hives, _ in
            for hive in hives {
                if hive.workers.contains(where: { $0.hive !== hive }) || hive.workers.count > 1 { return true }
                if let queen = hive.queen, queen.hive !== hive { return true }
            }
            return false
        }
        #expect(contradictions.isEmpty, "\(contradictions.count): \(contradictions.prefix(5))")
    }

    @Test func whateverTwoContextsDoToTwoToOnesBothSidesAgree() throws {
        let changes: [Change<Shared.Team, Shared.Match>] = [
            ("none", { _, _, _, _ in }),
            (
                "home = one",
                {
                    $3.home = $1; _ = ($0, $2)
                }
            ),
            (
                "home = two",
                {
                    $3.home = $2; _ = ($0, $1)
                }
            ),
            (
                "home = nil",
                {
                    $3.home = nil; _ = ($0, $1, $2)
                }
            ),
            (
                "away = one",
                {
                    $3.away = $1; _ = ($0, $2)
                }
            ),
            (
                "away = two",
                {
                    $3.away = $2; _ = ($0, $1)
                }
            ),
            (
                "away = nil",
                {
                    $3.away = nil; _ = ($0, $1, $2)
                }
            ),
            (
                "one.matches = []",
                {
                    $1.matches = []; _ = ($0, $2, $3)
                }
            ),
            (
                "one.matches += [match]",
                {
                    $1.matches.append($3); _ = ($0, $2)
                }
            ),
            (
                "delete one",
                {
                    $0.delete($1); _ = ($2, $3)
                }
            ),
        ]
        let contradictions = try contradictions(changes, Shared.Team.init, Shared.Match.init) { teams, matches in
            if teams.contains(where: { $0.matches.count > 1 }) { return true }
            return matches.contains { match in
                [match.home, match.away].contains { team in team.map { !$0.matches.contains(match) } ?? false }
            }
        }
        #expect(contradictions.isEmpty, "\(contradictions.count): \(contradictions.prefix(5))")
    }

    /// What is stored in contradiction, or differs from what the later context shows, once two contexts have made each pair
    /// of changes after each that is saved before.
    private func contradictions<Owner: PersistentModel, Member: PersistentModel>(
        _ changes: [Change<Owner, Member>], _ owner: (String) -> Owner, _ member: (String) -> Member,
        where isWrong: ([Owner], [Member]) -> Bool
    ) throws -> [String] {
        var found: [String] = []
        func records(_ context: ModelContext) throws -> ([Owner], [Member]) {
            (
                try context.fetch(FetchDescriptor<Owner>()).sorted { $0.persistentModelID < $1.persistentModelID },
                try context.fetch(FetchDescriptor<Member>())
            )
        }
        for before in changes {
            for theirs in changes {
                for ours in changes {
                    let container = try memory(Owner.self, Member.self)
                    let (there, here) = (ModelContext(container), ModelContext(container))
                    let (one, two, only) = (owner("one"), owner("two"), member("only"))
                    for model in [one, two] { there.insert(model) }
                    there.insert(only)
                    try there.save()
                    before.make(there, one, two, only)
                    try there.save()
                    let (owners, members) = try records(here)
                    guard owners.count == 2, members.count == 1 else { continue }
                    theirs.make(there, one, two, only)
                    ours.make(here, owners[0], owners[1], members[0])
                    try there.save()
                    do { try here.save() } catch ModelContextError.noSuchModel { continue }
                    for context in [ModelContext(container), here] {
                        let (owners, members) = try records(context)
                        if isWrong(owners, members) { found.append("\(before.name) | \(theirs.name) | \(ours.name)") }
                    }
                }
            }
        }
        return found
    }
}
