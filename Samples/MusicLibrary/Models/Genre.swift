import Mortise

/// A style of music.
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
