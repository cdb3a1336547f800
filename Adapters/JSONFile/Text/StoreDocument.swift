import MortiseCore
import MortiseEngine

/// The text of a whole JSON store: one object that holds the schema and every record. `FORMAT.md` describes it byte by
/// byte.
package enum StoreDocument {
    /// The value of the first member, `format`.
    package static let format = "mortise-json"
    /// The newest version of the format that this library reads. It writes the oldest one that has what there is to write.
    package static let formatVersion: UInt64 = 2
    /// The oldest version in which data may be external.
    package static let versionOfReferences: UInt64 = 2
    /// No text shorter than this holds a document.
    package static let minimumSize = 127

    /// Checks a text that was edited by hand as `StoreDocumentReader` does with `integrity: .acceptEdits`, then writes
    /// what it holds to `sink` in canonical form, with a seal that fits.
    ///
    /// The sink gets nothing before the whole text has been found valid.
    /// - Throws: `StoreDocumentError` for what is wrong with the text, or what the sink throws.
    package static func reseal(_ bytes: UnsafeRawBufferPointer, to sink: @escaping JSONWriter.Sink) throws {
        let reader = StoreDocumentReader(bytes, integrity: .acceptEdits)
        var hasReferences = false
        let header = try reader.read { _, _, values in
            if !hasReferences { hasReferences = values.contains { ExternalReference(storedForm: $0) != nil } }
        }
        var writer = try StoreDocumentWriter(
            storeIdentifier: header.storeIdentifier, schema: header.schema, nextSequence: header.nextSequence,
            hasReferences: hasReferences, sink: sink)
        var current: String?
        try reader.read { layout, sequence, values in
            if layout.entityName != current {
                current = layout.entityName
                try writer.begin(entity: layout.entityName)
            }
            try writer.write(sequence: sequence) { values[$0] }
        }
        try writer.finish()
    }
}

/// What a JSON store demands of its file's seal.
public enum JSONFileIntegrity: Sendable, Hashable {
    /// The seal must exist and match the text, so that damage and edits are found.
    case required
    /// The seal is ignored, so that a file edited by hand can be read. Damage that leaves the text valid goes unnoticed.
    case acceptEdits
}

/// What a store document says of itself before its records.
package struct StoreDocumentHeader: Sendable, Hashable {
    package var storeIdentifier: String
    package var schema: StoredSchema
    /// The number that the next new record gets; all numbers in use are smaller.
    package var nextSequence: UInt64
    /// Whether the seal is there and fits.
    package var isSealed: Bool
    package var formatVersion: UInt64

    package init(
        storeIdentifier: String, schema: StoredSchema, nextSequence: UInt64, isSealed: Bool, formatVersion: UInt64 = 1
    ) {
        self.formatVersion = formatVersion
        self.storeIdentifier = storeIdentifier
        self.schema = schema
        self.nextSequence = nextSequence
        self.isSealed = isSealed
    }
}
