#if Tool
import Foundation
import Testing

/// A file with anything wrong in it is refused with one line that says where, and nothing is stored.
struct MusicLibraryBadInputTests {
    @Test func aSmallFileThatIsRightIsImported() async throws {
        let sandbox = try Sandbox()
        let outcome = try await importing(Self.small, into: sandbox)
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(outcome.output.contains("13 rows of 11 tables"))
        #expect(sandbox.contents("library.json") != nil)
    }

    @Test(arguments: [
        (#""Milliseconds": 1"#, #""Milliseconds": "1""#, "table Track, row 1, column Milliseconds: expected a whole"),
        (#""Milliseconds": 1"#, #""Milliseconds": 1.5"#, "found a number with a fraction"),
        (#""Milliseconds": 1"#, #""Milliseconds": null"#, "found nothing"),
        (#""Milliseconds": 1, "#, "", "table Track, row 1: the column Milliseconds is missing"),
        (#""Milliseconds": 1"#, #""Milliseconds": 1, "Stars": 5"#, "table Track, row 1: unknown column Stars"),
        (#""SupportRepId": 1"#, #""SupportRepId": 7"#, "SupportRepId: the table Employee has no row with the key 7"),
        (#""ReportsTo": 1"#, #""ReportsTo": 3"#, "table Employee, row 2, column ReportsTo"),
        (#""EmployeeId": 2"#, #""EmployeeId": 1"#, "Employee, row 2, column EmployeeId: an earlier row has the key 1"),
        ("2021-01-31T00:00:00", "2021-02-31T00:00:00", "table Invoice, row 1, column InvoiceDate: expected a date"),
        (#""MediaType": [{"MediaTypeId": 1, "Name": "a"}],"#, "", "the table MediaType is missing"),
        (#""MediaType": "#, #""Media": [], "MediaType": "#, "unknown table Media"),
        (#""Quantity": 1}]"#, #""Quantity": 1}"#, "not a Chinook JSON file"),
        (#""Genre": [{"GenreId": 1, "Name": "a"}]"#, #""Genre": [[1, 2]]"#, "Genre, row 1"),
    ])
    func wrongFilesAreRefused(part: String, wrong: String, message: String) async throws {
        let sandbox = try Sandbox()
        try #require(Self.small.contains(part))
        let outcome = try await importing(Self.small.replacing(part, with: wrong), into: sandbox)
        expectOneLineFailure(outcome, mentioning: message)
        try await expectNothingStored(in: sandbox)
    }

    @Test func aMissingFileIsOneLine() async throws {
        let sandbox = try Sandbox()
        let outcome = try await SampleProgram.musicLibrary.run(
            "import", sandbox.path("nowhere.json"), "--store", "json:" + sandbox.path("library.json"))
        expectOneLineFailure(outcome, mentioning: "nowhere.json")
        #expect(try sandbox.entries().isEmpty)
    }

    @Test func anUnknownStoreIsOneLine() async throws {
        let sandbox = try Sandbox()
        let file = try sandbox.write(Self.small, to: "small.json")
        let outcome = try await SampleProgram.musicLibrary.run("import", file.path, "--store", "cloud:somewhere")
        expectOneLineFailure(outcome, mentioning: "cloud")
        #expect(try sandbox.entries() == ["small.json"])
    }

    @Test func anEmptyStoreHasNoAnswers() async throws {
        expectOneLineFailure(
            try await SampleProgram.musicLibrary.run("answers", "--store", "memory:"), mentioning: "import one first")
    }

    private func importing(_ text: String, into sandbox: Sandbox) async throws -> SampleProgram.Outcome {
        let file = try sandbox.write(text, to: "data.json")
        return try await SampleProgram.musicLibrary.run(
            "import", file.path, "--store", "json:" + sandbox.path("library.json"))
    }

    private func expectNothingStored(in sandbox: Sandbox) async throws {
        let outcome = try await SampleProgram.musicLibrary.run(
            "answers", "--store", "json:" + sandbox.path("library.json"))
        expectOneLineFailure(outcome, mentioning: "import one first")
    }

    /// One row of each table, two of Employee and of Playlist.
    private static let small = """
        {"Genre": [{"GenreId": 1, "Name": "a"}],
        "MediaType": [{"MediaTypeId": 1, "Name": "a"}],
        "Artist": [{"ArtistId": 1, "Name": "a"}],
        "Album": [{"AlbumId": 1, "Title": "a", "ArtistId": 1}],
        "Track": [{"TrackId": 1, "Name": "a", "AlbumId": 1, "MediaTypeId": 1, "GenreId": null, "Composer": "",
            "Milliseconds": 1, "Bytes": null, "UnitPrice": 0.99}],
        "Employee": [\(employee(1, reportsTo: "null")), \(employee(2, reportsTo: "1"))],
        "Customer": [{"CustomerId": 1, "FirstName": "a", "LastName": "a", "Company": "", "Address": "", "City": "",
            "State": "", "Country": "", "PostalCode": "", "Phone": "", "Fax": "", "Email": "a", "SupportRepId": 1}],
        "Invoice": [{"InvoiceId": 1, "CustomerId": 1, "InvoiceDate": "2021-01-31T00:00:00", "BillingAddress": "",
            "BillingCity": "", "BillingState": "", "BillingCountry": "", "BillingPostalCode": "", "Total": 0.99}],
        "InvoiceLine": [{"InvoiceLineId": 1, "InvoiceId": 1, "TrackId": 1, "UnitPrice": 0.99, "Quantity": 1}],
        "Playlist": [{"PlaylistId": 1, "Name": "a"}, {"PlaylistId": 2, "Name": "a"}],
        "PlaylistTrack": [{"PlaylistId": 1, "TrackId": 1}]}
        """

    private static func employee(_ identifier: Int, reportsTo: String) -> String {
        """
        {"EmployeeId": \(identifier), "LastName": "a", "FirstName": "a", "Title": "", "ReportsTo": \(reportsTo),
            "BirthDate": "", "HireDate": null, "Address": "", "City": "", "State": "", "Country": "",
            "PostalCode": "", "Phone": "", "Fax": "", "Email": ""}
        """
    }
}
#endif
