/// Counts how often stores have refused one save because others had changed them in between.
///
/// Each refusal has to bring a newer version to start from; a store that refuses for ever would otherwise keep its caller
/// for ever.
struct SaveAttempts {
    /// Writers that take turns without a pause let everybody through well before.
    private static let limit = 1_000
    /// A newer version may still be about to be published.
    private static let limitWithoutNewer = 100
    private var refusals = 0
    private var withoutNewer = 0

    /// Counts a `VersionSuperseded` that a store threw for changes on top of the version `base`.
    /// - Throws: `ModelContextError.storeContract` if another attempt cannot help: the store has no versions, it has refused
    ///   100 times without a version newer than `base`, or it has refused 1,000 times.
    mutating func note(_ session: StoreSession, on base: UInt64?) throws {
        refusals += 1
        let latest = session.connection.version?.number
        if latest == base { withoutNewer += 1 }
        let fault: String
        if latest == nil {
            fault = "Its save threw VersionSuperseded, but it has no versions."
        } else if withoutNewer >= Self.limitWithoutNewer {
            fault =
                "Its save threw VersionSuperseded, but the changes are based on its latest version."
        } else if refusals >= Self.limit {
            fault = "Its save threw VersionSuperseded \(refusals) times for the same changes."
        } else {
            return
        }
        throw ModelContextError.storeContract(
            store: session.identifier, fault: "\(fault) Its type is \(session.connection.typeName).")
    }
}
