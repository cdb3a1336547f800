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
        let tracks = FetchDescriptor<Track>(
            predicate: #Predicate { track in
                track.name.localizedStandardContains(word)
                    || track.album?.title.localizedStandardContains(word) == true
                    || track.album?.artist?.name.localizedStandardContains(word) == true
            }
        ).allowing(.allTracks)
        return Question("anythingBlue", "\"blue\" in track, album or artist", tracks) { context in
            .number(try context.fetchCount(tracks))
        }
    }
}
