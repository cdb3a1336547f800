import Foundation
import Mortise

/// Questions that follow relationships.
extension Question {
    static var relationships: [Question] {
        [
            albumsOfIronMaiden, playlistsOfTrack1, artistsWithoutAlbums, emptyPlaylists, buyersOfFrankSinatra,
            supportLoads, employeesTwoLevelsBelowAdams,
        ]
    }

    static var albumsOfIronMaiden: Question {
        let albums = FetchDescriptor<Album>(predicate: #Predicate { $0.artist?.name == "Iron Maiden" })
            .allowing(.albumsByArtist)
        return Question("albumsOfIronMaiden", "albums of Iron Maiden", albums) { context in
            .number(try context.fetchCount(albums))
        }
    }

    static var playlistsOfTrack1: Question {
        let playlists = FetchDescriptor<Playlist>(
            predicate: #Predicate { playlist in playlist.tracks.contains { $0.trackId == 1 } },
            sortBy: [SortDescriptor(\.playlistId)]
        ).allowing(.allPlaylists)
        return Question("playlistsOfTrack1", "playlists that hold track 1", playlists) { context in
            .texts(try context.fetch(playlists).map(\.name))
        }
    }

    static var artistsWithoutAlbums: Question {
        let artists = FetchDescriptor<Artist>(predicate: #Predicate { $0.albums.isEmpty }).allowing(.allArtists)
        return Question("artistsWithoutAlbums", "artists without an album", artists) { context in
            .number(try context.fetchCount(artists))
        }
    }

    static var emptyPlaylists: Question {
        let playlists = FetchDescriptor<Playlist>(
            predicate: #Predicate { $0.tracks.isEmpty }, sortBy: [SortDescriptor(\.playlistId)]
        ).allowing(.allPlaylists)
        return Question("emptyPlaylists", "playlists without a track", playlists) { context in
            .texts(try context.fetch(playlists).map(\.name))
        }
    }

    /// Five relationships lie between a customer and an artist.
    static var buyersOfFrankSinatra: Question {
        // Of the property's own type, which the compiler finds sooner than a literal's.
        let name: String? = "Frank Sinatra"
        let buyers = FetchDescriptor<Customer>(
            predicate: #Predicate { customer in
                customer.invoices.contains { invoice in
                    invoice.lines.contains { line in line.track?.album?.artist?.name == name }
                }
            },
            sortBy: [SortDescriptor(\.lastName)]
        ).allowing(.allCustomers)
        return Question("buyersOfFrankSinatra", "who has bought Frank Sinatra", buyers) { context in
            .texts(try context.fetch(buyers).map(\.lastName))
        }
    }

    static var supportLoads: Question {
        let employees = FetchDescriptor<Employee>(
            predicate: #Predicate { !$0.customers.isEmpty }, sortBy: [SortDescriptor(\.lastName)]
        ).allowing(.allEmployees)
        return Question("reports", "who supports how many customers", employees) { context in
            let supporters = try context.fetch(employees)
            return .list(supporters.map { .list([.text($0.lastName), .number($0.customers.count)]) })
        }
    }

    static var employeesTwoLevelsBelowAdams: Question {
        let employees = FetchDescriptor<Employee>(
            predicate: #Predicate { $0.manager?.manager?.lastName == "Adams" },
            sortBy: [SortDescriptor(\.lastName)]
        ).allowing(.allEmployees)
        return Question("managerOfManagers", "whose manager's manager is Adams", employees) { context in
            .texts(try context.fetch(employees).map(\.lastName))
        }
    }
}
