import Foundation
import Mortise
import PackageTestSupport
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

    /// Bug: the plant stayed in the list of the yard that it had left, and was deleted with it where that list cascades.
    @Test(arguments: [false, true]) func settingTheInverseLeavesTheListsOfTheOldOwner(isClearing: Bool) throws {
        let container = try memory(Shared.Yard.self, Shared.Match.self)
        let context = ModelContext(container)
        let (old, new, plant) = (Shared.Yard("old"), Shared.Yard("new"), Shared.Plant("p"))
        let (match, team) = (Shared.Match("m"), Shared.Team("t"))
        for model in [old, new] { context.insert(model) }
        context.insert(match)
        old.leading = [plant]
        old.trailing = [plant]
        match.home = team
        try context.save()
        plant.yard = isClearing ? nil : new
        team.matches = []
        #expect(old.leading.isEmpty && old.trailing.isEmpty)
        // By which of its lists the new one should hold it is not known.
        #expect(new.leading.isEmpty && new.trailing.isEmpty)
        #expect(match.home == nil)
        try context.save()
        let stored = ModelContext(container)
        #expect(try onlyModel(Shared.Plant.self, in: stored).yard?.name == (isClearing ? nil : "new"))
        #expect(
            try stored.fetch(FetchDescriptor<Shared.Yard>()).allSatisfy { $0.leading.isEmpty && $0.trailing.isEmpty })
        #expect(try onlyModel(Shared.Match.self, in: stored).home == nil)
    }

    /// Bug: both lists had the plant, and each yard took it along when it was deleted.
    @Test func theOwnerSetLastWinsBetweenContexts() throws {
        let container = try memory(Shared.Yard.self)
        let context = ModelContext(container)
        let yards = (0..<3).map { Shared.Yard("\($0)") }
        let plant = Shared.Plant("p")
        for yard in yards { context.insert(yard) }
        yards[0].leading = [plant]
        try context.save()
        let other = ModelContext(container)
        let theirs = try other.fetch(FetchDescriptor<Shared.Yard>(sortBy: [SortDescriptor(\.name)]))
        let same = try onlyModel(Shared.Plant.self, in: other)
        yards[1].leading = [plant]
        try context.save()
        theirs[2].trailing = [same]
        try other.save()
        let stored = try ModelContext(container).fetch(FetchDescriptor<Shared.Yard>(sortBy: [SortDescriptor(\.name)]))
        #expect(stored.map(\.leading.count) == [0, 0, 0] && stored.map(\.trailing.count) == [0, 0, 1])
        #expect(stored[2].trailing.first?.yard === stored[2])
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
