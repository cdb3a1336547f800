public import Foundation

/// A reader that still needs a part of a history: nothing after its token is dropped by a limit, nor deleted, unless that is
/// forced.
public struct HistoryHolder: Sendable, Hashable, Codable, Identifiable {
    /// Whether a holder holds.
    public enum State: String, Sendable, Codable {
        /// Nothing after its token is dropped.
        case active
        /// It has not advanced for as long as its lease, and no longer holds. It holds again when it advances.
        case expired
        /// What it needs may be gone: it was behind by more than its largest lag, or a deletion was forced.
        case lost
    }

    /// The holder's name, unique in a container.
    public let name: String
    /// What it has seen.
    public var token: DefaultHistoryToken
    /// When it advanced last, or began.
    public var advanced: Date
    /// How long it holds without advancing; nil for as long as it likes.
    public var lease: Duration?
    /// How many bytes of history it may hold; beyond, it is lost. Nil for any number.
    public var maximumLag: Int64?
    /// Whether it holds.
    public var state: State
    /// The holder's name.
    public var id: String { name }

    /// Makes a holder.
    public init(
        _ name: String, token: DefaultHistoryToken, advanced: Date = Date(), lease: Duration? = nil,
        maximumLag: Int64? = nil, state: State = .active
    ) {
        self.name = name
        self.token = token
        self.advanced = advanced
        self.lease = lease
        self.maximumLag = maximumLag
        self.state = state
    }

    /// The holder as it is at a time: expired where its lease has ended.
    public func settled(at now: Date) -> HistoryHolder {
        guard state == .active, let lease, now.timeIntervalSince(advanced) > lease.timeInterval else { return self }
        var holder = self
        holder.state = .expired
        return holder
    }

    /// Whether it needs a transaction of a store, now.
    func needs(_ number: Int64, of store: String, at now: Date = Date()) -> Bool {
        settled(at: now).state == .active && number > (token.tokenValue?[store] ?? 0)
    }
}

extension Duration {
    /// In seconds.
    var timeInterval: TimeInterval {
        TimeInterval(components.seconds) + TimeInterval(components.attoseconds) / 1e18
    }
}

/// What is wrong with the name of a holder of history.
public enum HistoryHolderError: Error, Hashable, Sendable {
    /// No holder has that name.
    case unknown(name: String)
    /// What the holder needs may be gone: it was behind by more than its largest lag, or a deletion was forced.
    case lost(name: String)
}

extension HistoryHolderError: CustomStringConvertible, SwiftDataErrorConvertible {
    /// The holder, and the way out, in one line.
    public var description: String {
        switch self {
        case .unknown(let name): "No holder of history is called \"\(name)\". Begin it with holdHistory(_:after:)."
        case .lost(let name):
            "The holder of history \"\(name)\" is lost: transactions that it has not seen may be gone. Release it, fetch the "
                + "current state, and hold the history from there under the name again."
        }
    }
    /// The error of SwiftData that this one matches: `historyTokenExpired`.
    public var swiftDataError: SwiftDataError { .historyTokenExpired }
}

/// Transactions were not deleted from a history, because somebody needs them.
public struct HistoryHeld: Error, Hashable, Sendable {
    /// What the text calls the store: where it is, or the name of its configuration.
    public let store: String
    /// The names of the holders that need them.
    public let holders: [String]

    /// Makes the error.
    public init(store: String, holders: [String]) {
        self.store = store
        self.holders = holders
    }
}

extension HistoryHeld: CustomStringConvertible, SwiftDataErrorConvertible {
    /// The holders, and the way out, in one line.
    public var description: String {
        "The history of the store \(store) is needed by \(holders.joined(separator: ", ")), which have not seen all of what "
            + "is to be deleted. Wait until they advance, release them, or delete with force: true, after which they are lost."
    }
    /// The error of SwiftData that this one matches: `invalidTransactionFetchRequest`.
    public var swiftDataError: SwiftDataError { .invalidTransactionFetchRequest }
}

/// A history that cannot be read. The records of the store are not affected: they can be fetched and saved.
public struct HistoryDamaged: Error, Hashable, Sendable {
    /// The file that holds the history.
    public let path: String
    /// The offset of the damage, in bytes.
    public let offset: Int64
    /// What is wrong there.
    public let reason: String

    /// Makes the error.
    public init(path: String, offset: Int64, reason: String) {
        self.path = path
        self.offset = offset
        self.reason = reason
    }
}

extension HistoryDamaged: CustomStringConvertible, SwiftDataErrorConvertible {
    /// The place, what is wrong there, and the way out, in one line.
    public var description: String {
        path.hasSuffix(".holders")
            ? "\(path): \(reason). Neither the records nor the history are affected. Remove the file, after which nobody holds the history."
            : "\(path): the history is damaged at offset \(offset): \(reason). The records are not affected. Remove the file to begin "
                + "a new history, after which all tokens have expired."
    }
    /// The error of SwiftData that this one matches: `historyTokenExpired`.
    public var swiftDataError: SwiftDataError { .historyTokenExpired }
}
