import Foundation

/// Counts how often stores have refused one save because others had changed them in between.
///
/// Each refusal has to bring a newer state to start from; a store that refuses for ever would otherwise keep its caller
/// for ever.
struct SaveAttempts {
    /// Writers that take turns without a pause let everybody through well before.
    private static let limit = 1_000
    /// A newer state may still be about to be published.
    private static let limitWithoutNewer = 100
    private var refusals = 0
    private var withoutNewer = 0
    /// What was known of the records that the last refusal named.
    private var versions: [PersistentIdentifier: UInt64] = [:]

    /// Counts a `VersionSuperseded` that a store threw for changes on top of the version `base`.
    /// - Throws: `ModelContextError.storeContract` if another attempt cannot help: the store has no versions, it has refused
    ///   100 times without a version newer than `base`, or it has refused 1,000 times.
    mutating func note(_ session: StoreSession, on base: UInt64?) throws {
        let latest = session.latest?.number
        if latest == nil {
            throw fault(session, "VersionSuperseded, but it has no versions. Throw RecordsSuperseded instead.")
        }
        try count(session, isNewer: latest != base, "VersionSuperseded", "the changes are based on its latest version")
    }

    /// Counts a `RecordsSuperseded`. Pauses if the records were the same when they were read again for this attempt.
    /// - Throws: `ModelContextError.storeContract` if another attempt cannot help: the error names no record, the store has
    ///   refused 100 times although the records that it names are as they were, or it has refused 1,000 times.
    mutating func note(_ superseded: RecordsSuperseded, _ session: StoreSession, on base: UInt64?) throws {
        guard let first = superseded.identifiers.first else {
            throw fault(session, "RecordsSuperseded without naming a record.")
        }
        let known = Dictionary(
            superseded.identifiers.map { ($0, session.recordVersion(of: $0)) }, uniquingKeysWith: { first, _ in first })
        let isNewer = session.version == nil ? known != versions : session.latest?.number != base
        versions = known
        try count(session, isNewer: isNewer, "RecordsSuperseded", "\(first) had not changed when it was read again")
        if !isNewer { Thread.sleep(forTimeInterval: min(0.0002 * Double(withoutNewer), 0.01)) }
    }

    private mutating func count(
        _ session: StoreSession, isNewer: Bool, _ error: String, _ reason: String
    ) throws {
        refusals += 1
        if !isNewer { withoutNewer += 1 }
        if withoutNewer >= Self.limitWithoutNewer { throw fault(session, "\(error), but \(reason).") }
        if refusals >= Self.limit { throw fault(session, "\(error) \(refusals) times for the same changes.") }
    }

    private func fault(_ session: StoreSession, _ text: String) -> ModelContextError {
        .storeContract(
            store: session.location, fault: "Its save threw \(text) Its type is \(session.typeName).")
    }
}
