import Mortise

/// A collection of tracks by one artist; the tracks stay when the album goes.
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
