import Mortise

/// An artist with albums, which are deleted with the artist.
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
