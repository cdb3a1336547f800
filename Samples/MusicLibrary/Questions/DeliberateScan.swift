import Mortise

/// The questions that look at every record of an entity. All others find their records by an index: the library refuses
/// full scans.
enum DeliberateScan {
    case allTracks, albumsByArtist, allArtists, allPlaylists, allEmployees, allCustomers, allInvoices, allInvoiceLines

    /// The number of records that may be scanned without a warning in the log, which a library that has outgrown it
    /// gets.
    ///
    /// These look into a text, at another record, or at all there are, where an index does not reach.
    var limit: Int {
        switch self {
        // Some thousands each, read in milliseconds.
        case .allTracks, .albumsByArtist, .allArtists, .allCustomers, .allInvoices, .allInvoiceLines: 100_000
        // Made by hand, and never many.
        case .allPlaylists, .allEmployees: 1_000
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
