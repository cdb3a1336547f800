import Mortise

/// The questions that look at every record of an entity. All others find their records by an index: the library refuses
/// full scans.
enum DeliberateScan {
    case albumsByArtist, invoiceLinesByCountry, playlistsByTrack, supportingEmployees, employeesByManager

    /// The number of records that may be scanned without a warning in the log, which a library that has outgrown it
    /// gets.
    ///
    /// The condition of each is on another record than the one that is asked for, where an index does not reach.
    var limit: Int {
        switch self {
        // One album a record and a few lines an invoice: some thousands each, read in milliseconds.
        case .albumsByArtist, .invoiceLinesByCountry: 100_000
        // Made by hand, and never many.
        case .playlistsByTrack, .supportingEmployees, .employeesByManager: 1_000
        }
    }
}

extension FetchDescriptor {
    /// The same fetch, allowed to scan as far as `scan` says.
    func allowing(_ scan: DeliberateScan) -> FetchDescriptor {
        var descriptor = self
        descriptor.fullScanPolicy = .warn(above: scan.limit)
        return descriptor
    }
}
