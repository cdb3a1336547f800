import Mortise

/// The way from the rows of a file to models: first those that refer to nothing, then those that refer to them.
///
/// Everything stays pending in the context. An error leaves it with a part of the file: do not save it then.
struct ChinookImport {
    private let context: ModelContext
    private var genres = KeyedModels<Genre>(table: "Genre")
    private var mediaTypes = KeyedModels<MediaType>(table: "MediaType")
    private var artists = KeyedModels<Artist>(table: "Artist")
    private var albums = KeyedModels<Album>(table: "Album")
    private var tracks = KeyedModels<Track>(table: "Track")
    private var playlists = KeyedModels<Playlist>(table: "Playlist")
    private var employees = KeyedModels<Employee>(table: "Employee")
    private var customers = KeyedModels<Customer>(table: "Customer")
    private var invoices = KeyedModels<Invoice>(table: "Invoice")
    private var invoiceLines = KeyedModels<InvoiceLine>(table: "InvoiceLine")

    init(into context: ModelContext) {
        self.context = context
    }

    /// Inserts a model for every row of `file` and connects them.
    ///
    /// - Throws: ``ChinookError`` if a value has the wrong type, an identifier comes twice, or a key leads nowhere.
    mutating func insert(_ file: ChinookFile) throws {
        try insertCatalog(file)
        try insertPlaylists(file)
        try insertEmployees(file)
        try insertCustomers(file)
        try insertInvoices(file)
    }

    private mutating func insertCatalog(_ file: ChinookFile) throws {
        for row in file.rows(of: "Genre") {
            let genre = Genre(genreId: try row.int("GenreId"), name: try row.string("Name"))
            try genres.insert(genre, of: row, key: "GenreId", into: context)
        }
        for row in file.rows(of: "MediaType") {
            let mediaType = MediaType(mediaTypeId: try row.int("MediaTypeId"), name: try row.string("Name"))
            try mediaTypes.insert(mediaType, of: row, key: "MediaTypeId", into: context)
        }
        for row in file.rows(of: "Artist") {
            let artist = Artist(artistId: try row.int("ArtistId"), name: try row.string("Name"))
            try artists.insert(artist, of: row, key: "ArtistId", into: context)
        }
        for row in file.rows(of: "Album") {
            let album = Album(albumId: try row.int("AlbumId"), title: try row.string("Title"))
            try albums.insert(album, of: row, key: "AlbumId", into: context)
            album.artist = try artists.referred(from: row, "ArtistId")
        }
        for row in file.rows(of: "Track") {
            let track = Track(
                trackId: try row.int("TrackId"), name: try row.string("Name"),
                milliseconds: try row.int("Milliseconds"), unitPrice: try row.decimal("UnitPrice"))
            track.composer = try row.optionalString("Composer")
            track.bytes = try row.optionalInt("Bytes")
            try tracks.insert(track, of: row, key: "TrackId", into: context)
            track.album = try albums.optionallyReferred(from: row, "AlbumId")
            track.mediaType = try mediaTypes.referred(from: row, "MediaTypeId")
            track.genre = try genres.optionallyReferred(from: row, "GenreId")
        }
    }

    /// Playlists and their tracks; the rows of the table PlaylistTrack become the relationship between them.
    private mutating func insertPlaylists(_ file: ChinookFile) throws {
        for row in file.rows(of: "Playlist") {
            let playlist = Playlist(playlistId: try row.int("PlaylistId"), name: try row.string("Name"))
            try playlists.insert(playlist, of: row, key: "PlaylistId", into: context)
        }
        var chosen: [Playlist: [Track]] = [:]
        for row in file.rows(of: "PlaylistTrack") {
            let playlist = try playlists.referred(from: row, "PlaylistId")
            chosen[playlist, default: []].append(try tracks.referred(from: row, "TrackId"))
        }
        for (playlist, tracks) in chosen { playlist.tracks = tracks }
    }

    private mutating func insertEmployees(_ file: ChinookFile) throws {
        for row in file.rows(of: "Employee") {
            let employee = Employee(
                employeeId: try row.int("EmployeeId"), lastName: try row.string("LastName"),
                firstName: try row.string("FirstName"))
            employee.title = try row.optionalString("Title")
            employee.birthDate = try row.optionalDate("BirthDate")
            employee.hireDate = try row.optionalDate("HireDate")
            employee.address = try row.optionalString("Address")
            employee.city = try row.optionalString("City")
            employee.state = try row.optionalString("State")
            employee.country = try row.optionalString("Country")
            employee.postalCode = try row.optionalString("PostalCode")
            employee.phone = try row.optionalString("Phone")
            employee.fax = try row.optionalString("Fax")
            employee.email = try row.optionalString("Email")
            try employees.insert(employee, of: row, key: "EmployeeId", into: context)
        }
        for row in file.rows(of: "Employee") {
            let employee = try employees.referred(from: row, "EmployeeId")
            employee.manager = try employees.optionallyReferred(from: row, "ReportsTo")
        }
    }

    private mutating func insertCustomers(_ file: ChinookFile) throws {
        for row in file.rows(of: "Customer") {
            let customer = Customer(
                customerId: try row.int("CustomerId"), firstName: try row.string("FirstName"),
                lastName: try row.string("LastName"), email: try row.string("Email"))
            customer.company = try row.optionalString("Company")
            customer.address = try row.optionalString("Address")
            customer.city = try row.optionalString("City")
            customer.state = try row.optionalString("State")
            customer.country = try row.optionalString("Country")
            customer.postalCode = try row.optionalString("PostalCode")
            customer.phone = try row.optionalString("Phone")
            customer.fax = try row.optionalString("Fax")
            try customers.insert(customer, of: row, key: "CustomerId", into: context)
            customer.supportRep = try employees.optionallyReferred(from: row, "SupportRepId")
        }
    }

    private mutating func insertInvoices(_ file: ChinookFile) throws {
        for row in file.rows(of: "Invoice") {
            let invoice = Invoice(
                invoiceId: try row.int("InvoiceId"), invoiceDate: try row.date("InvoiceDate"),
                total: try row.decimal("Total"))
            invoice.billingAddress = try row.optionalString("BillingAddress")
            invoice.billingCity = try row.optionalString("BillingCity")
            invoice.billingState = try row.optionalString("BillingState")
            invoice.billingCountry = try row.optionalString("BillingCountry")
            invoice.billingPostalCode = try row.optionalString("BillingPostalCode")
            try invoices.insert(invoice, of: row, key: "InvoiceId", into: context)
            invoice.customer = try customers.referred(from: row, "CustomerId")
        }
        for row in file.rows(of: "InvoiceLine") {
            let line = InvoiceLine(
                invoiceLineId: try row.int("InvoiceLineId"), unitPrice: try row.decimal("UnitPrice"),
                quantity: try row.int("Quantity"))
            try invoiceLines.insert(line, of: row, key: "InvoiceLineId", into: context)
            line.invoice = try invoices.referred(from: row, "InvoiceId")
            line.track = try tracks.referred(from: row, "TrackId")
        }
    }
}
