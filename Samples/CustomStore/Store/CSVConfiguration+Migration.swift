import Foundation
public import MortiseCore
public import MortiseEngine

/// Comes to another schema by a copy: a new store is written inside of the folder, and its files become the next generation.
extension CSVConfiguration: ReplaceableConfiguration {
    public func storedSchema() throws -> StoredSchema? {
        guard FileManager.default.fileExists(atPath: folder.path) else { return nil }
        let latest = try CSVStore.latest(in: folder)
        if latest == 0 { return nil }
        let files = folder.appending(path: "\(latest)")
        do {
            return try SnapshotTable.storedSchema(among: CSVStore.lengths(in: files).keys) { name in
                try CSV.rows(of: Data(contentsOf: files.appending(path: "\(name).csv")), named: name)
            }
        } catch {
            // Another program may have saved meanwhile.
            if try CSVStore.latest(in: folder) == latest { throw error }
            return try storedSchema()
        }
    }

    public func sibling() throws -> CSVConfiguration {
        let sibling = CSVConfiguration(folder: folder.appending(path: "next"))
        discard(sibling)
        try FileManager.default.createDirectory(at: sibling.folder, withIntermediateDirectories: false)
        return sibling
    }

    public func replace(with sibling: CSVConfiguration, keepingCopy keepsCopy: Bool) throws {
        let (old, new) = (try CSVStore.latest(in: folder), try CSVStore.latest(in: sibling.folder))
        guard old < .max else { throw CSVError.damaged("\(old)") }
        try FileManager.default.moveItem(
            at: sibling.folder.appending(path: "\(new)"), to: folder.appending(path: "\(old + 1)"))
        // From here on nothing can fail any more. An older generation is a copy that nobody opens.
        if !keepsCopy { try? FileManager.default.removeItem(at: folder.appending(path: "\(old)")) }
        discard(sibling)
    }

    public func removeCopies(exceptNewest most: Int) {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        let older = names.compactMap { Int($0) }.sorted(by: >).dropFirst()
        for copy in older.dropFirst(most) { try? FileManager.default.removeItem(at: folder.appending(path: "\(copy)")) }
    }

    public func newestCopy() -> String? {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        return names.compactMap { Int($0) }.sorted(by: >).dropFirst().first.map { folder.appending(path: "\($0)").path }
    }

    public var readingOnly: CSVConfiguration {
        var configuration = self
        configuration.allowsSave = false
        return configuration
    }

    public func discard(_ sibling: CSVConfiguration) { try? FileManager.default.removeItem(at: sibling.folder) }
}

/// Takes over the identifiers, too.
extension CSVStore {
    public var nextRecordNumber: UInt64 { table.nextNumber }

    public func restore(_ records: [DefaultSnapshot], ofStore store: String, nextNumber: UInt64) throws {
        try write { try $0.restore(records, ofStore: store, nextNumber: nextNumber) }
    }
}
