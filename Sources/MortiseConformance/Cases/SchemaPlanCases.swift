import Foundation
import MortiseCore

extension Memos {
    /// Each stage changes what the stage before has left, so that the texts tell which ran, how often and in which order.
    enum Plan: SchemaMigrationPlan {
        static var schemas: [any VersionedSchema.Type] { [Version1.self, Version2.self, Version3.self] }
        static var stages: [MigrationStage] { [toVersion2, toVersion3] }
    }

    /// The same versions without code.
    enum LightweightPlan: SchemaMigrationPlan {
        static var schemas: [any VersionedSchema.Type] { [Version1.self, Version2.self] }
        static var stages: [MigrationStage] { [.lightweight(fromVersion: Version1.self, toVersion: Version2.self)] }
    }

    /// A stage that changes records and then fails.
    enum FailingPlan: SchemaMigrationPlan {
        static var schemas: [any VersionedSchema.Type] { [Version1.self, Version2.self] }
        static var stages: [MigrationStage] {
            [
                .custom(
                    fromVersion: Version1.self, toVersion: Version2.self,
                    willMigrate: { context in
                        for memo in try context.fetch(FetchDescriptor<Version1.Memo>()) { memo.text += "!" }
                        try context.save()
                    }, didMigrate: { _ in throw Failure() })
            ]
        }
    }

    struct Failure: Error, CustomStringConvertible {
        var description: String { "The stage of the plan fails, as it was made to." }
    }

    private static var toVersion2: MigrationStage {
        .custom(
            fromVersion: Version1.self, toVersion: Version2.self,
            willMigrate: { context in
                for memo in try context.fetch(FetchDescriptor<Version1.Memo>()) { memo.text += "!" }
                try context.save()
            },
            didMigrate: { context in
                for memo in try context.fetch(FetchDescriptor<Version2.Memo>()) { memo.length = memo.text.count }
                context.insert(Version2.Memo("made by the plan"))
                try context.save()
            })
    }

    private static var toVersion3: MigrationStage {
        .custom(
            fromVersion: Version2.self, toVersion: Version3.self, willMigrate: nil,
            didMigrate: { context in
                for memo in try context.fetch(FetchDescriptor<Version3.Memo>()) {
                    memo.text += "?"
                    memo.mark = memo.length.map { "was \($0)" }
                }
                try context.save()
            })
    }
}

extension ConformanceCase {
    /// A case about a migration plan, on a storage that holds two memos and a receipt of version 1.
    ///
    /// A store runs a stage that has code, or opening throws and everything is as it was.
    private static func plan(
        _ id: String, _ requirement: String, hint: String, body: @escaping @Sendable (CaseContext) throws -> Void
    ) -> ConformanceCase {
        ConformanceCase(
            "schema.plan-\(id)", level: .full, capability: .reopening, requirement: requirement, hint: hint, body: body)
    }

    private static func fillMemos(_ c: CaseContext) throws {
        try c.under(Schema(versionedSchema: Memos.Version1.self), "insert 2 memos and a receipt in version 1, save") {
            context in
            for text in ["a", "bb"] { context.insert(Memos.Version1.Memo(text)) }
            context.insert(Receipt("kept", total: 7))
            try context.save()
        }
    }

    private static func checkVersion1(_ c: CaseContext) throws {
        try c.under(Schema(versionedSchema: Memos.Version1.self), "open for version 1 again, without a plan") {
            context in
            try c.expect(
                try context.fetch(FetchDescriptor<Memos.Version1.Memo>()).map(\.text), is: ["a", "bb"],
                "texts, which no refused or failed plan may change:")
            try c.expect(try context.fetch(FetchDescriptor<Receipt>()).map(\.code), is: ["kept"], "codes:")
        }
    }

    private static let silenceHint = "The plan is ignored: the storage opens as if there was nothing to run."

    static let schemaPlanCases: [ConformanceCase] = [
        plan(
            "custom-stage", "A stage with code is run before and after the change, once, or refused.", hint: silenceHint
        ) { c in
            try fillMemos(c)
            let version2 = Schema(versionedSchema: Memos.Version2.self)
            func check(_ context: ModelContext) throws {
                let found = try context.fetch(FetchDescriptor<Memos.Version2.Memo>())
                try c.expect(
                    found.map(\.text), is: ["a!", "bb!", "made by the plan"],
                    "texts, to which the code before the change has added once:")
                try c.expect(
                    found.map(\.length), is: [2, 3, nil], "lengths, which the code after the change has set:")
                try c.expect(try context.fetch(FetchDescriptor<Receipt>()).map(\.code), is: ["kept"], "codes:")
            }
            let isRun = try c.tryUnder(version2, plan: Memos.Plan.self, refusingFor: ["plan", "stage"], check)
            guard isRun else { return try checkVersion1(c) }
            try c.under(version2, plan: Memos.Plan.self, "open with the plan again", check)
            try c.under(version2, "open without the plan", check)
        },
        plan(
            "two-stages", "Stages that are due are run in their order, each once, or refused.",
            hint: "Only the last stage is run, or the stages are found by the schema that is asked for alone."
        ) { c in
            try fillMemos(c)
            let version3 = Schema(versionedSchema: Memos.Version3.self)
            func check(_ context: ModelContext) throws {
                let found = try context.fetch(FetchDescriptor<Memos.Version3.Memo>())
                try c.expect(
                    found.map(\.text), is: ["a!?", "bb!?", "made by the plan?"],
                    "texts, to which both stages have added:")
                try c.expect(found.map(\.length), is: [2, 3, nil], "lengths of the first stage:")
                try c.expect(found.map(\.mark), is: ["was 2", "was 3", nil], "marks of the second stage:")
            }
            let isRun = try c.tryUnder(version3, plan: Memos.Plan.self, refusingFor: ["plan", "stage"], check)
            guard isRun else { return try checkVersion1(c) }
            try c.under(version3, plan: Memos.Plan.self, "open with the plan again", check)
        },
        plan(
            "stage-by-stage", "A stage is run when its version is asked for, and the next one later.",
            hint: "All stages of the plan are run, also those beyond the version that is asked for."
        ) { c in
            try fillMemos(c)
            let isRun = try c.tryUnder(
                Schema(versionedSchema: Memos.Version2.self), plan: Memos.Plan.self, refusingFor: ["plan", "stage"]
            ) { context in
                let found = try context.fetch(FetchDescriptor<Memos.Version2.Memo>())
                try c.expect(found.map(\.text), is: ["a!", "bb!", "made by the plan"], "texts in version 2:")
                found.first?.length = 9
                try context.save()
            }
            guard isRun else { return try checkVersion1(c) }
            try c.under(
                Schema(versionedSchema: Memos.Version3.self), plan: Memos.Plan.self, "open for version 3 with the plan"
            ) { context in
                let found = try context.fetch(FetchDescriptor<Memos.Version3.Memo>())
                try c.expect(found.map(\.text), is: ["a!?", "bb!?", "made by the plan?"], "texts in version 3:")
                try c.expect(found.map(\.mark), is: ["was 9", "was 3", nil], "marks of the second stage:")
            }
        },
        plan(
            "that-fails", "A stage that throws makes the opening throw, and leaves the storage as it was.",
            hint: "What the stage saved before it threw stays, or its error is swallowed."
        ) { c in
            try fillMemos(c)
            try c.expectError("the error of the stage, or a refusal of the plan") {
                let container = try c.open(
                    for: Schema(versionedSchema: Memos.Version2.self), plan: Memos.FailingPlan.self)
                try container.close()
            }
            try checkVersion1(c)
        },
        plan(
            "on-a-new-storage", "A storage that is new has nothing to migrate: it is empty, or the plan is refused.",
            hint: "The stages are run where there is no version before."
        ) { c in
            let isTaken = try c.tryUnder(
                Schema(versionedSchema: Memos.Version2.self), plan: Memos.Plan.self, refusingFor: ["plan", "stage"]
            ) { context in
                try c.expect(try context.fetchCount(FetchDescriptor<Memos.Version2.Memo>()), is: 0, "memos:")
                context.insert(Memos.Version2.Memo("new"))
                try context.save()
                try c.expect(
                    try context.fetch(FetchDescriptor<Memos.Version2.Memo>()).map(\.text), is: ["new"], "texts:")
            }
            c.note(isTaken ? "the plan was taken" : "the plan was refused")
        },
        plan(
            "without-code", "A plan without code keeps the records, or is refused in words.",
            hint: "A storage is made anew where a plan is given."
        ) { c in
            try fillMemos(c)
            let isTaken = try c.tryUnder(
                Schema(versionedSchema: Memos.Version2.self), plan: Memos.LightweightPlan.self,
                refusingFor: ["Memo", "length", "plan", "stage"]
            ) { context in
                let found = try context.fetch(FetchDescriptor<Memos.Version2.Memo>())
                try c.expect(found.map(\.text), is: ["a", "bb"], "texts:")
                try c.expect(found.map(\.length), is: [nil, nil], "lengths, which no record has:")
                try c.expect(try context.fetch(FetchDescriptor<Receipt>()).map(\.code), is: ["kept"], "codes:")
            }
            if !isTaken { try checkVersion1(c) }
        },
    ]
}
