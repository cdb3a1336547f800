import Foundation
import MortiseCore

/// Deleting one deletes its tracks.
final class Album: PersistentModel {
    var persistentBackingData: any BackingData<Album> = Album.createBackingData()
    static var schemaMetadata: [Schema.PropertyMetadata] {
        [
            .init(name: "title", keypath: \Album.title),
            .init(
                name: "tracks", keypath: \Album.tracks,
                metadata: Schema.Relationship(deleteRule: .cascade, inverse: \Track.album)),
        ]
    }
    init(backingData: any BackingData<Album>) { persistentBackingData = backingData }
    init(_ title: String) { self.title = title }

    var title: String {
        get { getValue(forKey: \.title) }
        set { setValue(forKey: \.title, to: newValue) }
    }
    var tracks: [Track] {
        get { getValue(forKey: \.tracks) }
        set { setValue(forKey: \.tracks, to: newValue) }
    }
}

/// The middle of a chain of cascades.
final class Track: PersistentModel {
    var persistentBackingData: any BackingData<Track> = Track.createBackingData()
    static var schemaMetadata: [Schema.PropertyMetadata] {
        [
            .init(name: "title", keypath: \Track.title),
            .init(name: "album", keypath: \Track.album),
            .init(
                name: "lines", keypath: \Track.lines,
                metadata: Schema.Relationship(deleteRule: .cascade, inverse: \Lyric.track)),
        ]
    }
    init(backingData: any BackingData<Track>) { persistentBackingData = backingData }
    init(_ title: String, album: Album? = nil) {
        self.title = title
        self.album = album
    }

    var title: String {
        get { getValue(forKey: \.title) }
        set { setValue(forKey: \.title, to: newValue) }
    }
    var album: Album? {
        get { getValue(forKey: \.album) }
        set { setValue(forKey: \.album, to: newValue) }
    }
    var lines: [Lyric] {
        get { getValue(forKey: \.lines) }
        set { setValue(forKey: \.lines, to: newValue) }
    }
}

/// The end of a chain of cascades.
final class Lyric: PersistentModel {
    var persistentBackingData: any BackingData<Lyric> = Lyric.createBackingData()
    static var schemaMetadata: [Schema.PropertyMetadata] {
        [
            .init(name: "text", keypath: \Lyric.text),
            .init(name: "track", keypath: \Lyric.track),
        ]
    }
    init(backingData: any BackingData<Lyric>) { persistentBackingData = backingData }
    init(_ text: String, track: Track? = nil) {
        self.text = text
        self.track = track
    }

    var text: String {
        get { getValue(forKey: \.text) }
        set { setValue(forKey: \.text, to: newValue) }
    }
    var track: Track? {
        get { getValue(forKey: \.track) }
        set { setValue(forKey: \.track, to: newValue) }
    }
}
