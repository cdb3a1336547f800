import Foundation
import Mortise

/// The questions, one function each; what they have in common is the context they are asked in.
struct LibraryQuestions {
    let context: ModelContext

    /// Rows of each entity.
    ///
    /// The pairs of playlist and track have no model of their own: they are the tracks of all playlists.
    func counts() throws -> [String: Int] {
        let playlists = try context.fetch(FetchDescriptor<Playlist>())
        return [
            "Genre": try context.fetchCount(FetchDescriptor<Genre>()),
            "MediaType": try context.fetchCount(FetchDescriptor<MediaType>()),
            "Artist": try context.fetchCount(FetchDescriptor<Artist>()),
            "Album": try context.fetchCount(FetchDescriptor<Album>()),
            "Track": try context.fetchCount(FetchDescriptor<Track>()),
            "Employee": try context.fetchCount(FetchDescriptor<Employee>()),
            "Customer": try context.fetchCount(FetchDescriptor<Customer>()),
            "Invoice": try context.fetchCount(FetchDescriptor<Invoice>()),
            "InvoiceLine": try context.fetchCount(FetchDescriptor<InvoiceLine>()),
            "Playlist": playlists.count,
            "PlaylistTrack": playlists.map(\.tracks.count).reduce(0, +),
        ]
    }

    /// Count of tracks in genre "Rock" longer than 300000 ms.
    func longRockTracks() throws -> Int {
        let genre = "Rock"
        return try context.fetchCount(
            FetchDescriptor<Track>(
                predicate: #Predicate { $0.genre?.name == genre && $0.milliseconds > 300_000 }))
    }

    /// Count of tracks whose composer is nil.
    func tracksWithoutComposer() throws -> Int {
        try context.fetchCount(FetchDescriptor<Track>(predicate: #Predicate { $0.composer == nil }))
    }

    /// Names of tracks starting with `beginning`, by name ascending, then by TrackId.
    func trackNames(startingWith beginning: String) throws -> [String] {
        let tracks = try context.fetch(
            FetchDescriptor<Track>(
                predicate: #Predicate { $0.name.starts(with: beginning) },
                sortBy: [SortDescriptor(\.name), SortDescriptor(\.trackId)]))
        return tracks.map(\.name)
    }

    /// Names of the `count` longest tracks, longest first.
    func longestTracks(_ count: Int) throws -> [String] {
        var descriptor = FetchDescriptor<Track>(
            sortBy: [SortDescriptor(\.milliseconds, order: .reverse), SortDescriptor(\.trackId)])
        descriptor.fetchLimit = count
        return try context.fetch(descriptor).map(\.name)
    }

    /// Count of albums of the artist with this name.
    func albumCount(of artist: String) throws -> Int {
        try context.fetchCount(
            FetchDescriptor<Album>(predicate: #Predicate { $0.artist?.name == artist }).allowing(.albumsByArtist))
    }

    /// Names of the playlists that hold the track with this TrackId, sorted by PlaylistId.
    func playlists(ofTrack trackId: Int) throws -> [String] {
        let playlists = try context.fetch(
            FetchDescriptor<Playlist>(
                predicate: #Predicate { playlist in playlist.tracks.contains { $0.trackId == trackId } },
                sortBy: [SortDescriptor(\.playlistId)]
            ).allowing(.playlistsByTrack))
        return playlists.map(\.name)
    }

    /// E-mails of customers in this country, ascending.
    func customerEmails(in country: String) throws -> [String] {
        let customers = try context.fetch(
            FetchDescriptor<Customer>(
                predicate: #Predicate { $0.country == country }, sortBy: [SortDescriptor(\.email)]))
        return customers.map(\.email)
    }

    /// For each employee who supports customers: last name and number of customers, by last name.
    func supportLoads() throws -> [SupportLoad] {
        let employees = try context.fetch(
            FetchDescriptor<Employee>(
                predicate: #Predicate { !$0.customers.isEmpty }, sortBy: [SortDescriptor(\.lastName)]
            ).allowing(.supportingEmployees))
        return employees.map { SupportLoad(lastName: $0.lastName, customers: $0.customers.count) }
    }

    /// InvoiceIds with a total above `limit` dollars, by total descending then InvoiceId ascending.
    func invoices(above limit: Decimal) throws -> [Int] {
        let invoices = try context.fetch(
            FetchDescriptor<Invoice>(
                predicate: #Predicate { $0.total > limit },
                sortBy: [SortDescriptor(\.total, order: .reverse), SortDescriptor(\.invoiceId)]))
        return invoices.map(\.invoiceId)
    }

    /// Sum of UnitPrice * Quantity over the lines of invoices billed in this country, rounded to 2 places.
    func revenue(in country: String) throws -> Decimal {
        let lines = try context.fetch(
            FetchDescriptor<InvoiceLine>(predicate: #Predicate { $0.invoice?.billingCountry == country })
                .allowing(.invoiceLinesByCountry))
        var sum = lines.map { $0.unitPrice * Decimal($0.quantity) }.reduce(0, +)
        var rounded = Decimal()
        NSDecimalRound(&rounded, &sum, 2, .plain)
        return rounded
    }

    /// Last names of employees whose manager's manager has this last name, ascending.
    func lastNames(twoLevelsBelow lastName: String) throws -> [String] {
        let employees = try context.fetch(
            FetchDescriptor<Employee>(
                predicate: #Predicate { $0.manager?.manager?.lastName == lastName },
                sortBy: [SortDescriptor(\.lastName)]
            ).allowing(.employeesByManager))
        return employees.map(\.lastName)
    }
}
