import Foundation
import Mortise

/// One piece of music.
///
/// `milliseconds` is its length, `bytes` the size of its file; `unitPrice` is in US dollars.
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
    @Relationship(inverse: \Playlist.tracks) var playlists: [Playlist] = []
    @Relationship(inverse: \InvoiceLine.track) var invoiceLines: [InvoiceLine] = []

    init(trackId: Int, name: String, milliseconds: Int, unitPrice: Decimal) {
        self.trackId = trackId
        self.name = name
        self.milliseconds = milliseconds
        self.unitPrice = unitPrice
    }
}
