import MortiseCore
import MortiseEngine

/// Reads a store document record by record, and checks all of it.
///
/// Time is linear in the length of the text. Beyond the text itself, reading allocates less than 3 bytes for each of
/// its bytes and 16 MB, whatever the text holds. The bytes have to stay in place and unchanged during a call.
///
/// Errors in the text are `StoreDocumentError`s. They are looked for in this order, so that the same text always
/// gives the same one: size, format and version, then (with `integrity: .required`) the seal, then everything else
/// from top to bottom, and references among records last. Where the seal is broken and the text is not even JSON,
/// that is reported instead, since it names the position.
package struct StoreDocumentReader {
    /// Takes a record: its layout, its number, and a value for each slot of the layout. The values may be moved out;
    /// the array is used again for the next record.
    package typealias RecordHandler = (RecordLayout, UInt64, inout ContiguousArray<StoredValue>) throws -> Void

    private let bytes: UnsafeRawBufferPointer
    private let integrity: JSONFileIntegrity

    package init(_ bytes: UnsafeRawBufferPointer, integrity: JSONFileIntegrity = .required) {
        self.bytes = bytes
        self.integrity = integrity
    }

    /// Reads everything before the records; records are neither read nor checked.
    package func readHeader() throws -> StoreDocumentHeader {
        try locating { try readHead().header }
    }

    /// Reads the whole document.
    ///
    /// If the seal does not match as the integrity demands, no handler is called. Any other error can come at any time,
    /// even after the last record: what the handlers got is valid only once the method has returned.
    /// - Parameters:
    ///   - handleHeader: Called once, before the first record.
    ///   - record: Called for each record, entities in the order of the document, records by ascending number. To-one
    ///     values are `.identifier` or `.null`, stored to-many values `.identifiers`, ascending; derived to-many values
    ///     are `.identifiers([])`, and ephemeral attributes have their default, or `.null`.
    /// - Returns: The header.
    /// - Throws: `StoreDocumentError`, or what a handler throws.
    @discardableResult package func read(
        header handleHeader: (StoreDocumentHeader) throws -> Void = { _ in }, record: RecordHandler
    ) throws -> StoreDocumentHeader {
        try locating {
            var (header, reader, plan) = try readHead()
            try handleHeader(header)
            let start = reader.position
            var decoder = RecordDecoder(plan, header: header)
            if plan.hasPolymorphicReferences { decoder.known = RecordDirectory(scanning: reader, plan) }
            try decoder.read(&reader, handler: record)
            try finish(&reader)
            try check(decoder, plan: plan, recordsAt: start)
            return header
        }
    }

    private func locating<Result>(_ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch let fault as JSONFault {
            throw DocumentFault(fault).located(in: bytes)
        } catch let fault as DocumentFault {
            throw fault.located(in: bytes)
        }
    }
}

// MARK: - Head

extension StoreDocumentReader {
    /// Reads up to the value of `records`.
    private func readHead() throws -> (header: StoreDocumentHeader, reader: JSONReader, plan: DocumentPlan) {
        var reader = JSONReader(bytes)
        let version = try readFormat(&reader)
        let seal = DocumentSeal.state(of: bytes)
        if integrity == .required { try demand(seal) }

        try expectMember("store", &reader)
        let store = try readValue(.string, &reader) { try $0.readString() }
        try expectMember("schema", &reader)
        _ = try reader.peek()
        let schemaStart = reader.position
        var schemaReader = SchemaReader()
        let schema = try schemaReader.read(&reader)
        let plan: DocumentPlan
        do {
            plan = try DocumentPlan(schema)
        } catch {
            let subject = error.subject
            throw DocumentFault(
                .invalidSchema(error), at: schemaReader.offset(of: error, otherwise: schemaStart),
                entity: subject.entity, property: subject.property)
        }
        try expectMember("nextSequence", &reader)
        _ = try reader.peek()
        let nextStart = reader.position
        let next = try readCount(&reader)
        guard next < EngineVersion.numberLimit else {
            throw DocumentFault(.nextSequenceTooLarge(limit: EngineVersion.numberLimit), at: nextStart)
        }
        try expectMember("records", &reader)
        let header = StoreDocumentHeader(
            storeIdentifier: store, schema: schema, nextSequence: next, isSealed: seal == .intact,
            formatVersion: version)
        return (header, reader, plan)
    }

    private func readFormat(_ reader: inout JSONReader) throws -> UInt64 {
        guard !bytes.isEmpty else { throw DocumentFault(.empty, at: 0) }
        guard bytes.count >= StoreDocument.minimumSize else {
            throw DocumentFault(.tooShort(byteCount: bytes.count, minimum: StoreDocument.minimumSize), at: 0)
        }
        reader.skipWhitespace()
        if bytes[reader.position] != UInt8(ascii: "{") {
            if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { _ = try reader.peek() }
            throw DocumentFault(.anotherFormat(found: nil), at: reader.position)
        }
        try reader.beginObject()
        guard try reader.nextKey() == "format", try reader.peek() == .string else {
            throw DocumentFault(.anotherFormat(found: nil), at: reader.keyOffset)
        }
        let start = reader.position
        let format = try reader.readString()
        guard format == StoreDocument.format else { throw DocumentFault(.anotherFormat(found: format), at: start) }
        try expectMember("formatVersion", &reader)
        let version = try readCount(&reader)
        let offset = reader.position
        guard version <= StoreDocument.formatVersion else {
            throw DocumentFault(.newerFormat(version: version, supported: StoreDocument.formatVersion), at: offset)
        }
        guard version >= 1 else { throw DocumentFault(.unknownFormatVersion, at: offset) }
        return version
    }

    /// Throws for a seal that does not fit, unless the text is malformed: then that tells more.
    private func demand(_ seal: DocumentSeal.State) throws {
        guard seal != .intact else { return }
        var reader = JSONReader(bytes)
        try reader.skipValue()
        try reader.finish()
        let lastLine = max(0, bytes.count - DocumentSeal.length)
        if case .broken(let stored, let computed) = seal {
            throw DocumentFault(.sealBroken(stored: stored, computed: computed), at: lastLine)
        }
        throw DocumentFault(.sealMissing, at: bytes.count)
    }

    private func expectMember(_ name: String, _ reader: inout JSONReader) throws {
        guard let key = try reader.nextKey() else {
            throw DocumentFault(.unexpectedMember(found: nil, expected: name), at: reader.position - 1)
        }
        guard key == name else {
            throw DocumentFault(.unexpectedMember(found: key, expected: name), at: reader.keyOffset)
        }
    }

    private func readValue<Value>(
        _ wanted: JSONReader.Kind, _ reader: inout JSONReader, _ read: (inout JSONReader) throws -> Value
    ) throws -> Value {
        let found = try reader.peek()
        guard found == wanted else {
            throw DocumentFault(.wrongType(expected: wanted.rawValue, found: found.rawValue), at: reader.position)
        }
        return try read(&reader)
    }

    private func readCount(_ reader: inout JSONReader) throws -> UInt64 {
        try readValue(.number, &reader) { reader in
            let number = try reader.readNumber()
            guard let value = reader.unsigned(number) else {
                throw DocumentFault(.numberOutOfRange(.uint64), at: number.range.lowerBound)
            }
            return value
        }
    }
}

// MARK: - Tail

extension StoreDocumentReader {
    /// Reads what follows the records: the seal, which may be missing where edits are accepted.
    private func finish(_ reader: inout JSONReader) throws {
        if let key = try reader.nextKey() {
            guard key == "seal" else {
                throw DocumentFault(.unexpectedMember(found: key, expected: "seal"), at: reader.keyOffset)
            }
            _ = try readValue(.string, &reader) { try $0.readString() }
            if let key = try reader.nextKey() { throw DocumentFault(.unknownMember(key), at: reader.keyOffset) }
        }
        try reader.finish()
    }

    /// Checks what can only be known when every record is.
    private func check(_ decoder: RecordDecoder, plan: DocumentPlan, recordsAt start: Int) throws {
        let directory = decoder.known ?? decoder.directory
        if let sequence = directory.firstDuplicate() {
            throw try locate(duplicate: sequence, recordsAt: start)
        }
        let violation = ReferenceCheck(plan: plan, directory: directory, log: decoder.log).firstViolation()
        if let violation { throw try locate(violation, plan: plan, recordsAt: start) }
    }

    /// The fault of a number's second record.
    private func locate(duplicate sequence: UInt64, recordsAt start: Int) throws -> DocumentFault {
        var walker = RecordWalker(JSONReader(bytes, at: start, depth: 1))
        var isSecond = false
        while let record = try walker.next() {
            if record.sequence == sequence {
                if isSecond {
                    return DocumentFault(
                        .duplicateIdentifier, at: record.offset, entity: record.entity, identifier: sequence)
                }
                isSecond = true
            }
            try walker.skip()
        }
        return DocumentFault(.duplicateIdentifier, at: start, identifier: sequence)
    }

    /// The error of a record whose unique values another record has; the caller has found the conflict.
    package func error(
        ofRecord sequence: UInt64, entity: String, properties: [String], other: UInt64
    ) throws -> StoreDocumentError {
        try locating {
            let (_, reader, _) = try readHead()
            var fault = DocumentFault(
                .notUnique(properties: properties, other: other), at: reader.position, entity: entity,
                property: properties.first, identifier: sequence)
            var walker = RecordWalker(JSONReader(bytes, at: reader.position, depth: 1))
            while let record = try walker.next() {
                if record.sequence == sequence {
                    let property = try properties.first.flatMap { try walker.offset(of: $0) }
                    fault.offset = property ?? record.offset
                    break
                }
                try walker.skip()
            }
            return fault.located(in: bytes)
        }
    }

    /// Where the text of a record is; nil where the document has no such record.
    /// - Throws: `StoreDocumentError` for a text that is not as described up to there.
    package func range(ofRecord sequence: UInt64) throws -> Range<Int>? {
        try locating {
            let (_, reader, _) = try readHead()
            var walker = RecordWalker(JSONReader(bytes, at: reader.position, depth: 1))
            while let record = try walker.next() {
                try walker.skip()
                if record.sequence == sequence { return record.offset..<walker.position }
            }
            return nil
        }
    }

    /// The fault of a reference that does not hold.
    private func locate(
        _ violation: ReferenceCheck.Violation, plan: DocumentPlan, recordsAt start: Int
    ) throws -> DocumentFault {
        let entity = plan.entities[violation.entity]
        let property = entity.names[violation.slot]
        let reason: StoreDocumentError.Reason =
            switch violation.reason {
            case .dangling: .danglingReference(target: violation.target)
            case .wrongDestination(let found, let expected):
                .wrongDestination(
                    target: violation.target, found: plan.entities[found].name, expected: plan.entities[expected].name)
            case .oneSided(let inverse): .oneSidedReference(target: violation.target, inverse: inverse)
            }
        var fault = DocumentFault(
            reason, at: start, entity: entity.name, property: property, identifier: violation.owner)
        var walker = RecordWalker(JSONReader(bytes, at: start, depth: 1))
        while let record = try walker.next() {
            if record.sequence == violation.owner {
                fault.offset = try walker.offset(of: property) ?? record.offset
                break
            }
            try walker.skip()
        }
        return fault
    }
}
