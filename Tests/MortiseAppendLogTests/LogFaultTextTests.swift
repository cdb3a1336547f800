import Foundation
import MortiseCore
import MortiseEngine
import Testing

@testable import MortiseAppendLog
import MortiseTestSupport

/// Past faults: a file's header, a region and a whole checkpoint were "the content of a frame", without a way out; a default
/// value of the schema was "schema.default value".
struct LogFaultTextTests {
    private func message(_ disk: SimulatedFileSystem) -> String {
        do {
            try openStore(logConfiguration(disk)).close()
            return "it opens"
        } catch {
            return "\(error)"
        }
    }

    @Test func whatIsMalformedIsNamedWithItsOffsetAndAWayOut() throws {
        let header = FileHeader(kind: .log, store: UUID(), base: 1 << 62)
        #expect(
            message(try makeDisk(with: header.bytes)) == """
                \(logPath): At offset 48 the file header has a number that is not below 2^62. Salvage the store, or restore \
                a backup.
                """)
        #expect(
            "\(LogFault.malformed(part: .checkpoint, offset: nil, what: "contradicts itself"))".hasPrefix(
                "The checkpoint contradicts itself. "))
    }

    @Test func aDefaultThatWouldNotReadBackIsNamed() {
        let deep = (0..<600).reduce(StoredValue.integer(1)) { value, _ in .array([value]) }
        let property = StoredProperty(
            name: "deep", isOptional: false, content: .attribute(.init(kind: .coded, defaultValue: deep)))
        let schema = StoredSchema(entities: [StoredEntity(name: "Item", properties: [property])])
        #expect(throws: LogFault.unwritableDefault(entity: "Item", property: "deep")) {
            try LogCatalog(schema, store: "store").schemaPayload()
        }
    }

    @Test func aNumberThatWasUsedBeforeIsNoPropertysFault() throws {
        let schema = StoredSchema(entities: [StoredEntity(name: "Item", properties: [])])
        let loader = EngineLoader(Catalog(schema: schema, storeIdentifier: "store"))
        #expect {
            try loader.begin(entity: 0, sequence: 0)
        } throws: {
            "\($0)".hasPrefix("The record ") && "\($0)".hasSuffix(" cannot be inserted: its number was used before.")
        }
    }
}
