import Foundation
import Mortise
import Testing

/// A property whose values another transformer reads from the next version on. What is stored says nothing of transformers: values of
/// the old one were met by the first fetch (row "transformer changed", case E46).
@Suite struct TransformerChangeTests {
    enum Before: VersionedSchema {
        static var models: [any PersistentModel.Type] { [Sheet.self] }
        static var versionIdentifier: Schema.Version { Schema.Version(1, 0, 0) }

        @Model final class Sheet {
            var number: Int
            @Attribute(.transformable(by: CommaJoining.self)) var words: [String]?
            init(_ number: Int, _ words: [String]?) { (self.number, self.words) = (number, words) }
        }
    }
    /// The same models, whose words have another transformer and another name.
    enum After: VersionedSchema {
        static var models: [any PersistentModel.Type] { [Sheet.self] }
        static var versionIdentifier: Schema.Version { Schema.Version(2, 0, 0) }

        @Model final class Sheet {
            var number: Int
            @Attribute(.transformable(by: MarkedJoining.self), originalName: "words") var tags: [String]?
            init(_ number: Int, _ tags: [String]?) { (self.number, self.tags) = (number, tags) }
        }
    }
    /// A transformer of another name that reads what the first one has written.
    enum Renamed: VersionedSchema {
        static var models: [any PersistentModel.Type] { [Sheet.self] }
        static var versionIdentifier: Schema.Version { Schema.Version(2, 0, 0) }

        @Model final class Sheet {
            var number: Int
            @Attribute(.transformable(by: SameJoining.self)) var words: [String]?
            init(_ number: Int, _ words: [String]?) { (self.number, self.words) = (number, words) }
        }
    }
    /// The transformer is that of `Renamed` on the way, and another at the end.
    enum Last: VersionedSchema {
        static var models: [any PersistentModel.Type] { [Sheet.self] }
        static var versionIdentifier: Schema.Version { Schema.Version(3, 0, 0) }

        @Model final class Sheet {
            var number: Int
            @Attribute(.transformable(by: MarkedJoining.self)) var words: [String]?
            init(_ number: Int, _ words: [String]?) { (self.number, self.words) = (number, words) }
        }
    }

    enum Silent: SchemaMigrationPlan {
        static var schemas: [any VersionedSchema.Type] { [Before.self, After.self] }
        static var stages: [MigrationStage] { [.lightweight(fromVersion: Before.self, toVersion: After.self)] }
    }
    enum Converting: SchemaMigrationPlan {
        static var schemas: [any VersionedSchema.Type] { [Before.self, After.self] }
        static var stages: [MigrationStage] {
            [
                .custom(
                    from: Before.self, to: After.self,
                    mapping: .inferred.converting(
                        "Sheet.tags",
                        .value { record in
                            guard case .data(let data)? = record["words"] else { return .null }
                            return .data(Data("#".utf8) + data)
                        }))
            ]
        }
    }
    enum Renaming: SchemaMigrationPlan {
        static var schemas: [any VersionedSchema.Type] { [Before.self, Renamed.self] }
        static var stages: [MigrationStage] { [.lightweight(fromVersion: Before.self, toVersion: Renamed.self)] }
    }
    enum Chain: SchemaMigrationPlan {
        static var schemas: [any VersionedSchema.Type] { [Before.self, Renamed.self, Last.self] }
        static var stages: [MigrationStage] {
            Renaming.stages + [.lightweight(fromVersion: Renamed.self, toVersion: Last.self)]
        }
    }

    private func filled(_ kind: String, words: [String]? = ["a", "b"]) throws -> ShapeWorld {
        let world = try ShapeWorld(kind)
        try world.fill(Before.self, (0..<12).map { Before.Sheet($0, words) } + [Before.Sheet(12, nil)])
        return world
    }

    @Test(arguments: ShapeWorld.kinds) func valuesThatTheNewTransformerCannotReadEndTheMigration(_ kind: String) throws
    {
        let world = try filled(kind)
        let preview = try #require(try world.preview(After.self, Silent.self))
        #expect(preview.stages.map { $0.refusal?.contains("tags of 12 records of Sheet") } == [true])
        let error = #expect(throws: MigrationError.self) { try world.open(After.self, Silent.self).close() }
        guard case .stageFailed(let failure)? = error,
            case MigrationError.valuesNotRepresentable("Sheet", "tags", 12, let examples) = failure.underlying
        else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(examples.count == 10)
        let before = try world.open(Before.self)
        let words = try ModelContext(before).fetch(FetchDescriptor<Before.Sheet>()).map(\.words)
        #expect(words == Array(repeating: ["a", "b"], count: 12) + [nil])
        try before.close()
    }

    @Test(arguments: ShapeWorld.kinds) func aStageConvertsThem(_ kind: String) throws {
        let world = try filled(kind)
        #expect(try world.preview(After.self, Converting.self)?.stages.map(\.refusal) == [nil])
        try world.migrated(to: After.self, Converting.self) { context in
            let tags = try context.fetch(FetchDescriptor<After.Sheet>(sortBy: [SortDescriptor(\.number)])).map(\.tags)
            #expect(tags == Array(repeating: ["a", "b"], count: 12) + [nil])
        }
    }

    /// Neither values that it can read are in its way, nor records without a value.
    @Test(arguments: ShapeWorld.kinds) func whatTheNewTransformerReadsStays(_ kind: String) throws {
        try filled(kind).migrated(to: Renamed.self, Renaming.self) { context in
            let words = try context.fetch(FetchDescriptor<Renamed.Sheet>()).map(\.words)
            #expect(words == Array(repeating: ["a", "b"], count: 12) + [nil])
        }
        try filled(kind, words: nil).migrated(to: After.self, Silent.self) { context in
            let tags = try context.fetch(FetchDescriptor<After.Sheet>()).map(\.tags)
            #expect(tags == Array(repeating: nil, count: 13))
        }
    }

    /// What changed on the way counts at the end, also where stages are carried out as one.
    @Test(arguments: ShapeWorld.kinds) func aChangeOnTheWayIsNotForgotten(_ kind: String) throws {
        let world = try filled(kind)
        #expect(throws: MigrationError.self) { try world.open(Last.self, Chain.self).close() }
        try world.open(Renamed.self, Renaming.self).close()
        #expect(throws: MigrationError.self) { try world.open(Last.self, Chain.self).close() }
        try world.migrated(to: Renamed.self, Renaming.self) { context in
            let count = try context.fetchCount(FetchDescriptor<Renamed.Sheet>())
            #expect(count == 13)
        }
    }
}

class CommaJoining: ValueTransformer {
    override func transformedValue(_ value: Any?) -> Any? {
        (value as? [String]).map { Data($0.joined(separator: ",").utf8) }
    }

    override func reverseTransformedValue(_ value: Any?) -> Any? {
        (value as? Data).map { String(decoding: $0, as: UTF8.self).split(separator: ",").map(String.init) }
    }
}
final class SameJoining: CommaJoining {}
/// Begins with a mark, without which it reads nothing.
final class MarkedJoining: CommaJoining {
    override func transformedValue(_ value: Any?) -> Any? {
        (super.transformedValue(value) as? Data).map { Data("#".utf8) + $0 }
    }

    override func reverseTransformedValue(_ value: Any?) -> Any? {
        guard let data = value as? Data, data.first == UInt8(ascii: "#") else { return nil }
        return super.reverseTransformedValue(Data(data.dropFirst()))
    }
}
