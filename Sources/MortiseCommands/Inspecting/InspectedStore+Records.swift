#if Inspector
import Foundation
import MortiseCore

extension InspectedStore {
    /// The longest list of records that a page names one by one.
    private static let listed = 20

    /// A page of records.
    /// - Parameters:
    ///   - query: which records.
    ///   - limit: how many rows the page has at most.
    ///   - offset: how many records come before it.
    ///   - key: the key of the record right before it; the page begins after that one, wherever it is by now. Nil for the offset
    ///     alone.
    /// - Returns: the page.
    /// - Throws: `PredicateTextError`; `UnknownEntity`; what reading throws.
    package func page(
        _ query: InspectedQuery, limit: Int, offset: Int, after key: String?
    ) throws -> InspectedPage {
        try read { reading in
            let clock = ContinuousClock.now
            var stored = try reading.query(query)
            var page = InspectedPage(columns: try reading.columns(query))
            page.total = try reading.count(reading.counting(stored))
            (stored.offset, page.offset, page.lostItsPlace) = try reading.place(stored, offset, after: key)
            page.offset = stored.offset
            stored.limit = limit + 1
            let run = try StoreQueryRun(stored, in: reading.store)
            page.hasMore = run.records.count > limit
            page.rows = try reading.rows(run.records.prefix(limit), page.columns, run, listed: 3)
            page.explanation = run.explanation
            page.suggestion = run.explanation.isFullScan ? run.suggestion : nil
            page.seconds = (ContinuousClock.now - clock).seconds
            page.source = reading.source(stored)
            return page
        }
    }

    /// - Throws: `PredicateTextError`; `UnknownEntity`; what opening the store throws.
    package func check(_ query: InspectedQuery) throws {
        try read { reading in
            _ = try reading.query(query)
            _ = try reading.columns(query)
        }
    }

    /// A record with all its properties; nil where the store has no such record.
    /// - Throws: `UnknownEntity`; what reading throws.
    package func record(_ entity: String, _ key: String) throws -> InspectedRecord? {
        try read { reading in
            guard let run = try reading.find(entity, key), let found = run.records.first else { return nil }
            let identifier = run.reader.identifier(found)
            let layout = run.reader.tables[found.table].layout
            let values = try layout.slots.indices.map {
                try reading.value(run.reader.value(found, slot: $0), run, listed: Self.listed)
            }
            let title = reading.title(found, run.reader)
            try run.version.check()
            return InspectedRecord(
                record: identifier, key: ValueText.key(identifier), title: title, layout: layout, values: values,
                referrers: try reading.referrers(identifier))
        }
    }

    /// One value of a record; nil if there is no such record or property.
    /// - Throws: `UnknownEntity`; what reading throws.
    package func value(_ entity: String, _ key: String, _ property: String) throws -> StoredValue? {
        try read { reading in
            guard let run = try reading.find(entity, key), let found = run.records.first,
                let slot = run.reader.tables[found.table].layout.slot(named: property)
            else { return nil }
            let value = run.reader.value(found, slot: slot)
            try run.version.check()
            return value
        }
    }

    /// The most frequent values of a property among the records of a query, and how many other values there are.
    /// - Throws: `PredicateTextError`; `UnknownEntity`; what reading throws.
    package func facet(
        _ query: InspectedQuery, by path: String, limit: Int
    ) throws -> (values: [(value: StoredValue, count: Int)], others: Int) {
        try read { reading in
            var terms = GroupTerms()
            try reading.text.groupKeys(path, entity: query.entity, into: &terms)
            _ = try reading.text.functions("count", entity: query.entity, into: &terms)
            let groups = try GroupRun(reading.query(query), terms, in: reading.store).groups.map { group in
                (value: group.keys.first ?? .null, count: Int(ValueText.plain(group.values.first ?? .null)) ?? 0)
            }
            let sorted = groups.sorted { $0.count > $1.count }
            return (Array(sorted.prefix(limit)), max(0, sorted.count - limit))
        }
    }

    /// Runs a whole query, `Entity where PREDICATE sort KEYS limit N`, and tells how it was carried out.
    /// - Throws: `PredicateTextError`; `UnknownEntity`; what reading throws.
    package func ask(_ text: String, most: Int) throws -> InspectedPage {
        try read { reading in
            var query = try QueryText(text, reading.store).query(reading.store)
            let isCut = (query.limit ?? .max) > most
            query.limit = min(query.limit ?? most, most)
            let clock = ContinuousClock.now
            let run = try StoreQueryRun(query, in: reading.store)
            var page = InspectedPage(columns: try reading.columns(InspectedQuery(entity: query.entity)))
            page.seconds = (ContinuousClock.now - clock).seconds
            page.rows = try reading.rows(run.records[...], page.columns, run, listed: 3)
            page.total = run.count
            page.hasMore = isCut && run.count == most
            page.explanation = run.explanation
            page.suggestion = run.explanation.isFullScan ? run.suggestion : nil
            page.source = reading.source(query)
            return page
        }
    }

    /// Hands over all records of a query, some at a time, without keeping other requests from the store.
    /// - Throws: `PredicateTextError`; `UnknownEntity`; what reading throws; what the body throws.
    package func enumerate(
        _ query: InspectedQuery, limit: Int?, offset: Int, after key: String?,
        begin: ([InspectedColumn]) throws -> Void,
        _ body: (InspectedPage.Row) throws -> Void
    ) throws {
        try readApart { reading in
            let columns = try reading.columns(query)
            var stored = try reading.query(query)
            (stored.offset, _, _) = try reading.place(stored, offset, after: key)
            stored.limit = limit
            try begin(columns)
            let run = try StoreQueryRun(stored, in: reading.store)
            for start in stride(from: 0, to: run.records.count, by: 256) {
                let part = run.records[start..<min(start + 256, run.records.count)]
                for row in try reading.rows(part, columns, run, listed: 0) { try body(row) }
            }
        }
    }
}

/// A record with all its properties.
package struct InspectedRecord: Sendable {
    package let record: PersistentIdentifier
    package let key: String
    package let title: String
    package let layout: RecordLayout
    /// By slot of the layout.
    package let values: [InspectedValue]
    /// Who leads to this record by a relationship without an inverse: entity, property, and how many records.
    package let referrers: [(entity: String, property: String, isToMany: Bool, count: Int)]
}

extension InspectedStore.Reading {
    /// - Throws: `PredicateTextError`; `UnknownEntity`.
    func query(_ query: InspectedQuery) throws -> StoreQuery {
        try text.check(query.entity)
        let isFiltered = query.condition.contains { !$0.isWhitespace }
        let isSorted = query.order.contains { !$0.isWhitespace }
        return StoreQuery(
            query.entity, conjuncts: isFiltered ? try text.conditions(query.condition, entity: query.entity) : [],
            order: isSorted ? try text.order(query.order, entity: query.entity) : [])
    }

    /// The query as the code of a program with the models.
    func source(_ query: StoreQuery) -> InspectedSource {
        do throws(PredicateSource.Unwritable) {
            return .code(
                try PredicateSource.descriptor(
                    query.entity, where: query.conjuncts.map(\.expression), sortedBy: query.order, in: store.schema))
        } catch { return .unwritable(error.reason) }
    }

    func counting(_ query: StoreQuery) -> StoreQuery {
        StoreQuery(query.entity, purpose: .count, conjuncts: query.conjuncts.map(\.expression))
    }

    /// - Throws: `PredicateTextError`; `UnknownEntity`.
    func columns(_ query: InspectedQuery) throws -> [InspectedColumn] {
        let given = query.columns.isEmpty ? nil : query.columns
        let layout = store.layouts[query.entity]
        return try RecordColumns(given, entity: query.entity, store).columns.filter { $0.name != "$id" }.map { column in
            let slot = layout?.slot(named: column.name).flatMap { layout?.slots[$0] }
            return InspectedColumn(
                path: slot.map { "`\($0.name)`" } ?? column.name, name: column.name, isNumeric: column.isNumeric,
                slot: slot,
                isSortable: column.path.lists.isEmpty && slot?.role.isRelationship != true
                    && slot?.property.attribute?.kind != .coded)
        }
    }

    /// Where a page begins: at an offset, or after the record with a key, which is looked for at that place first.
    func place(
        _ query: StoreQuery, _ offset: Int, after key: String?
    ) throws -> (offset: Int, asked: Int, lostItsPlace: Bool) {
        let offset = max(0, offset)
        guard let key, offset > 0 else { return (offset, offset, false) }
        var before = query
        (before.offset, before.limit) = (offset - 1, 1)
        let there = try StoreQueryRun(before, in: store)
        if let first = there.records.first, ValueText.key(there.reader.identifier(first)) == key {
            return (offset, offset, false)
        }
        // Others have inserted or deleted records before it.
        (before.offset, before.limit) = (0, nil)
        let all = try StoreQueryRun(before, in: store)
        let found = all.records.firstIndex { ValueText.key(all.reader.identifier($0)) == key }
        return (found.map { $0 + 1 } ?? min(offset, all.records.count), offset, found == nil)
    }

    func rows(
        _ records: ArraySlice<RecordReference>, _ columns: [InspectedColumn], _ run: StoreQueryRun, listed: Int
    ) throws -> [InspectedPage.Row] {
        let evaluator = QueryEvaluator(reader: run.reader)
        let paths = try columns.map { column -> ColumnPath? in
            column.slot == nil ? try text.column(column.path, entity: run.explanation.entity) : nil
        }
        return try records.map { record in
            let identifier = run.reader.identifier(record)
            let layout = run.reader.tables[record.table].layout
            let values = try zip(columns, paths).map { column, path -> InspectedValue in
                if let path { return InspectedValue(try path.value(of: record, evaluator, run.reader)) }
                guard let slot = layout.slot(named: column.slot?.name ?? "") else { return InspectedValue(.null) }
                return try value(run.reader.value(record, slot: slot), run, listed: listed)
            }
            try run.version.check()
            return InspectedPage.Row(record: identifier, key: ValueText.key(identifier), values: values)
        }
    }

    func value(_ value: StoredValue, _ run: StoreQueryRun, listed: Int) throws -> InspectedValue {
        switch value {
        case .identifier(let target): InspectedValue(value, listed > 0 ? [reference(target, run.reader)] : [], count: 1)
        case .identifiers(let targets):
            InspectedValue(value, targets.prefix(listed).map { reference($0, run.reader) }, count: targets.count)
        default: InspectedValue(value)
        }
    }

    private func reference(_ record: PersistentIdentifier, _ reader: RecordReader) -> InspectedReference {
        InspectedReference(
            record: record, key: ValueText.key(record), title: reader.record(record).map { title($0, reader) } ?? "")
    }

    /// The property that tells people which record it is: a name or a title, or else the first text.
    func title(_ record: RecordReference, _ reader: RecordReader) -> String {
        let slots = reader.tables[record.table].layout.slots
        let texts = slots.indices.filter { slots[$0].property.attribute?.kind == .string }
        let best =
            texts.first { ["name", "title"].contains(slots[$0].name.lowercased()) }
            ?? texts.first { slots[$0].name.lowercased().hasSuffix("name") } ?? texts.first
        guard let best, case .string(let text) = reader.value(record, slot: best) else { return "" }
        return String(text.prefix(80))
    }

    /// - Throws: `UnknownEntity`; what reading throws.
    func find(_ entity: String, _ key: String) throws -> StoreQueryRun? {
        try text.check(entity)
        let literal = UInt64(key).map { "\($0)" } ?? ValueText.quoted(key)
        // A key that no identifier of this store can have is that of no record.
        guard let condition = try? text.conditions("$id == \(literal)", entity: entity) else { return nil }
        return try StoreQueryRun(StoreQuery(entity, conjuncts: condition), in: store)
    }

    /// Relationships without an inverse that lead to a record.
    func referrers(
        _ record: PersistentIdentifier
    ) throws -> [(entity: String, property: String, isToMany: Bool, count: Int)] {
        var kinds: Set<String> = []
        var next: String? = record.entityName
        while let name = next, kinds.insert(name).inserted { next = store.schema.entity(named: name)?.superentity }
        let key = ValueText.json(record)
        return try store.schema.entities.flatMap { entity in
            try entity.properties.compactMap { property in
                guard let relationship = property.relationship, relationship.inverse == nil,
                    kinds.contains(relationship.destination)
                else { return nil }
                let condition =
                    relationship.isToMany
                    ? "any `\(property.name)` ($id == \(key))" : "`\(property.name)`.$id == \(key)"
                let conjuncts = try text.conditions(condition, entity: entity.name)
                let found = try count(StoreQuery(entity.name, purpose: .count, conjuncts: conjuncts))
                return (entity.name, property.name, relationship.isToMany, found)
            }
        }
    }
}
#endif
