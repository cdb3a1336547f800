import Foundation

/// The tables of a Chinook JSON file: an object with one array of row objects for each table.
struct ChinookFile: Sendable {
    private let tables: [String: [ChinookRow]]

    /// The columns of every table that the file must hold; it may hold no others.
    static let columns: [String: Set<String>] = [
        "Genre": ["GenreId", "Name"],
        "MediaType": ["MediaTypeId", "Name"],
        "Artist": ["ArtistId", "Name"],
        "Album": ["AlbumId", "Title", "ArtistId"],
        "Track": [
            "TrackId", "Name", "AlbumId", "MediaTypeId", "GenreId", "Composer", "Milliseconds", "Bytes", "UnitPrice",
        ],
        "Employee": [
            "EmployeeId", "LastName", "FirstName", "Title", "ReportsTo", "BirthDate", "HireDate", "Address", "City",
            "State", "Country", "PostalCode", "Phone", "Fax", "Email",
        ],
        "Customer": [
            "CustomerId", "FirstName", "LastName", "Company", "Address", "City", "State", "Country", "PostalCode",
            "Phone", "Fax", "Email", "SupportRepId",
        ],
        "Invoice": [
            "InvoiceId", "CustomerId", "InvoiceDate", "BillingAddress", "BillingCity", "BillingState",
            "BillingCountry", "BillingPostalCode", "Total",
        ],
        "InvoiceLine": ["InvoiceLineId", "InvoiceId", "TrackId", "UnitPrice", "Quantity"],
        "Playlist": ["PlaylistId", "Name"],
        "PlaylistTrack": ["PlaylistId", "TrackId"],
    ]

    /// Reads and checks a whole file.
    ///
    /// - Throws: ``ChinookError``: `unreadable`, `malformed`, or what ``init(parsing:)`` throws.
    init(contentsOf file: URL) throws {
        let data: Data
        do { data = try Data(contentsOf: file) } catch {
            throw ChinookError.unreadable(file: file.path)
        }
        try self.init(parsing: data)
    }

    /// Parses the text of a file and checks that it has all tables and columns and no unknown ones.
    ///
    /// - Throws: ``ChinookError``.
    init(parsing data: Data) throws {
        let parsed: [String: [[String: ChinookValue]]]
        do { parsed = try JSONDecoder().decode([String: [[String: ChinookValue]]].self, from: data) } catch {
            throw ChinookError(error)
        }
        if let unknown = parsed.keys.filter({ Self.columns[$0] == nil }).min() {
            throw ChinookError.unknownTable(unknown)
        }
        var tables: [String: [ChinookRow]] = [:]
        for (table, columns) in Self.columns.sorted(by: { $0.key < $1.key }) {
            guard let rows = parsed[table] else { throw ChinookError.missingTable(table) }
            tables[table] = try rows.enumerated().map { index, values in
                let place = ChinookPlace(table: table, row: index + 1)
                if let unknown = values.keys.filter({ !columns.contains($0) }).min() {
                    throw ChinookError.unknownColumn(place, unknown)
                }
                return ChinookRow(place: place, values: values)
            }
        }
        self.tables = tables
    }

    /// The rows of the table called `name`, in the order of the file.
    func rows(of name: String) -> [ChinookRow] { tables[name] ?? [] }

    var tableCount: Int { tables.count }
    var rowCount: Int { tables.values.map(\.count).reduce(0, +) }
}
