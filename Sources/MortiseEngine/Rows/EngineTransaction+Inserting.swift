import MortiseCore

extension EngineTransaction {
    /// Inserts records of one entity with consecutive numbers, the first of which is `sequence`. Throws if a value does
    /// not fit its column or a unique key is taken.
    func insert(
        _ snapshots: UnsafeBufferPointer<DefaultSnapshot>, _ arrangement: Arrangement, from sequence: UInt64,
        _ new: NewIdentifiers
    ) throws {
        let plan = arrangement.plan
        let table = table(plan.number)
        let first = table.endRow
        var done = 0
        while done < snapshots.count {
            let rows = table.append(upTo: snapshots.count - done, from: sequence + UInt64(done))
            let part = UnsafeBufferPointer(rebasing: snapshots[done..<(done + rows.count)])
            try writeAttributes(of: part, arrangement, table, rows)
            for relationship in catalog.relationships[plan.number] {
                try writeRelationship(relationship, of: part, arrangement, table, rows, new)
            }
            done += rows.count
        }
        if bulk == nil {
            for row in first..<table.endRow { try index(table, plan.number, row) }
            return
        }
        for (number, definition) in plan.indexes.enumerated() {
            bulk?.withIndex(number, entity: plan.number) { entries in
                entries.append(first..<table.endRow, of: table, definition, key)
            }
        }
    }

    private func writeAttributes(
        of snapshots: UnsafeBufferPointer<DefaultSnapshot>, _ arrangement: Arrangement, _ table: TableWriter,
        _ rows: Range<Int>
    ) throws {
        if snapshots.count == 1, arrangement.isIdentity {
            return try writeAttributes(of: snapshots[0], arrangement.plan, table)
        }
        for column in arrangement.plan.columns where column.role == .attribute && column.form != .none {
            var left: UInt64
            if let source = arrangement.source(of: column.slot) {
                left = table.write(snapshots, source, column, rows)
            } else {
                left = rows.count == 64 ? .max : 1 << UInt64(rows.count) - 1
            }
            while left != 0 {
                let place = left.trailingZeroBitCount
                left &= left - 1
                let row = rows.lowerBound + place
                let value = arrangement.value(of: snapshots[place], at: column.slot)
                if try !write(value, row, column, table, isNew: true) {
                    throw unfit(value, column, arrangement.plan.identifiers[table.sequence(row)])
                }
            }
        }
    }

    /// Of the row that was added last. Most saves have one record, for which it does not pay to go column by column.
    private func writeAttributes(of snapshot: DefaultSnapshot, _ plan: TablePlan, _ table: TableWriter) throws {
        let row = table.endRow - 1
        let count = plan.columns.count
        try plan.columns.withUnsafeBufferPointer { columns in
            try snapshot.values.withUnsafeBufferPointer { values in
                var slot = 0
                while slot < count {
                    // Writes as many as it can.
                    slot = table.writeNewest(values, columns, from: slot)
                    guard slot < count else { break }
                    if try !write(values[slot], row, columns[slot], table, isNew: true) {
                        throw unfit(values[slot], columns[slot], plan.identifiers[table.sequence(row)])
                    }
                    slot += 1
                }
            }
        }
    }

    private func writeRelationship(
        _ relationship: Relationship, of snapshots: UnsafeBufferPointer<DefaultSnapshot>, _ arrangement: Arrangement,
        _ table: TableWriter, _ rows: Range<Int>, _ new: NewIdentifiers
    ) throws {
        let entity = arrangement.plan.number
        for place in snapshots.indices {
            let row = rows.lowerBound + place
            let value = arrangement.value(of: snapshots[place], at: relationship.slot)
            if relationship.isToMany {
                try setMembers(value, relationship, entity, table, row, new, isNew: true)
            } else {
                try setTarget(value, relationship, entity, table, row, new, isNew: true)
            }
        }
    }
}

extension SortedEntries {
    /// Adds the keys that rows have in an index.
    mutating func append(
        _ rows: Range<Int>, of table: TableWriter, _ definition: IndexDefinition, _ key: KeyBuffer
    ) {
        reserve(rows.count)
        let only = definition.components.count == 1 ? definition.components[0] : nil
        var codes = CodedKeys()
        var row = rows.lowerBound
        while row < rows.upperBound {
            let end = min(rows.upperBound, (row >> Chunk.shift + 1) << Chunk.shift)
            let place = table.place(row)
            if let only, !only.isOptional,
                append(
                    row..<end, place, place.entry(only.slot), isWide, &codes,
                    {
                        key.setKey(place, $0 & Chunk.mask, definition, table.dictionaries)
                        return key.key
                    })
            {
                row = end
                continue
            }
            for row in row..<end {
                let isExempt = key.setKey(place, row & Chunk.mask, definition, table.dictionaries)
                append(key.key, row: UInt64(row), isExempt: isExempt)
            }
            row = end
        }
    }

    /// As `append`, for rows of one chunk and a column that is the whole key and has a value everywhere; without putting
    /// each key together.
    /// - Returns: false, and nothing is added, for other kinds of column.
    private mutating func append(
        _ rows: Range<Int>, _ place: ChunkPlace, _ entry: ChunkPlace.Entry, _ isWide: Bool, _ codes: inout CodedKeys,
        _ key: (_ row: Int) -> UnsafeRawBufferPointer
    ) -> Bool {
        switch entry.form {
        case .uuid where isWide:
            for row in rows {
                let words = place.load(entry, row & Chunk.mask, as: (UInt64, UInt64).self)
                append(head: UInt64(bigEndian: words.0), second: UInt64(bigEndian: words.1), row: UInt64(row))
            }
        case .double where !isWide, .date where !isWide:
            for row in rows {
                let number = place.double(entry, row & Chunk.mask)
                append(
                    head: KeyBuffer.ordered(number), second: 0, row: UInt64(row), isExempt: number.isNaN)
            }
        case .int64 where !isWide:
            for row in rows {
                let bits = UInt64(littleEndian: place.load(entry, row & Chunk.mask, as: UInt64.self))
                append(head: bits ^ (1 << 63), second: 0, row: UInt64(row))
            }
        case .code:
            for row in rows {
                let code = place.code(entry, row & Chunk.mask)
                let known = codes[code] ?? codes.add(code, IndexProbe(key(row), row: 0, isWide: isWide), &self)
                append(head: known.head, second: known.second, tail: known.tail, row: UInt64(row))
            }
        case .text:
            for row in rows {
                let bytes = place.bytes(entry, row & Chunk.mask)
                append(KeyBuffer.isItsOwnKey(bytes) ? bytes : key(row), row: UInt64(row))
            }
        default: return false
        }
        return true
    }
}

/// The keys of strings that a dictionary has, by their numbers.
private struct CodedKeys {
    struct Key {
        let head: UInt64
        let second: UInt64
        let tail: Int
    }
    private var keys: [Key?] = []

    @inline(__always)
    subscript(code: Int) -> Key? { code < keys.count ? keys[code] : nil }

    mutating func add(_ code: Int, _ probe: IndexProbe, _ entries: inout SortedEntries) -> Key {
        if code >= keys.count { keys += repeatElement(nil, count: code + 1 - keys.count) }
        let key = Key(head: probe.head, second: probe.second, tail: entries.keep(probe.tail))
        keys[code] = key
        return key
    }
}
