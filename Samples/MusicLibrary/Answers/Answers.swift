import Foundation
import Mortise

/// The answers to all questions; the properties have the names of the questions' keys.
struct Answers: Encodable {
    let counts: [String: Int]
    let longRockTracks: Int
    let nullComposer: Int
    let tracksStartingWithThe: [String]
    let longest5: [String]
    let albumsOfIronMaiden: Int
    let playlistsOfTrack1: [String]
    let customersInGermany: [String]
    let reports: [SupportLoad]
    let invoicesAbove: [Int]
    let revenueUSA: Decimal
    let managerOfManagers: [String]

    /// Asks every question of the library that `context` holds.
    ///
    /// - Throws: what the store throws.
    init(from context: ModelContext) throws {
        let questions = LibraryQuestions(context: context)
        counts = try questions.counts()
        longRockTracks = try questions.longRockTracks()
        nullComposer = try questions.tracksWithoutComposer()
        tracksStartingWithThe = try questions.trackNames(startingWith: "The U")
        longest5 = try questions.longestTracks(5)
        albumsOfIronMaiden = try questions.albumCount(of: "Iron Maiden")
        playlistsOfTrack1 = try questions.playlists(ofTrack: 1)
        customersInGermany = try questions.customerEmails(in: "Germany")
        reports = try questions.supportLoads()
        invoicesAbove = try questions.invoices(above: 18)
        revenueUSA = try questions.revenue(in: "USA")
        managerOfManagers = try questions.lastNames(twoLevelsBelow: "Adams")
    }
}

/// How many customers an employee looks after; encoded as the pair `["Peacock", 21]`.
struct SupportLoad: Encodable {
    let lastName: String
    let customers: Int

    func encode(to encoder: any Encoder) throws {
        var pair = encoder.unkeyedContainer()
        try pair.encode(lastName)
        try pair.encode(customers)
    }
}
