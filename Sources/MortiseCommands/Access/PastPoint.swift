#if Tool
import Foundation
import MortiseCore

/// A point in a store's history, as the command line gives it.
enum PastPoint {
    case number(Int64)
    case time(Date)

    /// - Throws: `ToolError.usage`.
    init(_ text: String) throws {
        if let number = Int64(text), number >= 0 {
            self = .number(number)
        } else if let date = TimestampText.date(text) {
            self = .time(date)
        } else {
            throw ToolError.usage(
                "--as-of takes the number of a transaction or a time such as 2026-05-01T10:30:00Z, not "
                    + "\"\(text.shown(limit: 100))\"")
        }
    }

    /// The records as they were then.
    /// - Throws: `ToolError.unsupported` for a store that cannot be read so, `.usage` for a transaction that is not there yet;
    ///   `AsOfUnavailable`; what the store throws.
    func version(of store: OpenStore) throws -> any StoreVersion {
        guard let versioned = store.versioned, let archive = store.store.historyArchive else {
            throw Self.unsupported(store)
        }
        do {
            let last = try archive.historyBounds().last
            if case .number(let number) = self, number > last {
                throw ToolError.usage(
                    "\(store.name) has no transaction \(number) yet; the last one is \(last)")
            }
            let point: HistoryPoint =
                switch self {
                case .number(let number): .token(DefaultHistoryToken(number, mark: nil, store: versioned.identifier))
                case .time(let date): .date(date)
                }
            return try versioned.version(asOf: point, under: Schema(stored: store.schema))
        } catch let error as AsOfUnavailable where error.reason == .unsupported {
            throw Self.unsupported(store)
        } catch DataStoreError.unsupportedFeature {
            throw Self.unsupported(store)
        }
    }

    private static func unsupported(_ store: OpenStore) -> ToolError {
        .unsupported(
            store: store.name,
            what: "be read as it was (stores with versions and a history can, such as json: and log:)")
    }
}

/// Reads records of which some have come back from the past: their rows are behind all others.
final class PastReader: RecordReader {
    override var rowsAreInIdentityOrder: Bool { false }
}
#endif
