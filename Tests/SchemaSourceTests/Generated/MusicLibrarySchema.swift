// Made by mortise schema models of version 1.0.0, storage 9138e71516530af5a89d626e4a5c6565.
// Frozen: do not edit.
// swift-format-ignore-file

import Foundation
import Mortise

enum MusicLibrarySchema: VersionedSchema {
    static var versionIdentifier: Schema.Version { Schema.Version(1, 0, 0) }
    static var models: [any PersistentModel.Type] { [Album.self, Artist.self, Customer.self, Employee.self, Genre.self, Invoice.self, InvoiceLine.self, MediaType.self, Playlist.self, Track.self] }

    @Model
    final class Album {
        @Attribute(.unique) var albumId: Int
        var title: String
        var artist: Artist?
        @Relationship(inverse: \Track.album) var tracks: [Track] = []

        init(albumId: Int, title: String) {
            self.albumId = albumId
            self.title = title
        }
    }

    @Model
    final class Artist {
        @Attribute(.unique) var artistId: Int
        var name: String
        @Relationship(deleteRule: .cascade, inverse: \Album.artist) var albums: [Album] = []

        init(artistId: Int, name: String) {
            self.artistId = artistId
            self.name = name
        }
    }

    @Model
    final class Customer {
        #Index<Customer>([\.country])

        @Attribute(.unique) var customerId: Int
        var firstName: String
        var lastName: String
        var company: String?
        var address: String?
        var city: String?
        var state: String?
        var country: String?
        var postalCode: String?
        var phone: String?
        var fax: String?
        var email: String
        var supportRep: Employee?
        @Relationship(deleteRule: .cascade, inverse: \Invoice.customer) var invoices: [Invoice] = []

        init(customerId: Int, firstName: String, lastName: String, email: String) {
            self.customerId = customerId
            self.firstName = firstName
            self.lastName = lastName
            self.email = email
        }
    }

    @Model
    final class Employee {
        @Attribute(.unique) var employeeId: Int
        var lastName: String
        var firstName: String
        var title: String?
        var birthDate: Date?
        var hireDate: Date?
        var address: String?
        var city: String?
        var state: String?
        var country: String?
        var postalCode: String?
        var phone: String?
        var fax: String?
        var email: String?
        var manager: Employee?
        @Relationship(inverse: \Employee.manager) var reports: [Employee] = []
        @Relationship(inverse: \Customer.supportRep) var customers: [Customer] = []

        init(employeeId: Int, lastName: String, firstName: String) {
            self.employeeId = employeeId
            self.lastName = lastName
            self.firstName = firstName
        }
    }

    @Model
    final class Genre {
        @Attribute(.unique) var genreId: Int
        var name: String
        @Relationship(inverse: \Track.genre) var tracks: [Track] = []

        init(genreId: Int, name: String) {
            self.genreId = genreId
            self.name = name
        }
    }

    @Model
    final class Invoice {
        #Index<Invoice>([\.total])

        @Attribute(.unique) var invoiceId: Int
        var invoiceDate: Date
        var billingAddress: String?
        var billingCity: String?
        var billingState: String?
        var billingCountry: String?
        var billingPostalCode: String?
        var total: Decimal
        var customer: Customer?
        @Relationship(deleteRule: .cascade, inverse: \InvoiceLine.invoice) var lines: [InvoiceLine] = []

        init(invoiceId: Int, invoiceDate: Date, total: Decimal) {
            self.invoiceId = invoiceId
            self.invoiceDate = invoiceDate
            self.total = total
        }
    }

    @Model
    final class InvoiceLine {
        @Attribute(.unique) var invoiceLineId: Int
        var unitPrice: Decimal
        var quantity: Int
        var invoice: Invoice?
        var track: Track?

        init(invoiceLineId: Int, unitPrice: Decimal, quantity: Int) {
            self.invoiceLineId = invoiceLineId
            self.unitPrice = unitPrice
            self.quantity = quantity
        }
    }

    @Model
    final class MediaType {
        @Attribute(.unique) var mediaTypeId: Int
        var name: String
        @Relationship(inverse: \Track.mediaType) var tracks: [Track] = []

        init(mediaTypeId: Int, name: String) {
            self.mediaTypeId = mediaTypeId
            self.name = name
        }
    }

    @Model
    final class Playlist {
        @Attribute(.unique) var playlistId: Int
        var name: String
        @Relationship(inverse: \Track.playlists) var tracks: [Track] = []

        init(playlistId: Int, name: String) {
            self.playlistId = playlistId
            self.name = name
        }
    }

    @Model
    final class Track {
        #Index<Track>([\.name], [\.milliseconds], [\.composer])

        @Attribute(.unique) var trackId: Int
        var name: String
        var composer: String?
        var milliseconds: Int
        var bytes: Int?
        var unitPrice: Decimal
        var album: Album?
        var mediaType: MediaType?
        var genre: Genre?
        var playlists: [Playlist] = []
        @Relationship(inverse: \InvoiceLine.track) var invoiceLines: [InvoiceLine] = []

        init(trackId: Int, name: String, milliseconds: Int, unitPrice: Decimal) {
            self.trackId = trackId
            self.name = name
            self.milliseconds = milliseconds
            self.unitPrice = unitPrice
        }
    }
}
