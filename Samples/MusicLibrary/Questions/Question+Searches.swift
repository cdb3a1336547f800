import Foundation
import Mortise

/// Questions that look for a word, in capitals or not.
extension Question {
    static var searches: [Question] { [tracksAboutTheMoon, anythingBlue] }

    static var tracksAboutTheMoon: Question {
        let tracks = FetchDescriptor<Track>(
            predicate: #Predicate { $0.name.localizedStandardContains("moon") },
            sortBy: [SortDescriptor(\.name), SortDescriptor(\.trackId)]
        ).allowing(.allTracks)
        return Question("tracksAboutTheMoon", "tracks with \"moon\" in the name", tracks) { context in
            .texts(try context.fetch(tracks).map(\.name))
        }
    }

    static var anythingBlue: Question {
        let word = "blue"
        // Three predicates: the compiler takes ten seconds for one with all three.
        let inName = #Predicate<Track> { $0.name.localizedStandardContains(word) }
        let inAlbum = #Predicate<Track> { $0.album?.title.localizedStandardContains(word) == true }
        let inArtist = #Predicate<Track> { $0.album?.artist?.name.localizedStandardContains(word) == true }
        let tracks = FetchDescriptor<Track>(predicate: inName.or(inAlbum).or(inArtist)).allowing(.allTracks)
        return Question("anythingBlue", "\"blue\" in track, album or artist", tracks) { context in
            .number(try context.fetchCount(tracks))
        }
    }
}
