import Foundation
import Mortise

/// Questions about tracks, and how many there are of everything.
extension Question {
    static var tracks: [Question] {
        [rowsOfEachEntity, longRockTracks, tracksWithoutComposer, tracksStartingWithTheU, longestTracks, largestGenres]
    }

    /// The pairs of playlist and track have no model of their own: they are the tracks of all playlists.
    static var rowsOfEachEntity: Question {
        let playlists = FetchDescriptor<Playlist>()
        return Question("counts", "rows of each entity", playlists) { context in
            func count<T: PersistentModel>(_ type: T.Type) throws -> Answer {
                .number(try context.fetchCount(FetchDescriptor<T>()))
            }
            let pairs = try context.fetch(playlists).reduce(0) { $0 + $1.tracks.count }
            return .object([
                "Genre": try count(Genre.self), "MediaType": try count(MediaType.self),
                "Artist": try count(Artist.self), "Album": try count(Album.self), "Track": try count(Track.self),
                "Employee": try count(Employee.self), "Customer": try count(Customer.self),
                "Invoice": try count(Invoice.self), "InvoiceLine": try count(InvoiceLine.self),
                "Playlist": try count(Playlist.self), "PlaylistTrack": .number(pairs),
            ])
        }
    }

    static var longRockTracks: Question {
        let tracks = FetchDescriptor<Track>(
            predicate: #Predicate { $0.genre?.name == "Rock" && $0.milliseconds > 300_000 })
        return Question("longRockTracks", "tracks of genre Rock above 5 min", tracks) { context in
            .number(try context.fetchCount(tracks))
        }
    }

    static var tracksWithoutComposer: Question {
        let tracks = FetchDescriptor<Track>(predicate: #Predicate { $0.composer == nil })
        return Question("nullComposer", "tracks without a composer", tracks) { context in
            .number(try context.fetchCount(tracks))
        }
    }

    static var tracksStartingWithTheU: Question {
        let tracks = FetchDescriptor<Track>(
            predicate: #Predicate { $0.name.starts(with: "The U") },
            sortBy: [SortDescriptor(\.name), SortDescriptor(\.trackId)])
        return Question("tracksStartingWithThe", "tracks that start with \"The U\"", tracks) { context in
            .texts(try context.fetch(tracks).map(\.name))
        }
    }

    static var longestTracks: Question {
        var tracks = FetchDescriptor<Track>(
            sortBy: [SortDescriptor(\.milliseconds, order: .reverse), SortDescriptor(\.trackId)])
        tracks.fetchLimit = 5
        return Question("longest5", "the five longest tracks", tracks) { [tracks] context in
            .texts(try context.fetch(tracks).map(\.name))
        }
    }

    /// The store counts: no track becomes an object for this.
    static var largestGenres: Question {
        let tracks = FetchDescriptor<Track>().allowing(.allTracks)
        return Question(
            "largestGenres", "the five genres with most tracks",
            plan: { try $0.explainGroups(tracks, by: \.genre?.name, computing: .count) },
            answer: { context in
                let genres = try context.groups(
                    tracks, by: \.genre?.name, computing: .count, sortedBy: [.descending(.count)], limit: 5)
                return .list(genres.map { .list([.text($0.key ?? "none"), .number($0.values)]) })
            })
    }
}
