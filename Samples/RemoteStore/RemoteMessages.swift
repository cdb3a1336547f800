#if RemoteStore
import Foundation
import MortiseCore

/// A record on its way: its identifier, and its values by property name, to the last bit.
struct RemoteRecord: Codable, Sendable {
    var identifier: PersistentIdentifier
    var values: [String: StoredValue]
}

/// What a client asks of a store at the service.
struct RemoteQuestion: Codable, Sendable {
    /// A to-many side that follows from the records at its other end.
    struct Derived: Codable, Sendable {
        var property: String
        var inverse: String
    }
    var entities: [String]
    var derived: [Derived]
}

/// A save on its way.
struct RemoteChanges: Codable, Sendable {
    /// Names the save: one that comes again because its answer was lost is answered again, and not carried out again.
    var key: UUID
    var inserted: [RemoteRecord]
    var updated: [RemoteRecord]
    var deleted: [PersistentIdentifier]
}

/// The permanent identifier of each inserted record.
struct RemoteSaved: Codable, Sendable {
    struct Pair: Codable, Sendable {
        var temporary: PersistentIdentifier
        var permanent: PersistentIdentifier
    }
    var pairs: [Pair]
}

/// What a remote store throws: each says whether the save may have been carried out.
enum RemoteStoreError: Error, Hashable, CustomStringConvertible {
    /// There was no answer in any attempt. The service may have carried out a save if the connection was lost
    /// afterwards, which looks the same as a save that never arrived; fetch to find out.
    case unreachable(service: String, tries: Int)
    /// There was no answer in time. A save may have been carried out; fetch to see.
    case timedOut(service: String, seconds: Double)
    /// The service has refused. Nothing was saved.
    case refused(status: Int, reason: String)
    /// The answer does not follow this protocol.
    case notUnderstood(service: String, reason: String)
    /// The service keeps values by the names of their properties, and renames none.
    case renamed(property: String, from: String)

    var description: String {
        switch self {
        case .unreachable(let service, let tries):
            "\(service) gave no answer in \(tries) tries. Start it, or correct its address. What was saved may be there: fetch "
                + "before saving again."
        case .timedOut(let service, let seconds):
            "\(service) has not answered in \(seconds) seconds. What was saved may be there: fetch before saving again."
        case .refused(let status, let reason): "The service refused (\(status)): \(reason)"
        case .renamed(let property, let from):
            "\(property) was renamed from \(from), and the service keeps values by their names. Keep the name, or copy the records "
                + "into a new store."
        case .notUnderstood(let service, let reason): "The answer of \(service) was not understood: \(reason)"
        }
    }
}
#endif
