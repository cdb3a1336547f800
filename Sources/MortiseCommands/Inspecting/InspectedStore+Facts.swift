#if Inspector
import Foundation
import MortiseCore

/// What is known of a store as a whole.
package struct InspectedFacts: Sendable {
    package var identifier = ""
    package var schema: StoredSchema
    package var files: [StoreFile] = []
    package var bytes: Int64 = 0
    package var durability = ""
    package var capabilities: [String] = []
    /// By entity, without those that inherit from it.
    package var counts: [String: Int] = [:]
    /// What opening the store repaired, and what its schema does not name.
    package var notes: [String] = []
    /// Whether other processes' saves are shown without opening the store again.
    package var follows = false
    /// Whether every byte can be checked.
    package var isVerifiable = false
    package var hasHistory = false
    package var lastTransaction: ChangeSet?
    package var records: Int { counts.values.reduce(0, +) }
}

extension InspectedStore {
    /// - Throws: what prevents opening the store, or reading it.
    package func facts() throws -> InspectedFacts {
        let configuration = try configuration
        return try read { reading in
            let store = reading.store
            var facts = InspectedFacts(schema: store.schema)
            facts.identifier = store.store.identifier
            facts.files = try configuration.storeFiles()
            facts.bytes = facts.files.reduce(0) { $0 + $1.bytes }
            facts.durability = "\(configuration.durabilityGrade)"
            facts.capabilities = store.store.capabilities.all.map(\.rawValue).sorted()
            facts.counts = try reading.counts()
            facts.notes = [
                store.store.recoveryDescription,
                store.store.schemaLoss.map { "the schema lacks what is stored: \($0)" },
            ].compactMap(\.self)
            facts.follows = store.versioned == nil || store.store.announcesOtherProcesses
            facts.isVerifiable = configuration.capable(of: .verify) != nil
            let last = try store.store.storedTransactions(after: 0, last: 1)
            facts.hasHistory = last != nil
            facts.lastTransaction = last?.last
            return facts
        }
    }

    /// A schema with the number of records of each entity.
    /// - Throws: what prevents opening the store, or reading it.
    package func schemaAndCounts() throws -> (schema: StoredSchema, counts: [String: Int]) {
        try read { ($0.store.schema, try $0.counts()) }
    }

    /// - Throws: what prevents opening the store.
    package func schema() throws -> StoredSchema { try read { $0.store.schema } }

    /// Reads every byte of the store.
    /// - Returns: what is wrong and what is worth knowing; nil for a store that cannot be checked so.
    /// - Throws: what prevents checking it at all.
    package func verify() throws -> (problems: [String], notes: [String])? {
        guard let verifiable = try configuration.capable(of: .verify) else { return nil }
        let report = try verifiable.verifyStore()
        return (report.problems, report.notes)
    }

    /// What the models of the tool have that the store's schema has not, and the other way round; nil for a tool without models.
    /// - Throws: what prevents opening the store.
    package func drift() throws -> [SchemaChange]? {
        guard let models else { return nil }
        return SchemaComparison(from: SchemaDocument(try schema()), to: SchemaDocument(models)).changes
    }

    /// Compares all records of two stores.
    /// - Returns: up to five differences in words, how many there are, and how many records were compared.
    /// - Throws: `ToolError.otherSchema`; what prevents reading either.
    package func compare(to other: InspectedStore) throws -> (differences: [String], count: Int, compared: Int) {
        try readApart { left in
            try other.readApart { right in
                let (left, right) = (left.store, right.store)
                guard left.schema == right.schema else {
                    throw ToolError.otherSchema(
                        store: right.name, other: left.name,
                        differences: SchemaDifferences.between(right.schema, left.schema))
                }
                let found = try ContentComparison(
                    left.walkedVersion(), right.walkedVersion(), left.schema, left.layouts, showingValues: true)
                return (found.differences, found.differing, found.compared)
            }
        }
    }
}

extension InspectedStore.Reading {
    /// The number of own records of each entity.
    func counts() throws -> [String: Int] {
        var counts: [String: Int] = [:]
        for entity in store.schema.entities {
            counts[entity.name] = try count(
                StoreQuery(entity.name, purpose: .count, includesSubentities: false))
        }
        return counts
    }

    func count(_ query: StoreQuery) throws -> Int {
        if query.conjuncts.isEmpty, let version = store.versioned?.currentVersion {
            let entities = query.includesSubentities ? store.schema.subtree(of: query.entity) : [query.entity]
            return entities.reduce(0) { $0 + (version.rows(ofEntity: $1)?.count ?? 0) }
        }
        return try StoreQueryRun(query, in: store).count
    }
}
#endif
