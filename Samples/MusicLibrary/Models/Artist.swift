import Mortise

/// Someone who made albums; they go when the artist goes.
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
