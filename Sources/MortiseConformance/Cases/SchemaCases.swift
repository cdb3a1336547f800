import Foundation
import MortiseCore

extension ConformanceCase {
    /// Stores badges and entries under a schema of these two alone, and opens the storage with another schema.
    ///
    /// A store may refuse any other schema at opening, with an error that says what does not fit. What it takes it has to
    /// read rightly, and it must not have lost anything when the first schema comes back. It may refuse the first schema once
    /// it has adapted its records to the other one; the error then names one of `differences`, and the other schema still
    /// opens with all of the records.
    private static func reopening(
        _ id: String, _ requirement: String, hint: String, with types: [any PersistentModel.Type],
        mustRefuse: Bool = false, names: [String] = [], isHarmless: Bool = true, differences: [String] = [],
        numbers: @escaping @Sendable (ModelContext) throws -> [Int] = {
            try $0.fetch(FetchDescriptor<Badge>()).map(\.number)
        },
        _ check: @escaping @Sendable (CaseContext, ModelContext) throws -> Void
    ) -> ConformanceCase {
        ConformanceCase(
            "schema.\(id)", level: .full, capability: .reopening, requirement: requirement, hint: hint
        ) { c in
            let first = Schema([Badge.self, Receipt.self])
            func filled() throws {
                let container = try c.open(for: first)
                let context = ModelContext(container)
                for number in 1...3 { context.insert(Badge(number)) }
                context.insert(Receipt("kept", total: 7))
                c.note("insert 3 badges and a receipt, save, close")
                try context.save()
                try container.close()
            }
            try filled()
            do {
                let other = try c.open(for: Schema(types))
                // What cannot be read is found at the latest when it is asked for.
                do {
                    try check(c, ModelContext(other))
                    try other.close()
                } catch {
                    try other.close()
                    throw error
                }
                try c.expect(
                    !mustRefuse, "an error when the storage is opened or read, since its records do not fit",
                    found: "no error")
            } catch let failure as ConformanceFailure {
                throw failure
            } catch {
                c.note("→ \(type(of: error)): \(error)")
                let text = "\(error)"
                try c.expect(
                    names.allSatisfy(text.contains), "an error that names \(names.joined(separator: " and "))",
                    found: text, hint: "The error says that something does not fit, but not what.")
            }
            guard isHarmless else { return }
            let back: ModelContainer
            var read: (ModelContext) throws -> [Int] = { try $0.fetch(FetchDescriptor<Badge>()).map(\.number) }
            do {
                back = try c.open(for: first)
            } catch {
                try c.expectWords(of: error, on: differences)
                back = try c.open(for: Schema(types))
                read = numbers
            }
            let context = ModelContext(back)
            try c.expect(try read(context), is: [1, 2, 3], "numbers after opening for the first schema again:")
            try c.expect(
                try context.fetch(FetchDescriptor<Receipt>()).map(\.code), is: ["kept"],
                "codes after opening for the first schema again:")
            try back.close()
        }
    }

    static let schemaCases: [ConformanceCase] = [
        reopening(
            "same", "A storage is opened again with the same schema, and has its records.",
            hint: "Schemas are compared by something that two equal ones do not share.",
            with: [Badge.self, Receipt.self]
        ) { c, context in
            try c.expect(try context.fetch(FetchDescriptor<Badge>()).map(\.number), is: [1, 2, 3], "numbers:")
        },
        reopening(
            "new-optional-property", "A property that is new and optional is nil in the records there are, or refused.",
            hint: "Records are read by position, and the new property takes another's value.",
            with: [OtherBadges.Extended.Badge.self, Receipt.self], differences: ["colour", "Badge"],
            numbers: { try $0.fetch(FetchDescriptor<OtherBadges.Extended.Badge>()).map(\.number) }
        ) { c, context in
            let found = try context.fetch(FetchDescriptor<OtherBadges.Extended.Badge>())
            try c.expect(found.map(\.number), is: [1, 2, 3], "numbers:")
            try c.expect(found.map(\.colour), is: [nil, nil, nil], "colours, which no record has:")
        },
        reopening(
            "new-required-property", "A property that is new, required and without default is refused by name.",
            hint: "The missing value is handed out as empty.",
            with: [OtherBadges.Demanding.Badge.self, Receipt.self], mustRefuse: true, names: ["owner"]
        ) { c, context in
            _ = try context.fetch(FetchDescriptor<OtherBadges.Demanding.Badge>()).map(\.owner)
        },
        reopening(
            "new-property-with-default",
            "A property that is new, required and has a default has that in the records there are, or is refused.",
            hint: "Records that were stored before have no value, or an empty one, where the default belongs.",
            with: [OtherBadges.Defaulted.Badge.self, Receipt.self], differences: ["owner", "grade", "Badge"],
            numbers: { try $0.fetch(FetchDescriptor<OtherBadges.Defaulted.Badge>()).map(\.number) }
        ) { c, context in
            typealias Badge = OtherBadges.Defaulted.Badge
            let found = try context.fetch(FetchDescriptor<Badge>())
            try c.expect(found.map(\.number), is: [1, 2, 3], "numbers:")
            try c.expect(found.map(\.owner), is: ["nobody's", "nobody's", "nobody's"], "owners, which is the default:")
            try c.expect(found.map(\.grade), is: [10, 10, 10], "grades, which is the default:")
            let grade = 9
            try c.expect(
                try context.fetchCount(FetchDescriptor<Badge>(predicate: #Predicate { $0.grade > grade })), is: 3,
                "badges of a grade above 9:")
        },
        reopening(
            "retyped-property", "A property of another type than it was stored with is refused by name.",
            hint: "The stored value is handed out as the new type's zero or empty.",
            with: [OtherBadges.Retyped.Badge.self, Receipt.self], mustRefuse: true, names: ["number"]
        ) { c, context in
            _ = try context.fetch(FetchDescriptor<OtherBadges.Retyped.Badge>()).map(\.number)
        },
        reopening(
            "property-gone", "A property removed from the schema is left out or refused; the records stay.",
            hint: "A record without any of its properties counts as empty, and is dropped.",
            with: [OtherBadges.Replaced.Badge.self, Receipt.self]
        ) { c, context in
            let found = try context.fetch(FetchDescriptor<OtherBadges.Replaced.Badge>())
            try c.expect(found.map(\.colour), is: [nil, nil, nil], "colours, which no record has:")
        },
        reopening(
            "new-entity", "An entity that is new in the schema is empty, and can be saved to, or is refused.",
            hint: "The table of the new entity is not made.", with: [Badge.self, Receipt.self, Entry.self],
            differences: ["Entry"]
        ) { c, context in
            try c.expect(try context.fetch(FetchDescriptor<Entry>()).count, is: 0, "entries:")
            context.insert(Entry("new"))
            try context.save()
            try c.expect(try context.fetch(FetchDescriptor<Entry>()).map(\.name), is: ["new"], "entries:")
            try c.expect(try context.fetch(FetchDescriptor<Badge>()).map(\.number), is: [1, 2, 3], "numbers:")
        },
        reopening(
            "entity-gone", "An entity removed from the schema is ignored or refused; others stay readable.",
            hint: "A record of an unknown entity ends the reading.", with: [Badge.self], isHarmless: false
        ) { c, context in
            try c.expect(try context.fetch(FetchDescriptor<Badge>()).map(\.number), is: [1, 2, 3], "numbers:")
        },
        reopening(
            "new-relationship", "Models with relationships can be added to existing ones, or are refused.",
            hint: "Entities are found by their position in the schema, which has changed.",
            with: [Badge.self, Receipt.self, Team.self, Person.self, Project.self],
            differences: ["Team", "Person", "Project"]
        ) { c, context in
            try c.expect(try context.fetch(FetchDescriptor<Receipt>()).map(\.total), is: [7], "totals:")
            try c.expect(try context.fetch(FetchDescriptor<Person>()).count, is: 0, "people:")
        },
    ]
}

extension CaseContext {
    /// Checks that a refusal says in words what does not fit: one of the names, or a version (`MigrationError`).
    func expectWords(of error: any Error, on names: [String]) throws {
        let text = "\(error)"
        note("→ \(type(of: error)): \(text)")
        try expect(
            error is MigrationError || names.contains(where: text.contains),
            "the records, or an error that names " + names.joined(separator: " or "), found: text,
            hint: "The error says that something does not fit, but not what.")
    }
}
