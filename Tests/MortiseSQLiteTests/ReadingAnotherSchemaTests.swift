#if SQLite
import Foundation
import MortiseCore
@testable import MortiseSQLite
import PackageTestSupport
import Testing

/// A store that is open for reading only is refused where its records would have to change.
@Suite struct ReadingAnotherSchemaTests {
    private let second = Schema.Version(2, 0, 0)

    private func item(_ isOptional: Bool, default value: StoredValue? = nil) -> StoredEntity {
        StoredEntity(
            name: "Item",
            properties: [
                StoredProperty(name: "name", isOptional: true, content: .attribute(StoredAttribute(kind: .string))),
                StoredProperty(
                    name: "size", isOptional: isOptional,
                    content: .attribute(StoredAttribute(kind: .int64, defaultValue: value))),
            ])
    }

    private func readingFault(
        _ folder: TemporaryFolder, _ entities: [StoredEntity], version: Schema.Version = Schema.Version(1, 0, 0)
    ) throws -> String? {
        do {
            try SQLiteStore.open(folder.path(), entities, version: version) { $0 = $0.readOnly() }.close()
            return nil
        } catch let error as SQLiteError {
            guard case .misfit(let text) = error.fault else { throw error }
            return text
        }
    }

    /// The store was opened, and reading its records threw that they were damaged.
    @Test func anAttributeThatComesBackHasToHaveItsValues() throws {
        let folder = try TemporaryFolder()
        let wide = [item(false, default: .integer(0))]
        let first = try SQLiteStore.open(folder.path(), wide)
        try first.insert("Item", ["name": .string("a"), "size": .integer(1)])
        try first.close()
        let narrow = try SQLiteStore.open(folder.path(), [entity("Item", [("name", .string)])])
        #expect(try readingFault(folder, wide) == nil)
        try narrow.insert("Item", ["name": .string("b")])
        try narrow.close()
        let fault = try readingFault(folder, wide)
        #expect(fault?.contains("1 record would get the default of size") == true, "\(fault ?? "none")")
        #expect(try readingFault(folder, [item(false)])?.contains("Item.size needs a value") == true)
        let later = try SQLiteStore.open(folder.path(), wide)
        #expect(try later.values("Item", "size") == [.integer(1), .integer(0)])
        try later.close()
        #expect(try readingFault(folder, wide) == nil)
    }

    @Test func anAttributeThatBecomesRequiredHasToHaveItsValues() throws {
        let folder = try TemporaryFolder()
        let store = try SQLiteStore.open(folder.path(), [item(true)])
        let record = try store.insert("Item", ["name": .string("a")])[0]
        #expect(try readingFault(folder, [item(false)], version: second)?.contains("1 record has none") == true)
        #expect(try readingFault(folder, [item(false, default: .integer(3))], version: second) != nil)
        try store.update(record, ["size": .integer(1)], version: 1)
        try store.close()
        for value in [nil, StoredValue.integer(3)] {
            #expect(try readingFault(folder, [item(false, default: value)], version: second) == nil)
        }
    }

    private func relationship(_ name: String, isToMany: Bool) -> StoredProperty {
        StoredProperty(
            name: name, isOptional: !isToMany,
            content: .relationship(StoredRelationship(destination: "Base", isToMany: isToMany)))
    }

    /// References led to records that were not there, and lists with them could not be read.
    @Test(arguments: ["one", "many", "next", "all"]) func relationshipsMayNotLeadToWhatGoes(name: String) throws {
        let folder = try TemporaryFolder()
        let base = StoredEntity(
            name: "Base", properties: [relationship("next", isToMany: false), relationship("all", isToMany: true)])
        let gone = StoredEntity(name: "Gone", superentity: "Base", properties: [])
        let owner = StoredEntity(
            name: "Owner", properties: [relationship("one", isToMany: false), relationship("many", isToMany: true)])
        let store = try SQLiteStore.open(folder.path(), [base, gone, owner])
        let kept = try store.insert("Base", [:])[0]
        let lost = try store.insert("Gone", [:])[0]
        try store.insert("Owner", ["one": .identifier(kept), "many": .identifiers([kept])])
        #expect(try readingFault(folder, [base, owner], version: second) == nil)
        switch name {
        case "one": try store.insert("Owner", ["one": .identifier(lost)])
        case "many": try store.insert("Owner", ["many": .identifiers([kept, lost])])
        case "next": try store.insert("Gone", ["next": .identifier(kept)])
        default: try store.insert("Gone", ["all": .identifiers([kept])])
        }
        try store.close()
        let fault = try readingFault(folder, [base, owner], version: second)
        #expect(fault?.contains("entities that the schema lacks") == true || fault?.contains("leads to") == true)
        try SQLiteStore.open(folder.path(), [base, owner], version: second).close()
        #expect(try readingFault(folder, [base, owner], version: second) == nil)
    }
}
#endif
