import Mortise

/// The format in which a track is sold.
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
