import Foundation
import MortiseCore
import MortiseEngine

/// Takes in a log's transactions from the first one on, under one schema.
struct LogLoad: TransactionVisitor {
    let catalog: LogCatalog
    let loader: EngineLoader
    private let forms: [[EngineLoader.DirectForm]]
    private(set) var nextSequence: UInt64 = 1

    init(_ catalog: LogCatalog) {
        self.catalog = catalog
        let loader = EngineLoader(
            Catalog(schema: catalog.schema, storeIdentifier: catalog.store, external: catalog.external))
        self.loader = loader
        forms = catalog.names.indices.map { loader.directForms(ofEntity: $0) }
    }

    private func fault(_ what: String) -> PayloadFault { PayloadFault(offset: 0, what: what) }

    mutating func begin(_ origin: TransactionOrigin, isErasure: Bool, nextSequence: UInt64) throws {
        guard nextSequence >= self.nextSequence else { throw fault("lowers the next record number") }
        self.nextSequence = nextSequence
        if isErasure { loader.erase() }
    }

    mutating func deleted(_ entity: Int, _ sequence: UInt64, preserved: [(slot: Int, value: StoredValue)]) throws {
        do {
            try loader.delete(entity: entity, sequence: sequence)
        } catch is EngineError {
            throw fault("deletes a record that does not exist")
        }
    }

    mutating func updated(_ entity: Int, _ sequence: UInt64, _ changes: [(slot: Int, value: StoredValue)]) throws {
        do {
            try loader.update(entity: entity, sequence: sequence, changes)
        } catch let error as EngineError {
            throw fault("has an invalid update: \(error)")
        }
    }

    mutating func inserted(_ entity: Int, _ sequence: UInt64, _ values: ContiguousArray<StoredValue>) throws {
        try begin(entity, sequence)
        for slot in catalog.storedSlots[entity] where !loader.set(values[slot], slot: slot) {
            throw fault("has a value for \(catalog.layouts[entity].slots[slot].name) of the wrong kind")
        }
    }

    /// Inserts take most of a log: their values go into the columns without one for each in between.
    mutating func inserted(_ entity: Int, _ count: Int, from reader: inout ByteReader, _ catalog: LogCatalog) throws {
        let forms = forms[entity]
        let stored = catalog.storedSlots[entity]
        for _ in 0..<count {
            reader.beginRecord()
            let sequence = try reader.varint()
            try begin(entity, sequence)
            for slot in stored {
                let fits =
                    switch (forms[slot], try reader.peek()) {
                    case (_, ValueTag.null): try reader.skipTag { _ in loader.setNull(slot: slot) }
                    case (.text, ValueTag.string):
                        try reader.skipTag { loader.set(utf8: try $0.utf8(), slot: slot) }
                    case (.integer, ValueTag.integer):
                        try reader.skipTag { loader.set(try $0.zigzag(), slot: slot) }
                    case (.double, ValueTag.double):
                        try reader.skipTag { loader.set(double: try $0.fixed(UInt64.self), slot: slot) }
                    case (.date, ValueTag.date):
                        try reader.skipTag { loader.set(date: try $0.fixed(UInt64.self), slot: slot) }
                    case (.uuid, ValueTag.uuid): try reader.skipTag { loader.set(try $0.uuid().uuid, slot: slot) }
                    case (.bool, ValueTag.no): try reader.skipTag { _ in loader.set(false, slot: slot) }
                    case (.bool, ValueTag.yes): try reader.skipTag { _ in loader.set(true, slot: slot) }
                    case (.unsigned, ValueTag.unsigned):
                        try reader.skipTag { loader.set(unsigned: try $0.varint(), slot: slot) }
                    case (.float, ValueTag.float):
                        try reader.skipTag { loader.set(float: try $0.fixed(UInt32.self), slot: slot) }
                    case (.reference, ValueTag.reference):
                        try reader.skipTag { reader in
                            let target = try reader.number(below: catalog.names.count, "entity")
                            return loader.set(reference: try reader.varint(), of: target, slot: slot)
                        }
                    default: loader.set(try reader.fitting(entity, slot, catalog), slot: slot)
                    }
                if !fits {
                    throw reader.fault(
                        "has a value for \(catalog.layouts[entity].slots[slot].name) of the wrong kind")
                }
            }
        }
    }

    private func begin(_ entity: Int, _ sequence: UInt64) throws {
        guard sequence < nextSequence else { throw fault("inserts a record whose number was used before") }
        do {
            try loader.begin(entity: entity, sequence: sequence)
        } catch is EngineError {
            throw fault("inserts a record whose number was used before")
        }
    }

    /// - Throws: `EngineError.notUnique`.
    func finish(_ transaction: UInt64) throws -> EngineVersion {
        let version = try loader.finish(number: transaction, nextSequence: nextSequence)
        return version.isSparse ? try version.withoutGaps() : version
    }
}

extension ByteReader {
    /// Runs the body after a value's first byte, which was looked at.
    @inline(__always)
    fileprivate mutating func skipTag(_ body: (inout ByteReader) throws -> Bool) throws -> Bool {
        _ = try byte()
        return try body(&self)
    }

    /// The bytes of a text, which are valid UTF-8.
    fileprivate mutating func utf8() throws(PayloadFault) -> UnsafeRawBufferPointer {
        let start = fault("has text that is not UTF-8")
        let bytes = try raw()
        guard bytes.isASCII || String(validating: bytes, as: UTF8.self) != nil else { throw start }
        return bytes
    }
}

extension UnsafeRawBufferPointer {
    fileprivate var isASCII: Bool {
        var offset = 0
        var bits: UInt64 = 0
        while count - offset >= 8 {
            bits |= loadUnaligned(fromByteOffset: offset, as: UInt64.self)
            offset += 8
        }
        while offset < count {
            bits |= UInt64(self[offset])
            offset += 1
        }
        return bits & 0x8080_8080_8080_8080 == 0
    }
}
