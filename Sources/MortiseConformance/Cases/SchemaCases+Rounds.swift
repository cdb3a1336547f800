import Foundation
import MortiseCore

/// Second looks at a storage that programs of several versions open in turn, and at plans.
extension ConformanceCase {
    private static func schema(
        _ id: String, _ requirement: String, hint: String, body: @escaping @Sendable (CaseContext) throws -> Void
    ) -> ConformanceCase {
        ConformanceCase(
            "schema.\(id)", level: .full, capability: .reopening, requirement: requirement, hint: hint, body: body)
    }

    static let schemaRoundCases: [ConformanceCase] = [
        schema(
            "relationships-gone-and-saved",
            "Records and relationships of entities that the schema lacks outlive batches and saves under that schema, unless the "
                + "store says that it drops them.",
            hint:
                "What is written is what the schema names. Keep the rest, or say in schemaLoss what the next save drops."
        ) { c in
            let whole = Schema([Person.self, Team.self, Project.self, Badge.self, Receipt.self])
            try c.under(whole, "insert a team of two people with projects and badges, save") { context in
                let (team, project) = (Team("team"), Project("project"))
                context.insert(team)
                context.insert(project)
                for (number, name) in zip(1..., ["Ada", "Bob"]) {
                    let person = Person(name, age: number, team: team)
                    context.insert(person)
                    person.badge = Badge(number)
                    person.projects = [project]
                }
                context.insert(Receipt("first", total: 1))
                try context.save()
            }
            var isTold = false
            let smaller = Schema([Receipt.self])
            for round in 2...3 {
                _ = try c.tryUnder(smaller, refusingFor: ["Person", "Team", "Project", "Badge"]) { context in
                    isTold = isTold || c.tellsLoss(context.container)
                    c.note("under the smaller schema: delete all receipts in a batch and insert one, round \(round)")
                    try context.delete(model: Receipt.self)
                    context.insert(Receipt("round \(round)", total: round))
                    try context.save()
                }
            }
            if isTold { return c.note("the store says in schemaLoss that it drops something") }
            try c.under(whole, "open for the first schema again") { context in
                let people = try context.fetch(FetchDescriptor<Person>())
                try c.expect(
                    people.map { "\($0.name) \($0.team?.name ?? "-") \($0.badge?.number ?? 0)" },
                    is: ["Ada team 1", "Bob team 2"], "people, their team and badges:")
                try c.expect(
                    try context.fetch(FetchDescriptor<Team>()).map { $0.members.count }, is: [2],
                    "members of the team:")
                try c.expect(
                    try context.fetch(FetchDescriptor<Project>()).map { $0.people.count }, is: [2],
                    "people of the project:")
                try c.expect(try context.fetchCount(FetchDescriptor<Receipt>()), is: 1, "receipts:")
            }
        },
        schema(
            "new-entity-in-place-of-another",
            "An entity that has come in place of another is empty, takes records of its own, and shows none of the other's.",
            hint: "Entities are matched by their place or by what properties they have."
        ) { c in
            let (first, second) = (
                Schema([Leading.Holder.self, Receipt.self]), Schema([Leading.Label.self, Receipt.self])
            )
            try c.under(first, "insert two holders and a receipt, save") { context in
                for name in ["h1", "h2"] { context.insert(Leading.Holder(name)) }
                context.insert(Receipt("kept", total: 7))
                try context.save()
            }
            let isTaken = try c.tryUnder(second, refusingFor: ["Holder", "Label"]) { context in
                try c.expect(
                    try context.fetchCount(FetchDescriptor<Leading.Label>()), is: 0, "records of the new entity:")
                context.insert(Leading.Label("l1"))
                try context.save()
                try c.expect(
                    try context.fetch(FetchDescriptor<Leading.Label>()).map(\.name), is: ["l1"],
                    "names in the new entity:")
                try c.expect(try context.fetch(FetchDescriptor<Receipt>()).map(\.code), is: ["kept"], "codes:")
            }
            if !isTaken {
                try c.under(first, "open for the first schema again") { context in
                    try c.expect(
                        try context.fetch(FetchDescriptor<Leading.Holder>()).map(\.name), is: ["h1", "h2"],
                        "names in the first entity:")
                }
            }
        },
        schema(
            "back-and-forth",
            "Two programs that open a storage in turn, and save each time, see each other's changes, or one is refused.",
            hint:
                "Records are shown as they were when that schema was last open, or what the other program has saved is dropped."
        ) { c in
            let (older, newer) = (Schema([Badge.self]), Schema([OtherBadges.Extended.Badge.self]))
            try c.under(older, "insert a badge under the older schema, save") { context in
                context.insert(Badge(1))
                try context.save()
            }
            var numbers = [1]
            for round in 1...2 {
                let isNewer = try c.tryUnder(newer, refusingFor: ["Badge", "colour"]) { context in
                    let found = try context.fetch(FetchDescriptor<OtherBadges.Extended.Badge>())
                    try c.expect(found.map(\.number), is: numbers, "numbers under the newer schema, round \(round):")
                    found.first?.number += 10
                    context.insert(OtherBadges.Extended.Badge(100 + round))
                    try context.save()
                    numbers[0] += 10
                    numbers.append(100 + round)
                }
                let isOlder = try c.tryUnder(older, refusingFor: ["Badge", "colour"]) { context in
                    let found = try context.fetch(FetchDescriptor<Badge>())
                    try c.expect(found.map(\.number), is: numbers, "numbers under the older schema, round \(round):")
                    found.first?.number += 10
                    try context.save()
                    numbers[0] += 10
                }
                if !isNewer || !isOlder { break }
            }
        },
        schema(
            "older-program-that-changes",
            "What an older program changes and deletes in a storage of a newer version is so for the newer one, or it is refused.",
            hint: "The older program writes the records without what it does not know, or shows its own state."
        ) { c in
            let newer = Schema(versionedSchema: Memos.Version3.self)
            try c.under(newer, "insert three memos in version 3, save") { context in
                for text in ["a", "bb", "ccc"] {
                    let memo = Memos.Version3.Memo(text)
                    (memo.length, memo.mark) = (text.count, "mark \(text)")
                    context.insert(memo)
                }
                try context.save()
            }
            var texts = ["a", "bb", "ccc"]
            for version in [Memos.Version1.self, Memos.Version2.self] as [any VersionedSchema.Type] {
                do {
                    try c.under(Schema(versionedSchema: version), "change a memo with a program of \(version)") {
                        context in
                        if version == Memos.Version1.self {
                            try context.fetch(FetchDescriptor<Memos.Version1.Memo>()).last?.text = "changed"
                            try context.save()
                            texts[2] = "changed"
                        } else {
                            let found = try context.fetch(FetchDescriptor<Memos.Version2.Memo>())
                            if let first = found.first { context.delete(first) }
                            try context.save()
                            texts.removeFirst()
                        }
                    }
                } catch let failure as ConformanceFailure {
                    throw failure
                } catch {
                    c.note("→ \(type(of: error)): \(error)")
                }
            }
            try c.under(newer, "open with the newer program") { context in
                let found = try context.fetch(FetchDescriptor<Memos.Version3.Memo>())
                try c.expect(found.map(\.text), is: texts, "texts:")
                try c.expect(
                    found.map { "\($0.length ?? 0) \($0.mark ?? "-")" },
                    is: ["1 mark a", "2 mark bb", "3 mark ccc"].suffix(texts.count), "lengths and marks of version 3:")
            }
        },
        schema(
            "plan-that-fails-later",
            "A plan whose second stage fails leaves the storage as before the first; the whole plan then runs in its order.",
            hint: "Each stage is kept when it is done, its failure passed over, or stages are run in another order."
        ) { c in
            let (first, third) = (
                Schema(versionedSchema: Memos.Version1.self), Schema(versionedSchema: Memos.Version3.self)
            )
            try c.under(first, "insert two memos in version 1, save") { context in
                for text in ["a", "bb"] { context.insert(Memos.Version1.Memo(text)) }
                try context.save()
            }
            for _ in 0..<2 {
                try c.expectError("the error of the second stage, or a refusal of the plan") {
                    try c.open(for: third, plan: Memos.PlanThatFailsLater.self).close()
                }
                try c.under(first, "open for version 1, without a plan") { context in
                    try c.expect(
                        try context.fetch(FetchDescriptor<Memos.Version1.Memo>()).map(\.text), is: ["a", "bb"],
                        "texts, which no failed plan may change:")
                }
            }
            _ = try c.tryUnder(third, plan: Memos.Plan.self, refusingFor: ["plan", "stage"]) { context in
                let found = try context.fetch(FetchDescriptor<Memos.Version3.Memo>())
                try c.expect(
                    found.map { "\($0.text) \($0.length ?? 0) \($0.mark ?? "-")" },
                    is: ["a!? 2 was 2", "bb!? 3 was 3", "made by the plan? 0 -"], "texts, lengths and marks:")
            }
        },
        schema(
            "plan-on-a-new-storage-again",
            "A storage that was new under a plan is of that version: what is saved in it no stage changes, at any later opening.",
            hint: "The stages are run where there is no version before, or the version of a new storage is not noted."
        ) { c in
            let third = Schema(versionedSchema: Memos.Version3.self)
            for texts in [[], ["new"], ["new"]] as [[String]] {
                let isTaken = try c.tryUnder(third, plan: Memos.Plan.self, refusingFor: ["plan", "stage"]) { context in
                    try c.expect(
                        try context.fetch(FetchDescriptor<Memos.Version3.Memo>()).map(\.text), is: texts, "texts:")
                    if texts.isEmpty {
                        context.insert(Memos.Version3.Memo("new"))
                        try context.save()
                    }
                }
                if !isTaken { return }
            }
        },
    ]
}

extension Memos {
    /// The first stage changes and inserts records, and the second fails.
    enum PlanThatFailsLater: SchemaMigrationPlan {
        static var schemas: [any VersionedSchema.Type] { Plan.schemas }
        static var stages: [MigrationStage] {
            Plan.stages.prefix(1) + [
                .custom(
                    fromVersion: Version2.self, toVersion: Version3.self, willMigrate: nil,
                    didMigrate: { _ in throw Failure() })
            ]
        }
    }
}
