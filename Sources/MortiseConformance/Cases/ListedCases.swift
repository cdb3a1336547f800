import Foundation
import MortiseCore

// Relationships that nothing leads back from: their lists may share a name, and their targets may be required.

extension ConformanceCase {
    static let listedCases: [ConformanceCase] = [
        ConformanceCase(
            "relationships.lists-of-one-name", level: .full,
            requirement:
                "Lists of several entities that have the same name, and no inverse, are kept apart, whatever they lead to.",
            hint: "The table of a list is named after the property alone. Name the entity that declares it as well."
        ) { c in
            try c.withListed { context in
                let lines = (1...4).map { Listed.Line("line \($0)") }
                let acts = (1...2).map { Listed.Act("act \($0)") }
                for line in lines { context.insert(line) }
                for act in acts { context.insert(act) }
                // The first of each entity, and the second: in tables of their own they have the same numbers.
                let (poems, ballads) = (["p1", "p2"].map { Listed.Poem($0) }, ["b1", "b2"].map { Listed.Ballad($0) })
                let operas = ["o1", "o2"].map { Listed.Opera($0) }
                for poem in poems { context.insert(poem) }
                for ballad in ballads { context.insert(ballad) }
                for opera in operas { context.insert(opera) }
                poems[0].parts = [lines[0], lines[1]]
                ballads[0].parts = [lines[2]]
                ballads[1].parts = [lines[0], lines[3]]
                operas[1].parts = acts
                c.note("insert 2 poems, 2 ballads and 2 operas with their parts, save")
                try context.save()
            } check: { context in
                try c.expectParts(
                    context, poems: [["line 1", "line 2"], []], ballads: [["line 3"], ["line 1", "line 4"]],
                    operas: [[], ["act 1", "act 2"]])
            } change: { context in
                let (poems, ballads) = (
                    try context.fetch(FetchDescriptor<Listed.Poem>()),
                    try context.fetch(FetchDescriptor<Listed.Ballad>())
                )
                c.note("clear the parts of the first ballad, and give the second poem one part, save")
                ballads.first?.parts = []
                poems.last?.parts = Array(poems[0].parts.prefix(1))
                try context.save()
            } changed: { context in
                try c.expectParts(
                    context, poems: [["line 1", "line 2"], ["line 1"]], ballads: [[], ["line 1", "line 4"]],
                    operas: [[], ["act 1", "act 2"]])
            }
        },
        ConformanceCase(
            "references.required-without-inverse", level: .full, capability: .referentialIntegrity,
            requirement:
                "The deletion of a record is refused while another one refers to it by a relationship that has to have a value "
                + "and has no inverse; all is as before.",
            hint:
                "References without inverse are cleared, also those that must not be nil, and the record that had one cannot be "
                + "read any more. No context knows of it: only the store can look."
        ) { c in
            func letters(_ context: ModelContext) throws -> [String] {
                try context.fetch(FetchDescriptor<Listed.Letter>()).map { "\($0.name) with \($0.stamp.name)" }
            }
            func isUnchanged(_ context: ModelContext) throws {
                try c.expect(try letters(context), is: ["letter with required"], "letters:")
                try c.expect(
                    try context.fetch(FetchDescriptor<Listed.Stamp>()).map(\.name), is: ["required"], "stamps:")
            }
            try c.withListed { context in
                context.insert(Listed.Letter("letter", stamp: Listed.Stamp("required")))
                context.insert(Listed.Stamp("free"))
                c.note("insert a letter with its stamp, and another stamp, save")
                try context.save()
            } check: { context in
                try c.expect(try letters(context), is: ["letter with required"], "letters:")
            } change: { context in
                // This context has not read the letter.
                let stamps = try context.fetch(FetchDescriptor<Listed.Stamp>())
                c.note("delete the free stamp, save")
                if let free = stamps.first(where: { $0.name == "free" }) { context.delete(free) }
                try context.save()
                c.note("delete the letter's stamp, save")
                if let required = stamps.first(where: { $0.name == "required" }) { context.delete(required) }
                try c.expectError("an error, since the letter requires the stamp") { try context.save() }
                context.rollback()
            } changed: { context in
                try isUnchanged(context)
            }
        },
        ConformanceCase(
            "relationships.lists-of-one-name-emptied", level: .full,
            requirement:
                "Lists of one name in several entities are changed, counted and emptied each for itself, also by a deletion.",
            hint: "The table of a list is named after the property alone. Name the entity that declares it as well."
        ) { c in
            try c.withListed { context in
                let (line, act) = (Listed.Line("line"), Listed.Act("act"))
                let (poem, ballad, opera) = (Listed.Poem("p"), Listed.Ballad("b"), Listed.Opera("o"))
                context.insert(line)
                context.insert(act)
                context.insert(poem)
                context.insert(ballad)
                context.insert(opera)
                c.note("insert one of each, with a part for the ballad and the opera, save")
                ballad.parts = [line]
                opera.parts = [act]
                try context.save()
            } check: { context in
                try c.expectParts(context, poems: [[]], ballads: [["line"]], operas: [["act"]])
                let poems = FetchDescriptor<Listed.Poem>(predicate: #Predicate { !$0.parts.isEmpty })
                try c.expect(try context.fetchCount(poems), is: 0, "poems with parts, by a condition:")
            } change: { context in
                let lines = try context.fetch(FetchDescriptor<Listed.Line>())
                c.note("give the poem the line, take it from the ballad, delete the act, save")
                try context.fetch(FetchDescriptor<Listed.Poem>()).first?.parts = lines
                try context.fetch(FetchDescriptor<Listed.Ballad>()).first?.parts = []
                for act in try context.fetch(FetchDescriptor<Listed.Act>()) { context.delete(act) }
                try context.save()
            } changed: { context in
                try c.expectParts(context, poems: [["line"]], ballads: [[]], operas: [[]])
            }
        },
        ConformanceCase(
            "references.required-and-given-another", level: .full, capability: .referentialIntegrity,
            requirement:
                "What a record has to refer to can be deleted once it refers to another, or is deleted with it; not before.",
            hint:
                "References without inverse are cleared, also those that must not be nil. No context knows of it: only the store "
                + "can look."
        ) { c in
            func letters(_ context: ModelContext) throws -> [String] {
                try context.fetch(FetchDescriptor<Listed.Letter>()).map { "\($0.name) with \($0.stamp.name)" }
            }
            func delete(_ name: String, _ context: ModelContext) throws {
                for stamp in try context.fetch(FetchDescriptor<Listed.Stamp>()) where stamp.name == name {
                    context.delete(stamp)
                }
            }
            try c.withListed { context in
                for name in ["one", "two"] {
                    context.insert(Listed.Letter("letter \(name)", stamp: Listed.Stamp(name)))
                }
                c.note("insert two letters with a stamp each, save")
                try context.save()
            } check: { context in
                try c.expect(try letters(context), is: ["letter one with one", "letter two with two"], "letters:")
            } change: { context in
                c.note("delete a letter's stamp, and insert another stamp, save")
                try delete("two", context)
                context.insert(Listed.Stamp("never"))
                try c.expectError("an error, since a letter requires the stamp") { try context.save() }
                context.rollback()
                let found = try context.fetch(FetchDescriptor<Listed.Letter>())
                guard found.count == 2 else { throw c.failure(expected: "2 letters", found: "\(found.count)") }
                c.note("give the letter the other's stamp, delete its own, save")
                found[1].stamp = found[0].stamp
                try context.save()
                try delete("two", context)
                try context.save()
            } changed: { context in
                try c.expect(try letters(context), is: ["letter one with one", "letter two with one"], "letters:")
                try c.expect(
                    try context.fetch(FetchDescriptor<Listed.Stamp>()).map(\.name), is: ["one"], "stamps:")
            }
        },
    ]
}

extension CaseContext {
    /// Fills a storage of the models `Listed`, checks it in a fresh context, changes it and checks that, once more after
    /// reopening where the subject claims it.
    fileprivate func withListed(
        _ fill: (ModelContext) throws -> Void, check: (ModelContext) throws -> Void,
        change: (ModelContext) throws -> Void, changed: (ModelContext) throws -> Void
    ) throws {
        let container = try open(for: Listed.schema)
        do {
            try fill(ModelContext(container))
            try check(ModelContext(container))
            try change(ModelContext(container))
            try changed(ModelContext(container))
        } catch {
            try? container.close()
            throw error
        }
        try container.close()
        guard subject.capabilities.contains(.reopening) else { return }
        let again = try open(for: Listed.schema)
        defer { try? again.close() }
        try changed(ModelContext(again))
    }

    fileprivate func expectParts(
        _ context: ModelContext, poems: [[String]], ballads: [[String]], operas: [[String]]
    ) throws {
        let found = try context.fetch(FetchDescriptor<Listed.Poem>())
        try expect(found.map { $0.parts.map(\.name) }, is: poems, "parts of poems:")
        let others = try context.fetch(FetchDescriptor<Listed.Ballad>())
        try expect(others.map { $0.parts.map(\.name) }, is: ballads, "parts of ballads:")
        let third = try context.fetch(FetchDescriptor<Listed.Opera>())
        try expect(third.map { $0.parts.map(\.name) }, is: operas, "parts of operas:")
    }
}
