import Mortise

/// A named choice of tracks; a track may be in any number of them.
@Model
final class Playlist {
    @Attribute(.unique) var playlistId: Int
    var name: String
    var tracks: [Track] = []

    init(playlistId: Int, name: String) {
        self.playlistId = playlistId
        self.name = name
    }
}
