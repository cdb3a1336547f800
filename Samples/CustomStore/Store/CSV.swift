import Foundation
import MortiseCore

/// The files of a `CSVStore`. Texts stand between quotation marks, everything else without; an empty cell is nil.
enum CSV {
    struct Cell {
        let text: String
        let isQuoted: Bool

        init(_ text: String, isQuoted: Bool) { (self.text, self.isQuoted) = (text, isQuoted) }
    }

    // MARK: Files

    static func read(
        _ entity: String, _ layout: RecordLayout, store: String, from folder: URL
    ) throws -> [DefaultSnapshot] {
        let file = folder.appending(path: "\(entity).csv")
        guard FileManager.default.fileExists(atPath: file.path) else { return [] }
        var rows = try rows(of: file)
        guard !rows.isEmpty else { return [] }
        let header = rows.removeFirst().map(\.text)
        let places = try layout.slots.map { slot -> Int? in
            // The first column is the record's own number, whatever a property may be called.
            let place = header.dropFirst().firstIndex(of: slot.name)
            if place == nil, slot.role == .attribute, !slot.property.isOptional {
                throw CSVError.doesNotFit(entity: entity, property: slot.name, found: "no column")
            }
            return place
        }
        return try rows.enumerated().map { line, row in
            guard row.count == header.count, let number = UInt64(row[0].text) else {
                throw CSVError.malformed(file: file.lastPathComponent, row: line + 2)
            }
            let values = try zip(layout.slots, places).map { slot, place -> StoredValue in
                guard let place else { return .null }
                guard let value = row[place].value(of: slot, store: store) else {
                    throw CSVError.doesNotFit(entity: entity, property: slot.name, found: row[place].text)
                }
                return value
            }
            return DefaultSnapshot(
                persistentIdentifier: .numbered(number, storeIdentifier: store, entityName: entity), layout: layout,
                values: ContiguousArray(values))
        }
    }

    static func write(_ records: [DefaultSnapshot], about: [[Cell]], as generation: Int, in folder: URL) throws {
        let files = FileManager.default
        let new = folder.appending(path: "\(generation).new")
        if files.fileExists(atPath: new.path) { try files.removeItem(at: new) }
        try files.createDirectory(at: new, withIntermediateDirectories: false)
        try text(about).write(to: new.appending(path: "about.csv"))
        for (entity, records) in Dictionary(grouping: records, by: \.id.entityName) {
            let header = ["record"] + (records.first?.layout.slots.map(\.name) ?? [])
            let rows = records.map { record in
                [Cell("\(record.id.sequenceNumber ?? 0)", isQuoted: false)] + record.values.map(\.cell)
            }
            try text([header.map { Cell($0, isQuoted: true) }] + rows).write(to: new.appending(path: "\(entity).csv"))
        }
        try files.moveItem(at: new, to: folder.appending(path: "\(generation)"))
        // What is left of older ones is in nobody's way.
        try? files.removeItem(at: folder.appending(path: "\(generation - 1)"))
    }

    private static func text(_ rows: [[Cell]]) -> Data {
        let lines = rows.map { row in
            row.map { $0.isQuoted ? "\"\($0.text.replacing("\"", with: "\"\""))\"" : $0.text }.joined(separator: ",")
        }
        return Data(lines.map { $0 + "\n" }.joined().utf8)
    }

    /// The rows of a file. Bytes are looked at one by one: characters of Swift would put a line's end and what follows
    /// together, and a quotation mark with an accent behind it.
    static func rows(of file: URL) throws -> [[Cell]] {
        var rows: [[Cell]] = []
        var row: [Cell] = []
        var cell: [UInt8] = []
        var (isQuoted, isOpen) = (false, false)
        func close() {
            row.append(Cell(String(decoding: cell, as: UTF8.self), isQuoted: isQuoted))
            (cell, isQuoted, isOpen) = ([], false, false)
        }
        for byte in try Data(contentsOf: file) {
            switch byte {
            case UInt8(ascii: "\""):
                // A second one inside of quotation marks is one; the first opens them, or ends them for now.
                if isQuoted, !isOpen { cell.append(byte) }
                (isQuoted, isOpen) = (true, !isOpen)
            case UInt8(ascii: ",") where !isOpen: close()
            case UInt8(ascii: "\n") where !isOpen:
                close()
                rows.append(row)
                row = []
            default: cell.append(byte)
            }
        }
        if !row.isEmpty || !cell.isEmpty { throw CSVError.malformed(file: file.lastPathComponent, row: rows.count + 1) }
        return rows
    }
}

/// What is wrong with a folder of CSV files, or with a save to it.
public enum CSVError: Error, Hashable, CustomStringConvertible {
    case noSuchRecord(PersistentIdentifier)
    case doesNotFit(entity: String, property: String, found: String)
    case malformed(file: String, row: Int)

    public var description: String {
        switch self {
        case .noSuchRecord(let record): "There is no record \(record); another save may have deleted it."
        case .doesNotFit(let entity, let property, let found):
            "\(entity).csv has \(found.isEmpty ? "nothing" : found) where \(property) is asked for. Correct the file, "
                + "or give the property another name."
        case .malformed(let file, let row): "Row \(row) of \(file) is not whole. Take an older folder, or correct it."
        }
    }
}
