import MortiseCore
import MortiseEngine

/// Writes a store document to a sink, record by record; the same records give the same bytes.
///
/// Use it in this order: for each entity, in the order of the schema, `begin(entity:)` and then `write` for each of its
/// records, by ascending number; at the end `finish`. Entities that are not begun have no records. What the sink got is
/// a document only once `finish` has returned: after an error everything has to be thrown away.
///
/// The writer refuses what `StoreDocumentReader` would not read back as it was; each of its methods throws
/// `StoreDocumentWriteError` for that, and whatever the sink throws. It keeps a few bytes for each record and
/// reference, to check them at the end.
package struct StoreDocumentWriter: ~Copyable {
    private final class SealBox {
        var seal = DocumentSeal()
    }

    private var writer: JSONWriter
    private let box: SealBox
    private let storeIdentifier: String
    private let nextSequence: UInt64
    private let hasReferences: Bool
    private let plan: DocumentPlan
    private var directory: RecordDirectory
    private var log: ReferenceLog
    private var targets: ContiguousArray<UInt64> = []
    /// The family of the store's own identifiers that was met last.
    private var ownNamespace: UInt32?
    /// The entity whose records are being written; before the first, -1.
    private var entity = -1

    /// Writes everything before the records.
    /// - Parameters:
    ///   - storeIdentifier: The identifier of the store.
    ///   - schema: The schema of the records.
    ///   - nextSequence: The number that the next new record will get.
    ///   - hasReferences: Whether any record has data in an external file.
    ///   - sink: Takes the bytes, in pieces of up to 64 KiB.
    /// - Throws: `StoreDocumentWriteError` for a schema that the format cannot express; what the sink throws.
    package init(
        storeIdentifier: String, schema: StoredSchema, nextSequence: UInt64, hasReferences: Bool = false,
        sink: @escaping JSONWriter.Sink
    ) throws {
        self.hasReferences = hasReferences
        let box = SealBox()
        self.box = box
        self.storeIdentifier = storeIdentifier
        self.nextSequence = nextSequence
        let schema = StoredSchema(version: schema.version, entities: schema.entities)
        let result = Result { () throws(StoredSchemaFault) in try DocumentPlan(schema) }
        // A noncopyable value that is not yet complete cannot be left by an error.
        plan = (try? result.get()) ?? DocumentPlan()
        directory = RecordDirectory(entityCount: plan.entities.count)
        log = ReferenceLog(plan)
        writer = JSONWriter { bytes in
            box.seal.update(bytes)
            try sink(bytes)
        }
        if case .failure(let fault) = result { throw StoreDocumentWriteError(reason: .invalidSchema(fault)) }
        try writeHead(schema)
    }

    private mutating func writeHead(_ schema: StoredSchema) throws {
        guard nextSequence < EngineVersion.numberLimit else {
            throw StoreDocumentWriteError(reason: .nextSequenceTooLarge(limit: EngineVersion.numberLimit))
        }
        try writer.punctuation("{\n  \"format\": ")
        try writer.string(StoreDocument.format)
        try writer.punctuation(",\n  \"formatVersion\": ")
        try writer.unsigned(hasReferences ? StoreDocument.versionOfReferences : 1)
        try writer.punctuation(",\n  \"store\": ")
        try writer.string(storeIdentifier)
        try writer.punctuation(",\n  \"schema\": ")
        do {
            try SchemaText.write(schema, to: &writer)
        } catch let fault as StoredSchemaFault {
            throw StoreDocumentWriteError(reason: .invalidSchema(fault))
        }
        try writer.punctuation(",\n  \"nextSequence\": ")
        try writer.unsigned(nextSequence)
        try writer.punctuation(",\n  \"records\": {")
    }

    /// Continues with an entity after the current one.
    package mutating func begin(entity name: String) throws {
        guard let index = plan.index(of: name), index > entity else {
            throw StoreDocumentWriteError(reason: .entityOutOfOrder, entity: name)
        }
        try advance(to: index)
    }

    private mutating func advance(to index: Int) throws {
        while entity < index {
            try close()
            entity += 1
            guard entity < plan.entities.count else { return }
            try writer.punctuation(entity > 0 ? ",\n    " : "\n    ")
            try writer.string(plan.entities[entity].name)
            try writer.punctuation(": [")
        }
    }

    private mutating func close() throws {
        guard plan.entities.indices.contains(entity) else { return }
        try writer.punctuation(directory.last(of: entity) == nil ? "]" : "\n    ]")
    }

    /// Writes a record of the current entity.
    /// - Parameters:
    ///   - sequence: The record's number.
    ///   - value: Returns the value of a slot of the entity's layout. Called once for each slot that the file keeps, in
    ///     order; to-many targets may come in any order.
    /// - Throws: `StoreDocumentWriteError`; what `value` and the sink throw.
    package mutating func write(sequence: UInt64, value: (Int) throws -> StoredValue) throws {
        try withoutActuallyEscaping(value) { value in
            try write(sequence: sequence, ValueSource(values: value))
        }
    }

    /// Writes a record of the current entity that is in a row of a table.
    package mutating func write(row: Int, of table: TableVersion) throws {
        try write(sequence: table.sequence(ofRow: row), RowSourceOfText(table: table, row: row))
    }

    private mutating func write<Source: DocumentSource>(sequence: UInt64, _ source: Source) throws {
        var position = -1
        do {
            try writeRecord(sequence, position: &position, source)
        } catch let reason as StoreDocumentWriteError.Reason {
            let current = plan.entities.indices.contains(entity) ? plan.entities[entity] : nil
            throw StoreDocumentWriteError(
                reason: reason, entity: current?.name,
                property: position < 0 ? nil : current?.names[position], identifier: sequence)
        }
    }

    /// Ends the document with its seal, and hands everything to the sink.
    package mutating func finish() throws {
        try advance(to: plan.entities.count)
        if let sequence = directory.firstDuplicate() {
            throw StoreDocumentWriteError(reason: .duplicateSequence, identifier: sequence)
        }
        if plan.hasPolymorphicReferences { directory.mergeAll() }
        if let violation = ReferenceCheck(plan: plan, directory: directory, log: log).firstViolation() {
            throw StoreDocumentWriteError(violation, plan: plan)
        }
        try writer.punctuation(plan.entities.isEmpty ? "},\n" : "\n  },\n")
        try writer.flush()
        try writer.plain(box.seal.line)
        try writer.flush()
    }
}

// MARK: - Sources

/// Where the values of one record come from.
private protocol DocumentSource {
    func value(_ slot: Int) throws -> StoredValue
    /// Writes the value in a slot without making a stored value of it.
    /// - Returns: false where it has not, for whatever reason.
    func write(_ slot: Int, _ kind: StorageKind, to writer: inout JSONWriter) throws -> Bool
}

private struct ValueSource: DocumentSource {
    let values: (Int) throws -> StoredValue

    func value(_ slot: Int) throws -> StoredValue { try values(slot) }
    @inline(__always) func write(_ slot: Int, _ kind: StorageKind, to writer: inout JSONWriter) throws -> Bool { false }
}

private struct RowSourceOfText: DocumentSource {
    let table: TableVersion
    let row: Int

    func value(_ slot: Int) throws -> StoredValue { table.storedForm(row: row, slot: slot) }

    @inline(__always) func write(_ slot: Int, _ kind: StorageKind, to writer: inout JSONWriter) throws -> Bool {
        switch kind {
        case .string: return try table.withUTF8(row: row, slot: slot) { try writer.string(utf8: $0) }
        case .double:
            guard let value = table.double(row: row, slot: slot) else { return false }
            try writer.double(value)
        case .date:
            guard let value = table.date(row: row, slot: slot) else { return false }
            try DateText.write(value, to: &writer)
        case .uuid:
            guard let value = table.uuid(row: row, slot: slot) else { return false }
            try UUIDText.write(value, to: &writer)
        case .bool:
            guard let value = table.bool(row: row, slot: slot) else { return false }
            try writer.bool(value)
        case .int8, .int16, .int32, .int64, .uint8, .uint16, .uint32:
            guard let value = table.int64(row: row, slot: slot) else { return false }
            try writer.integer(value)
        default: return false
        }
        return true
    }
}

// MARK: - Records

extension StoreDocumentWriter {
    @inline(__always) private mutating func writeRecord<Source: DocumentSource>(
        _ sequence: UInt64, position: inout Int, _ source: Source
    ) throws {
        guard plan.entities.indices.contains(entity) else { throw StoreDocumentWriteError.Reason.noEntity }
        guard sequence < nextSequence else {
            throw StoreDocumentWriteError.Reason.sequenceNotBelowNext(next: nextSequence)
        }
        let previous = directory.last(of: entity)
        if let previous, previous >= sequence {
            throw StoreDocumentWriteError.Reason.sequenceOutOfOrder(previous: previous)
        }
        directory.append(sequence, to: entity)
        try writer.punctuation(previous == nil ? "\n      {\"$id\": " : ",\n      {\"$id\": ")
        try writer.unsigned(sequence)
        var budget = TreeBudget()
        let slots = plan.entities[entity].slots
        for index in slots.indices {
            position = index
            try writer.append(short: slots[index].prefix)
            switch slots[index].content {
            case .attribute(let kind):
                if try source.write(slots[index].index, kind, to: &writer) { continue }
                let value = try source.value(slots[index].index)
                if value.isNull {
                    try writeNull(for: slots[index])
                } else if hasReferences, kind == .data, let reference = ExternalReference(storedForm: value) {
                    try ExternalText.write(reference, to: &writer)
                } else {
                    try AttributeText.write(
                        value, kind: kind, depth: DocumentPlan.recordDepth, budget: &budget, to: &writer)
                }
            case .toOne: try writeToOne(try source.value(slots[index].index), slot: index, of: slots[index])
            case .toMany: try writeToMany(try source.value(slots[index].index), slot: index, of: slots[index])
            }
        }
        try writer.punctuation("}")
    }

    private mutating func writeNull(for slot: DocumentPlan.Slot) throws {
        guard slot.isOptional else { throw StoreDocumentWriteError.Reason.nullForRequired }
        try writer.punctuation("null")
    }

    private mutating func writeToOne(_ value: StoredValue, slot index: Int, of slot: DocumentPlan.Slot) throws {
        switch value {
        case .null:
            log.append(toOne: nil, entity: entity, slot: index)
            try writeNull(for: slot)
        case .identifier(let identifier):
            let target = try number(of: identifier)
            log.append(toOne: target, entity: entity, slot: index)
            try writer.unsigned(target)
        default: throw StoreDocumentWriteError.Reason.unfitValue(expected: "identifier", found: value.caseName)
        }
    }

    private mutating func writeToMany(_ value: StoredValue, slot index: Int, of slot: DocumentPlan.Slot) throws {
        targets.removeAll(keepingCapacity: true)
        switch value {
        case .null:
            log.append(toMany: [], entity: entity, slot: index)
            return try writeNull(for: slot)
        case .identifiers(let identifiers):
            for identifier in identifiers { targets.append(try number(of: identifier)) }
        default: throw StoreDocumentWriteError.Reason.unfitValue(expected: "identifiers", found: value.caseName)
        }
        targets.sort()
        try writer.punctuation("[")
        for index in targets.indices {
            if index > 0 {
                guard targets[index] != targets[index - 1] else {
                    throw StoreDocumentWriteError.Reason.duplicateReference(target: targets[index])
                }
                try writer.punctuation(", ")
            }
            try writer.unsigned(targets[index])
        }
        try writer.punctuation("]")
        log.append(toMany: targets, entity: entity, slot: index)
    }

    private mutating func number(of identifier: PersistentIdentifier) throws -> UInt64 {
        // Whose identifiers a space has takes a look-up of names.
        if identifier.namespace != ownNamespace {
            guard identifier.storeIdentifier == storeIdentifier else {
                throw StoreDocumentWriteError.Reason.foreignIdentifier(identifier.description)
            }
            ownNamespace = identifier.namespace
        }
        guard let target = identifier.sequenceNumber else {
            throw StoreDocumentWriteError.Reason.foreignIdentifier(identifier.description)
        }
        guard target < nextSequence else { throw StoreDocumentWriteError.Reason.danglingReference(target: target) }
        return target
    }
}

extension StoreDocumentWriteError {
    fileprivate init(reason: Reason, entity: String? = nil, identifier: UInt64? = nil) {
        self.init(reason: reason, entity: entity, property: nil, identifier: identifier)
    }

    fileprivate init(_ violation: ReferenceCheck.Violation, plan: DocumentPlan) {
        let entity = plan.entities[violation.entity]
        let reason: Reason =
            switch violation.reason {
            case .dangling: .danglingReference(target: violation.target)
            case .wrongDestination(let found, let expected):
                .wrongDestination(
                    target: violation.target, found: plan.entities[found].name, expected: plan.entities[expected].name)
            case .oneSided(let inverse): .oneSidedReference(target: violation.target, inverse: inverse)
            }
        self.init(
            reason: reason, entity: entity.name, property: entity.names[violation.slot],
            identifier: violation.owner)
    }
}
