import Foundation
import Mortise
import PackageTestSupport
import Testing

/// The revisions of a record: `ModelContext.history(of:limit:)`.
@Suite struct RecordRevisionTests {
    private let folder: Folder

    init() throws { folder = try Folder() }

    private func container(_ store: HistoryStore, _ name: String = "past") throws -> ModelContainer {
        try ModelContainer(for: Schema(PastProgram.types), configurations: [store.configuration(folder, name)])
    }

    /// What is compared of a record.
    private typealias Values = [String: String]

    private static var paths: [(name: String, path: PartialKeyPath<PastItem>)] {
        [
            ("code", \.code), ("name", \.name), ("size", \.size), ("weight", \.weight), ("note", \.note),
            ("box", \.box), ("favorite", \.favorite), ("label", \.label),
        ]
    }

    private static func text(_ value: (any Sendable)?) -> String { value.map { "\($0)" } ?? "nil" }

    private static func values(_ item: PastItem) -> Values {
        func id(_ model: (any PersistentModel)?) -> String { text(model?.persistentModelID) }
        return [
            "code": item.code, "name": item.name, "size": "\(item.size)", "weight": text(item.weight),
            "note": text(item.note), "box": id(item.box), "favorite": id(item.favorite),
            "label": id(item.label),
        ]
    }

    private struct Expected {
        var kind: RecordRevision<PastItem>.Kind
        var token: DefaultHistoryToken
        var old: Values
        var new: Values
    }

    /// Revisions over many random saves, against a list of what each save changed.
    @Test(arguments: HistoryStore.allCases) func revisionsAreWhatTheSavesChanged(_ store: HistoryStore) throws {
        let container = try container(store)
        var program = PastProgram(seed: testSeed(), in: container)
        var models: [PersistentIdentifier: PastItem] = [:]
        var before: [PersistentIdentifier: Values] = [:]
        var expected: [PersistentIdentifier: [Expected]] = [:]
        for _ in 0..<80 {
            let known = program.states.count
            try program.run(saves: 1)
            guard program.states.count > known, let token = program.states.last?.token else { continue }
            var after: [PersistentIdentifier: Values] = [:]
            for item in try program.context.fetch(FetchDescriptor<PastItem>()) {
                models[item.persistentModelID] = item
                after[item.persistentModelID] = Self.values(item)
            }
            for record in Set(before.keys).union(after.keys) {
                switch (before[record], after[record]) {
                case (nil, let new?):
                    expected[record, default: []].append(Expected(kind: .insertion, token: token, old: [:], new: new))
                case (let old?, nil):
                    expected[record, default: []].append(Expected(kind: .deletion, token: token, old: old, new: [:]))
                case (let old?, let new?) where old != new:
                    let changed = old.filter { new[$0.key] != $0.value }
                    expected[record, default: []].append(
                        Expected(kind: .update, token: token, old: changed, new: new.filter { changed[$0.key] != nil }))
                default: break
                }
            }
            before = after
        }
        #expect(expected.values.contains { $0.count > 4 })
        let context = ModelContext(container)
        for (record, revisions) in expected {
            let model = try #require(models[record])
            let found = try context.history(of: model).reversed().filter { revision in
                // Other properties than those that are compared may have changed.
                revision.kind != .update
                    || revision.properties.contains { path in Self.paths.contains { $0.path == path } }
            }
            #expect(
                found.map(\.token) == revisions.map(\.token) && found.map(\.kind) == revisions.map(\.kind), "\(record)")
            for (found, wanted) in zip(found, revisions) { compare(found, wanted, store) }
            let last = try context.history(of: model, limit: 2)
            #expect(last.map(\.token) == (try context.history(of: model).prefix(2)).map(\.token))
        }
    }

    private func compare(_ found: RecordRevision<PastItem>, _ wanted: Expected, _ store: HistoryStore) {
        for (name, path) in Self.paths {
            switch found.kind {
            case .insertion:
                #expect(Self.text(found.newValue(path)) == wanted.new[name], "\(name)")
                #expect(found.knowsNewValue(path) && found.knowsOldValue(path) && found.oldValue(path) == nil)
            case .update:
                #expect(found.properties.contains(path) == (wanted.new[name] != nil), "\(name) \(wanted) \(found)")
                guard let new = wanted.new[name], let old = wanted.old[name] else { continue }
                #expect(Self.text(found.newValue(path)) == new && found.knowsNewValue(path), "\(name)")
                #expect(Self.text(found.oldValue(path)) == old && found.knowsOldValue(path), "\(name)")
            case .deletion:
                // A log keeps what the model preserves.
                if store == .log, name != "name" { continue }
                #expect(Self.text(found.oldValue(path)) == wanted.old[name] && found.knowsOldValue(path), "\(name)")
            }
        }
    }

    @Test(arguments: HistoryStore.allCases) func aRevisionHasTimeAuthorAndToken(_ store: HistoryStore) throws {
        let context = ModelContext(try container(store))
        let item = PastItem(1)
        #expect(try context.history(of: item).isEmpty)
        context.insert(item)
        #expect(try context.history(of: item).isEmpty)
        context.author = "Ann"
        try context.save()
        context.author = nil
        item.size = 2
        try context.save()
        item.size = 2
        try context.save()
        let revisions = try context.history(of: item)
        #expect(revisions.map(\.kind) == [.update, .insertion])
        #expect(revisions.map(\.author) == [nil, "Ann"])
        #expect(revisions.map(\.token) == (try context.history().reversed().map(\.token)))
        #expect(revisions.map(\.token.marks) == (try context.history().reversed().map(\.token.marks)))
        #expect(revisions.map(\.timestamp) == (try context.history().reversed().map(\.timestamp)))
        #expect(revisions[0].properties == [\PastItem.size])
        #expect(revisions[0].oldValue(\.size) as? Int == 1 && revisions[0].newValue(\.size) as? Int == 2)
        #expect(try context.history(of: item, limit: 1).count == 1)
        #expect(try context.history(of: item, limit: 0).isEmpty)
        #expect(try context.history(of: item, limit: -1).isEmpty)
    }

    /// Inherited properties under the subclass's own key paths, and under those of the superclass.
    @Test(arguments: HistoryStore.allCases) func aSubclassHasRevisionsOfInheritedProperties(_ store: HistoryStore)
        throws
    {
        let context = ModelContext(try container(store))
        let gem = PastGem(1)
        context.insert(gem)
        try context.save()
        gem.carats = 2
        gem.name = "other"
        try context.save()
        let revision = try #require(try context.history(of: gem).first)
        #expect(revision.newValue(\.carats) as? Double == 2 && revision.oldValue(\.carats) as? Double == 0.5)
        #expect(revision.newValue(\.name) as? String == "other" && revision.oldValue(\.name) as? String == "n1")
        let item: PastItem = gem
        let inherited = try #require(try context.history(of: item).first)
        #expect(inherited.properties == [\PastItem.name] && inherited.newValue(\.name) as? String == "other")
    }

    /// After a hole nothing is known of what was before, and nothing is made up.
    @Test func aValueBeforeAHoleIsNotKnown() throws {
        let context = ModelContext(try container(.log))
        let item = PastItem(1)
        context.insert(item)
        try context.save()
        context.author = "gone"
        item.size = 2
        try context.save()
        context.author = nil
        item.size = 3
        try context.save()
        #expect(try context.history(of: item).first?.oldValue(\.size) as? Int == 2)
        try context.deleteHistory(HistoryOf(predicate: #Predicate { $0.author == "gone" }))
        let revisions = try context.history(of: item)
        #expect(revisions.map(\.kind) == [.update, .insertion])
        #expect(!revisions[0].knowsOldValue(\.size) && revisions[0].oldValue(\.size) == nil)
        #expect(revisions[0].newValue(\.size) as? Int == 3)
    }

    @Test func eachStoreTellsOfItsOwnRecords() throws {
        let container = try ModelContainer(
            for: Schema(PastProgram.types + [Parcel.self, Storehouse.self]),
            configurations: [
                InMemoryConfiguration("a", schema: Schema([Parcel.self, Storehouse.self])),
                JSONFileConfiguration("b", schema: Schema(PastProgram.types), path: folder.path("b.json")),
            ])
        let context = ModelContext(container)
        let (parcel, item) = (Parcel("p"), PastItem(1))
        context.insert(parcel)
        context.insert(item)
        try context.save()
        parcel.weight = 4
        try context.save()
        #expect(try context.history(of: parcel).map(\.kind) == [.update, .insertion])
        #expect(try context.history(of: item).map(\.kind) == [.insertion])
    }
}
