import MortiseEngine
import PackageTestSupport
import Testing

@testable import MortiseCore

/// Schemas of thousands of entities, and entities of thousands of properties.
@Suite struct LargeSchemaTests {
    enum Shape: CaseIterable { case entities, properties }

    /// One of two versions. Of what there are many of, every tenth has another name in the second one, and each entity something new.
    private func version(_ number: Int, of shape: Shape, _ count: Int) -> StoredSchema {
        let isNew = number == 2
        func name(_ letter: String, _ place: Int) -> (name: String, original: String?) {
            isNew && place % 10 == 0 ? ("\(letter)new\(place)", "\(letter)\(place)") : ("\(letter)\(place)", nil)
        }
        func entity(_ place: Int, properties: Range<Int>) -> StoredEntity {
            let (own, original) = name("E", place)
            let known = properties.map { place in
                let (own, original) = name("p", place)
                return SchemaDocuments.attribute(own, .string, optional: true, originalName: original)
            }
            let added = isNew ? [SchemaDocuments.attribute("added", .string, optional: true)] : []
            return StoredEntity(name: own, originalName: original, properties: known + added)
        }
        return StoredSchema(
            version: Schema.Version(number, 0, 0),
            entities: shape == .entities
                ? (0..<count).map { entity($0, properties: 1..<3) } : [entity(1, properties: 0..<count)])
    }

    /// Defect that this prevents: each name was looked for among all others, so that the second version of a schema of 4,096 entities
    /// took seconds.
    @Test(arguments: Shape.allCases) func comingToTheNextVersionTakesLinearTime(_ shape: Shape) throws {
        func seconds(_ count: Int) throws -> Double {
            var best = Double.infinity
            for _ in 0..<3 {
                let (old, new) = (version(1, of: shape, count), version(2, of: shape, count))
                let time = try ThreadClock().measure {
                    let mapping = try SchemaMapping(from: old, to: new, store: "")
                    #expect(mapping.currentName(ofEntity: "E0") == (shape == .entities ? "Enew0" : "E0"))
                    #expect(new.hasPendingRenames(from: old))
                    let changes = SchemaComparison(from: SchemaDocument(old), to: SchemaDocument(new)).changes
                    #expect(changes.count > count / 10)
                    let compiled = try CompiledMapping(
                        .inferred.filling("E1.added", with: .string("")), [],
                        from: EntityRenaming(from: old, to: new).applied(to: old), original: old, to: new)
                    #expect(compiled.properties.count == 1)
                    let found = new.entities.count { new.entity(named: $0.name)?.name == $0.name }
                    #expect(found == new.entities.count && new.entity(named: "") == nil)
                }
                best = min(best, time / .seconds(1) / Double(count))
            }
            return best
        }
        let (small, large) = (try seconds(256), try seconds(2_048))
        #expect(large < small * 4, "\(small) s for each of 256, \(large) s for each of 2,048")
    }

    /// The rules of `SchemaMapping`, written apart: one look through all names for each question.
    private func expected(_ names: [RecordLayout.Name], in old: [RecordLayout.Name]) -> [Int?] {
        func first(_ new: RecordLayout.Name, where isMet: (RecordLayout.Name) -> Bool) -> Int? {
            old.firstIndex { isMet($0) && (new.isEphemeral || !$0.isEphemeral) }
        }
        func isDone(_ new: RecordLayout.Name) -> Bool {
            new.isRenamed && old.contains { $0.name == new.name && $0.originalName == new.originalName }
        }
        func chain(_ new: RecordLayout.Name) -> Int? {
            if !new.isRenamed { return nil }
            return first(new) { before in
                before.isRenamed && before.originalName == new.originalName
                    && !names.contains { $0.name == before.name }
            }
        }
        let renamed = names.map { new -> Int? in
            if !new.isRenamed || isDone(new) { return nil }
            let keeper = names.first { $0.name == new.originalName }
            if let keeper, isDone(keeper) || !keeper.isRenamed && chain(new) != nil { return nil }
            return first(new) { $0.name == new.originalName }
        }
        return zip(names, renamed).map { new, origin in
            if let origin { return origin }
            let same = first(new) { $0.name == new.name }
            return same.map { place in renamed.contains { $0 == place } } == false ? same : chain(new)
        }
    }

    /// Names that are few enough to meet often: swaps, chains, names that are used again, one name in two forms of Unicode.
    @Test func originsAreThoseOfTheRules() {
        let seed = testSeed()
        var random = SeededGenerator(seed: seed)
        let pool = ["a", "b", "c", "d", "é", "e\u{301}", "f"]
        func list() -> [RecordLayout.Name] {
            var taken: Set<String> = []
            return (0..<Int.random(in: 0...6, using: &random)).compactMap { _ in
                let name = pool[Int.random(in: 0..<pool.count, using: &random)]
                guard taken.insert(name).inserted else { return nil }
                let original = random.chance(2) ? name : pool[Int.random(in: 0..<pool.count, using: &random)]
                return RecordLayout.Name(name: name, originalName: original, isEphemeral: random.chance(6))
            }
        }
        for round in 0..<5_000 {
            let (old, new) = (list(), list())
            #expect(
                RecordLayout.origins(of: new, in: old) == expected(new, in: old),
                "seed \(seed), round \(round): \(old) \(new)")
        }
    }
}
