import MortiseCore
import MortiseEngine

/// Turns the text of records into values.
struct RecordDecoder {
    let plan: DocumentPlan
    let nextSequence: UInt64
    /// Whether data may be external.
    private let takesReferences: Bool
    /// Which records there are, where that had to be found out in advance.
    var known: RecordDirectory?
    /// Which records have been met, where it had not.
    private(set) var directory: RecordDirectory
    private(set) var log: ReferenceLog
    /// By entity, so that a reference is made without a look-up of names.
    private let identifiers: [IdentifierNamespace]

    /// The reader as it was before the first record.
    private var start: JSONReader?

    // What is being read, for the error.
    private var sequence: UInt64?
    private var slot = -1

    private var values: ContiguousArray<StoredValue> = []
    private var targets: ContiguousArray<UInt64> = []
    /// For each slot kept in the file, whether the record has it already; only in use for a record in unusual order.
    private var seen: ContiguousArray<Bool> = []

    init(_ plan: DocumentPlan, header: StoreDocumentHeader) {
        self.plan = plan
        identifiers = plan.entities.map {
            IdentifierNamespace(storeIdentifier: header.storeIdentifier, entityName: $0.name)
        }
        nextSequence = header.nextSequence
        takesReferences = header.formatVersion >= StoreDocument.versionOfReferences
        directory = RecordDirectory(entityCount: plan.entities.count)
        log = ReferenceLog(plan)
    }

    /// Reads the value of `records`.
    mutating func read(_ reader: inout JSONReader, handler: StoreDocumentReader.RecordHandler) throws {
        try Self.expect(.object, in: &reader)
        start = reader
        try reader.beginObject()
        var isRead = plan.entities.map { _ in false }
        while let name = try reader.nextKey() {
            guard let index = plan.index(of: name) else {
                throw DocumentFault(.unknownEntity(name), at: reader.keyOffset, entity: name)
            }
            guard !isRead[index] else { throw JSONFault(reason: .duplicateKey(name), offset: reader.keyOffset) }
            isRead[index] = true
            try readEntity(index, &reader, handler: handler)
        }
        if let missing = isRead.firstIndex(of: false) {
            let name = plan.entities[missing].name
            throw DocumentFault(.missingEntity(name), at: reader.position - 1, entity: name)
        }
    }

    private mutating func readEntity(
        _ index: Int, _ reader: inout JSONReader, handler: StoreDocumentReader.RecordHandler
    ) throws {
        let entity = plan.entities[index]
        values = ContiguousArray(repeating: .null, count: entity.layout.slots.count)
        seen = ContiguousArray(repeating: false, count: entity.slots.count)
        var previous: UInt64?
        sequence = nil
        slot = -1
        do {
            try Self.expect(.array, in: &reader)
            try reader.beginArray()
            while try reader.nextElement() {
                sequence = nil
                slot = -1
                let number = try readIdentifier(&reader, previous: previous)
                sequence = number
                previous = number
                if known == nil { directory.append(number, to: index) }
                for (slot, value) in entity.absentValues { values[slot] = value }
                try readProperties(of: entity, index, &reader)
                try handler(entity.layout, number, &values)
                // A handler may have taken the whole array.
                while values.count < entity.layout.slots.count { values.append(.null) }
            }
        } catch let fault as JSONFault {
            throw inContext(DocumentFault(fault), of: entity)
        } catch let fault as DocumentFault {
            throw inContext(fault, of: entity)
        }
    }

    private func inContext(_ fault: DocumentFault, of entity: DocumentPlan.Entity) -> DocumentFault {
        var fault = fault
        fault.entity = fault.entity ?? entity.name
        fault.identifier = fault.identifier ?? sequence
        if fault.property == nil, slot >= 0 { fault.property = entity.names[slot] }
        return fault
    }

    private static func expect(_ wanted: JSONReader.Kind, in reader: inout JSONReader) throws {
        let found = try reader.peek()
        guard found == wanted else {
            throw DocumentFault(.wrongType(expected: wanted.rawValue, found: found.rawValue), at: reader.position)
        }
    }
}

// MARK: - One record

extension RecordDecoder {
    /// Enters a record and reads its number.
    private mutating func readIdentifier(_ reader: inout JSONReader, previous: UInt64?) throws -> UInt64 {
        // As the writer writes it; anything else is read with more care.
        if !reader.beginObject(writtenAs: "{\"$id\": ") {
            try Self.expect(.object, in: &reader)
            let start = reader.position
            try reader.beginObject()
            guard try reader.nextKey() == DocumentPlan.identifierKey else {
                throw DocumentFault(.missingIdentifier, at: start)
            }
        }
        try Self.expect(.number, in: &reader)
        let number = try reader.readNumber()
        let offset = number.range.lowerBound
        guard let value = reader.unsigned(number) else { throw DocumentFault(.numberOutOfRange(.uint64), at: offset) }
        if let previous, value <= previous {
            throw DocumentFault(
                value == previous ? .duplicateIdentifier : .identifierOutOfOrder(previous: previous), at: offset,
                identifier: value)
        }
        guard value < nextSequence else {
            throw DocumentFault(.identifierNotBelowNext(next: nextSequence), at: offset, identifier: value)
        }
        return value
    }

    @inline(__always) private mutating func readProperties(
        of entity: DocumentPlan.Entity, _ index: Int, _ reader: inout JSONReader
    ) throws {
        var budget = TreeBudget(documentLength: reader.bytes.count)
        var position = 0
        while position < entity.slots.count {
            guard reader.consume(entity.slots[position].prefix) else { break }
            slot = position
            try readValue(entity, index, &reader, &budget)
            position &+= 1
        }
        slot = -1
        try readRest(of: entity, index, &reader, &budget, from: position)
    }

    /// Reads what does not follow in the usual order, with the usual spaces; as a rule only the end of the record.
    private mutating func readRest(
        of entity: DocumentPlan.Entity, _ index: Int, _ reader: inout JSONReader, _ budget: inout TreeBudget,
        from position: Int
    ) throws {
        var isFirst = true
        while let key = try reader.nextKey() {
            if isFirst {
                for earlier in seen.indices { seen[earlier] = earlier < position }
                isFirst = false
            }
            let offset = reader.keyOffset
            guard let layoutSlot = entity.layout.slot(named: key) else {
                if key == DocumentPlan.identifierKey { throw JSONFault(reason: .duplicateKey(key), offset: offset) }
                throw DocumentFault(.unknownProperty(key), at: offset, property: key)
            }
            guard let position = entity.positions[layoutSlot] else {
                throw DocumentFault(.propertyNotStored(key), at: offset, property: key)
            }
            slot = position
            guard !seen[position] else { throw JSONFault(reason: .duplicateKey(key), offset: offset) }
            seen[position] = true
            try readValue(entity, index, &reader, &budget)
            slot = -1
        }
        let missing = isFirst ? (position < entity.slots.count ? position : nil) : seen.firstIndex(of: false)
        guard let missing else { return }
        slot = missing
        throw DocumentFault(
            .missingProperty(isOptional: entity.slots[missing].isOptional), at: reader.position - 1)
    }

    /// Reads the value of the current slot.
    @inline(__always) private mutating func readValue(
        _ entity: DocumentPlan.Entity, _ index: Int, _ reader: inout JSONReader, _ budget: inout TreeBudget
    ) throws {
        let isNull = try reader.readNullIfPresent()
        if isNull, !entity.slots[slot].isOptional { throw DocumentFault(.nullForRequired, at: reader.position - 4) }
        switch entity.slots[slot].content {
        case .attribute(.data) where !isNull && takesReferences:
            values[entity.slots[slot].index] =
                try reader.peek() == .object
                ? try ExternalText.read(from: &reader).storedForm
                : try AttributeText.read(.data, from: &reader, budget: &budget)
        case .attribute(let kind):
            values[entity.slots[slot].index] =
                isNull ? .null : try AttributeText.read(kind, from: &reader, budget: &budget)
        case .toOne(let destination):
            let target = isNull ? nil : try readTarget(&reader)
            log.append(toOne: target, entity: index, slot: slot)
            values[entity.slots[slot].index] =
                target.map { .identifier(identifier(of: $0, destination: destination)) } ?? .null
        case .toMany(let destination):
            targets.removeAll(keepingCapacity: true)
            if !isNull { try readTargets(&reader, destination: destination) }
            log.append(toMany: targets, entity: index, slot: slot)
            values[entity.slots[slot].index] =
                isNull ? .null : .identifiers(targets.map { identifier(of: $0, destination: destination) })
        }
    }

    private func readTarget(_ reader: inout JSONReader) throws -> UInt64 {
        try Self.expect(.number, in: &reader)
        let number = try reader.readNumber()
        guard let target = reader.unsigned(number) else {
            throw DocumentFault(.numberOutOfRange(.uint64), at: number.range.lowerBound)
        }
        guard target < nextSequence else {
            throw DocumentFault(.danglingReference(target: target), at: number.range.lowerBound)
        }
        return target
    }

    private mutating func readTargets(_ reader: inout JSONReader, destination: Int) throws {
        try Self.expect(.array, in: &reader)
        let arrayOffset = reader.position
        // Each target takes up text as a record too, 17 bytes on average in large files. A document that lists more
        // targets gets no memory for them.
        var bound = 10_000 + reader.bytes.count / 17
        try reader.beginArray()
        while try reader.nextElement() {
            _ = try reader.peek()
            let offset = reader.position
            let target = try readTarget(&reader)
            if let last = targets.last, last >= target { throw DocumentFault(.referencesOutOfOrder, at: offset) }
            targets.append(target)
            if targets.count > bound {
                bound = .max
                try checkTargets(destination: destination, offset: arrayOffset)
            }
        }
    }

    private func checkTargets(destination: Int, offset: Int) throws {
        guard let start else { return }
        let directory = RecordDirectory(scanning: start, plan)
        let missing = targets.first { directory.place(of: $0, under: destination, in: plan) == nil }
        if let missing { throw DocumentFault(.danglingReference(target: missing), at: offset) }
    }

    private func identifier(of target: UInt64, destination: Int) -> PersistentIdentifier {
        var entity = destination
        // What does not lead to the destination is found out when all records are known.
        if plan.entities[destination].members.count > 1, let holder = known?.holder(of: target) { entity = holder }
        return identifiers[entity][target]
    }
}
