import Foundation
import Mortise
import TestSupport
import Testing

/// Relationships that name one inverse, as those of Apple's sample Backyard Birds do. They were once refused.
@Suite struct SharedInverseTests {
    @Test func eachListKeepsItsOwnMembers() throws {
        let container = try memory(Shared.Yard.self)
        let context = ModelContext(container)
        let yard = Shared.Yard("y")
        yard.leading = [Shared.Plant("a")]
        context.insert(yard)
        yard.trailing = [Shared.Plant("b")]
        try context.save()
        let stored = try onlyModel(Shared.Yard.self, in: ModelContext(container))
        #expect(stored.leading.map(\.name) == ["a"] && stored.trailing.map(\.name) == ["b"])
        #expect(stored.leading[0].yard === stored && stored.trailing[0].yard === stored)
    }

    @Test func aMatchIsOneOfBothTeams() throws {
        let container = try memory(Shared.Match.self)
        let context = ModelContext(container)
        let match = Shared.Match("m")
        let (one, two) = (Shared.Team("one"), Shared.Team("two"))
        context.insert(match)
        (match.home, match.away) = (one, two)
        try context.save()
        #expect(one.matches == [match] && two.matches == [match])
        match.away = one
        #expect(one.matches == [match] && two.matches.isEmpty)
        match.home = nil
        #expect(one.matches == [match])
        match.away = nil
        #expect(one.matches.isEmpty)
    }

    @Test func aBatchLeavesThemToModels() throws {
        let container = try memory(Shared.Match.self)
        let context = ModelContext(container)
        #expect(throws: BatchError.self) {
            try context.update(Shared.Match.self) { $0.set(\.home, to: nil) }
        }
    }

    @Test(arguments: ["memory", "json", "store"])
    func randomChangesAreThoseOfAModelOfThem(kind: String) throws {
        let folder = try Folder()
        var random = SeededGenerator(seed: testSeed())
        for round in 0..<30 {
            let configuration: any DataStoreConfiguration =
                kind == "memory"
                ? InMemoryConfiguration() : ModelConfiguration(url: folder.url.appending(path: "\(round).\(kind)"))
            let schema = Schema([Shared.Yard.self, Shared.Match.self])
            var container = try ModelContainer(for: schema, configurations: [configuration])
            var context = ModelContext(container)
            var yards = (0..<3).map { Shared.Yard("y\($0)") }
            var plants = (0..<5).map { Shared.Plant("p\($0)") }
            var teams = (0..<3).map { Shared.Team("t\($0)") }
            var matches = (0..<4).map { Shared.Match("m\($0)") }
            for model in yards { context.insert(model) }
            for model in plants { context.insert(model) }
            for model in teams { context.insert(model) }
            for model in matches { context.insert(model) }
            var wanted = Reference()
            for step in 0..<40 {
                switch Int.random(in: 0..<8, using: &random) {
                case 0...2:
                    let yard = Int.random(in: 0..<3, using: &random)
                    let members = plants.indices.filter { _ in Bool.random(using: &random) }
                    if Bool.random(using: &random) {
                        yards[yard].leading = members.map { plants[$0] }
                        wanted.set(members, of: yard, isLeading: true)
                    } else {
                        yards[yard].trailing = members.map { plants[$0] }
                        wanted.set(members, of: yard, isLeading: false)
                    }
                case 3...5:
                    let match = Int.random(in: 0..<4, using: &random)
                    let team = [nil, 0, 1, 2].randomElement(using: &random) ?? nil
                    if Bool.random(using: &random) {
                        matches[match].home = team.map { teams[$0] }
                        wanted.home[match] = team
                    } else {
                        matches[match].away = team.map { teams[$0] }
                        wanted.away[match] = team
                    }
                case 6: try context.save()
                default:
                    try context.save()
                    if kind != "memory" {
                        try container.close()
                        container = try ModelContainer(for: schema, configurations: [configuration])
                    }
                    context = ModelContext(container)
                    yards = try context.fetch(FetchDescriptor(sortBy: [SortDescriptor(\.name)]))
                    plants = try context.fetch(FetchDescriptor(sortBy: [SortDescriptor(\.name)]))
                    teams = try context.fetch(FetchDescriptor(sortBy: [SortDescriptor(\.name)]))
                    matches = try context.fetch(FetchDescriptor(sortBy: [SortDescriptor(\.name)]))
                }
                let found = Reference(yards, plants, teams, matches)
                #expect(found == wanted, "round \(round), step \(step)")
                if found != wanted { return }
            }
            try container.close()
        }
    }
}

/// What the models hold, by number.
private struct Reference: Equatable {
    var leading: [Set<Int>] = Array(repeating: [], count: 3)
    var trailing: [Set<Int>] = Array(repeating: [], count: 3)
    var yard: [Int?] = Array(repeating: nil, count: 5)
    var home: [Int?] = Array(repeating: nil, count: 4)
    var away: [Int?] = Array(repeating: nil, count: 4)
    /// Each match once for each team that plays it.
    var matches: [[Int]] {
        get {
            storedMatches
                ?? (0..<3).map { team in (0..<4).filter { home[$0] == team || away[$0] == team } }
        }
        set { storedMatches = newValue }
    }
    private var storedMatches: [[Int]]?

    init() {}

    init(_ yards: [Shared.Yard], _ plants: [Shared.Plant], _ teams: [Shared.Team], _ matches: [Shared.Match]) {
        func number(_ name: String?) -> Int? { name?.dropFirst().first?.wholeNumberValue }
        leading = yards.map { Set($0.leading.compactMap { number($0.name) }) }
        trailing = yards.map { Set($0.trailing.compactMap { number($0.name) }) }
        yard = plants.map { number($0.yard?.name) }
        home = matches.map { number($0.home?.name) }
        away = matches.map { number($0.away?.name) }
        storedMatches = teams.map { $0.matches.compactMap { number($0.name) }.sorted() }
    }

    static func == (lhs: Reference, rhs: Reference) -> Bool {
        lhs.leading == rhs.leading && lhs.trailing == rhs.trailing && lhs.yard == rhs.yard && lhs.home == rhs.home
            && lhs.away == rhs.away && lhs.matches == rhs.matches
    }

    mutating func set(_ members: [Int], of owner: Int, isLeading: Bool) {
        let before = isLeading ? leading[owner] : trailing[owner]
        if isLeading { leading[owner] = Set(members) } else { trailing[owner] = Set(members) }
        for gone in before.subtracting(members) {
            let other = isLeading ? trailing[owner] : leading[owner]
            if yard[gone] == owner, !other.contains(gone) { yard[gone] = nil }
        }
        for new in members where !before.contains(new) && yard[new] != owner {
            if let previous = yard[new] {
                leading[previous].remove(new)
                trailing[previous].remove(new)
            }
            yard[new] = owner
        }
    }
}
