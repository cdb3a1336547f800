import Foundation
import MortiseCore
import MortiseJSONFile
import Testing

func attribute(
    _ name: String, _ kind: StorageKind, optional: Bool = false, options: StoredAttribute.Options = [],
    default value: StoredValue? = nil
) -> StoredProperty {
    StoredProperty(
        name: name, isOptional: optional,
        content: .attribute(StoredAttribute(kind: kind, options: options, defaultValue: value)))
}

func toOne(
    _ name: String, _ destination: String, inverse: String? = nil, optional: Bool = true
) -> StoredProperty {
    StoredProperty(
        name: name, isOptional: optional,
        content: .relationship(StoredRelationship(destination: destination, isToMany: false, inverse: inverse)))
}

func toMany(
    _ name: String, _ destination: String, inverse: String? = nil, optional: Bool = false
) -> StoredProperty {
    StoredProperty(
        name: name, isOptional: optional,
        content: .relationship(StoredRelationship(destination: destination, isToMany: true, inverse: inverse)))
}

/// A record as tests handle it.
struct TestRecord: Equatable {
    var entity: String
    var sequence: UInt64
    var values: [StoredValue]

    init(_ entity: String, _ sequence: UInt64, _ values: [StoredValue]) {
        self.entity = entity
        self.sequence = sequence
        self.values = values
    }
}

/// Identifiers of the store that tests write.
func identifier(_ sequence: UInt64, _ entity: String, store: String = "S") -> StoredValue {
    .identifier(.numbered(sequence, storeIdentifier: store, entityName: entity))
}

func identifiers(_ sequences: [UInt64], _ entity: String) -> StoredValue {
    .identifiers(sequences.map { .numbered($0, storeIdentifier: "S", entityName: entity) })
}

/// The document of a store with these records, which are in order.
func write(
    _ schema: StoredSchema, next: UInt64 = 1000, _ records: [TestRecord], store: String = "S"
) throws -> [UInt8] {
    var bytes: [UInt8] = []
    var writer = try StoreDocumentWriter(storeIdentifier: store, schema: schema, nextSequence: next) {
        bytes.append(contentsOf: $0)
    }
    var current: String?
    for record in records {
        if record.entity != current {
            try writer.begin(entity: record.entity)
            current = record.entity
        }
        try writer.write(sequence: record.sequence) { record.values[$0] }
    }
    try writer.finish()
    return bytes
}

func read(
    _ bytes: [UInt8], integrity: JSONFileIntegrity = .required
) throws -> (header: StoreDocumentHeader, records: [TestRecord]) {
    var records: [TestRecord] = []
    let header = try bytes.withUnsafeBytes { bytes in
        try StoreDocumentReader(bytes, integrity: integrity).read { layout, sequence, values in
            records.append(TestRecord(layout.entityName, sequence, Array(values)))
        }
    }
    return (header, records)
}

func read(_ text: String) throws -> [TestRecord] { try read(Array(text.utf8), integrity: .acceptEdits).records }

/// Runs `body` on the bytes of a text.
func withReader<Result>(_ bytes: [UInt8], _ body: (inout JSONReader) throws -> Result) throws -> Result {
    try bytes.withUnsafeBytes { bytes in
        var reader = JSONReader(bytes)
        do {
            return try body(&reader)
        } catch let fault as JSONFault {
            throw fault.located(in: bytes)
        }
    }
}

/// Reads a whole text as one tree.
func readTree(_ bytes: [UInt8]) throws -> StoredValue {
    try withReader(bytes) { reader in
        var budget = TreeBudget()
        let value = try reader.readTree(budget: &budget)
        try reader.finish()
        return value
    }
}

func readTree(_ text: String) throws -> StoredValue { try readTree(Array(text.utf8)) }

/// What a writer produces.
func written(_ body: (inout JSONWriter) throws -> Void) throws -> String {
    var bytes: [UInt8] = []
    var writer = JSONWriter { bytes.append(contentsOf: $0) }
    try body(&writer)
    try writer.flush()
    return String(decoding: bytes, as: UTF8.self)
}

/// A text with the place of an expected error marked by `§`: the text without the mark, and the place, worked out
/// without the code under test.
struct MarkedText {
    let text: String
    let position: TextPosition

    init(_ marked: String) {
        let parts = marked.split(separator: "§", maxSplits: 1, omittingEmptySubsequences: false)
        let before = parts[0].utf8
        text = parts.joined()
        let lastLine = before.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).last ?? before[...]
        position = TextPosition(
            offset: before.count, line: before.count(where: { $0 == UInt8(ascii: "\n") }) + 1,
            column: lastLine.count + 1)
    }
}
