#if Tool
import Foundation
import MortiseCore

/// Prints changes of a store, as text or as one object of JSON for each record.
struct ChangePrinter {
    let showsValues: Bool
    let format: ReportFormat
    private var output: Output { ToolContext.current.output }

    init(showsValues: Bool, format: ReportFormat) {
        self.showsValues = showsValues
        self.format = format
    }

    func print(_ changes: ChangeSet) throws {
        let now = Date(timeIntervalSinceReferenceDate: Date.timeIntervalSinceReferenceDate.rounded())
        let time = TimestampText.text(of: changes.commit?.timestamp ?? now)
        var stamp: [(String, JSONText)] = [("timestamp", .text(time))]
        if let commit = changes.commit {
            stamp.insert(("transaction", .raw("\(commit.number)")), at: 0)
            stamp.append(("author", changes.author.map { .text($0) } ?? .null))
        }
        if format == .text {
            let line =
                changes.commit == nil
                ? "\(time)  \(FigureText.count(changes.inserted.count)) inserted, "
                    + "\(FigureText.count(changes.updated.count)) updated, "
                    + "\(FigureText.count(changes.deleted.count)) deleted"
                : TransactionText.line(changes)
            try output.line(output.styled(line, .bold))
        }
        try print(records: changes, stamp)
    }

    /// Prints changes without a line for their transaction.
    func print(records changes: ChangeSet, _ stamp: [(String, JSONText)] = []) throws {
        if changes.isErasure { try print(note: "erase", "all records", stamp) }
        if changes.isIncomplete { try print(note: "unknown", "more may have changed", stamp) }
        for deletion in changes.deleted {
            let values = deletion.preserved.slots.compactMap { slot in
                deletion.values.indices.contains(slot)
                    ? (name: deletion.layout.slots[slot].name, old: StoredValue?.none, value: deletion.values[slot])
                    : nil
            }
            try print("delete", deletion.record, [], values, stamp)
        }
        for update in changes.updated {
            let values = update.slots.slots.compactMap { slot in
                update.value(at: slot).map { new in
                    (name: update.layout.slots[slot].name, old: update.oldValue(at: slot), value: new)
                }
            }
            try print("update", update.record, update.properties, values, stamp)
        }
        if changes.inserted.hasValues {
            for snapshot in changes.inserted.values {
                let stored = snapshot.layout.slots.indices.filter { snapshot.layout.slots[$0].role != .toManyDerived }
                let values = stored.map { slot in
                    (name: snapshot.layout.slots[slot].name, old: StoredValue?.none, value: snapshot.values[slot])
                }
                try print("insert", snapshot.persistentIdentifier, nil, values, stamp)
            }
        } else {
            for record in changes.inserted.records { try print("insert", record, nil, [], stamp) }
        }
    }

    private func print(note name: String, _ text: String, _ stamp: [(String, JSONText)]) throws {
        switch format {
        case .text: try output.line("  \(name)  \(text)")
        case .json: try output.line(JSONText.object([("change", JSONText.text(name))] + stamp).description)
        }
    }

    /// Prints a change. `properties` are those that changed; nil for all.
    private func print(
        _ verb: String, _ record: PersistentIdentifier, _ properties: [String]?,
        _ told: [(name: String, old: StoredValue?, value: StoredValue)], _ stamp: [(String, JSONText)]
    ) throws {
        let values = showsValues ? told : []
        switch format {
        case .text:
            let detail =
                !values.isEmpty
                ? values.map(Self.text).joined(separator: " ")
                : (properties ?? []).map { $0.shown() }.joined(separator: ", ")
            try output.line("  \(verb) \("\(record)".shown())" + (detail.isEmpty ? "" : "  \(detail)"))
        case .json:
            var members = [("change", JSONText.text(verb)), ("entity", .text(record.entityName))]
            members.append(("record", .raw(ValueText.json(record))))
            if let properties, !properties.isEmpty {
                members.append(("properties", .list(properties.map { .text($0) })))
            }
            if !values.isEmpty {
                members.append(("values", .object(values.map { ($0.name, .raw(ValueText.json($0.value))) })))
            }
            let old = values.compactMap { change in change.old.map { (change.name, JSONText.raw(ValueText.json($0))) } }
            if !old.isEmpty { members.append(("oldValues", .object(old))) }
            try output.line(JSONText.object(members + stamp).description)
        }
    }

    private static func text(_ change: (name: String, old: StoredValue?, value: StoredValue)) -> String {
        func shown(_ value: StoredValue) -> String { value.isNull ? "nil" : ValueText.plain(value).shown(limit: 200) }
        let old = change.old.map { shown($0) + " -> " } ?? ""
        return "\(change.name.shown())=\(old)\(shown(change.value))"
    }
}
#endif
