import Foundation
import Mortise
import PackageTestSupport
import Testing

/// What deletion, rollback and a second context do to relationships that share one inverse, on every kind of store.
@Suite struct SharedInverseDeletionTests {
    enum Kind: String, CaseIterable { case memory, json, log }

    private let folder: Folder

    init() throws { folder = try Folder() }

    private func open(_ kind: Kind) throws -> ModelContainer {
        try ModelContainer(
            for: Shared.Yard.self, Shared.Match.self,
            store: kind == .memory ? "memory:" : "\(kind.rawValue):\(folder.path("a.\(kind.rawValue)"))")
    }

    /// The same records in a container that has read them from the file, where there is one.
    private func reopen(_ container: ModelContainer, _ kind: Kind) throws -> ModelContainer {
        if kind == .memory { return container }
        try container.close()
        return try open(kind)
    }

    /// A match of two teams, another of the first team against itself, and a yard with plants in either list and in both.
    private func fill(_ container: ModelContainer) throws {
        let context = ModelContext(container)
        let (one, two) = (Shared.Team("one"), Shared.Team("two"))
        let (derby, friendly) = (Shared.Match("derby"), Shared.Match("friendly"))
        let yard = Shared.Yard("yard")
        let (ash, box, cedar) = (Shared.Plant("ash"), Shared.Plant("box"), Shared.Plant("cedar"))
        context.insert(derby)
        context.insert(friendly)
        context.insert(yard)
        (derby.home, derby.away) = (one, two)
        (friendly.home, friendly.away) = (one, one)
        yard.leading = [ash, box]
        yard.trailing = [box, cedar]
        try context.save()
    }

    private func fetch<T: PersistentModel>(
        _ type: T.Type, _ name: KeyPath<T, String>, _ wanted: String, in context: ModelContext
    ) throws -> T {
        try #require(try context.fetch(FetchDescriptor<T>()).first { $0[keyPath: name] == wanted })
    }

    /// All relationships of a context's models as text.
    private func contents(_ context: ModelContext) throws -> [String] {
        func names(_ plants: [Shared.Plant]) -> String { plants.map(\.name).sorted().joined(separator: "+") }
        let yards = try context.fetch(FetchDescriptor<Shared.Yard>()).map {
            "\($0.name): \(names($0.leading)) | \(names($0.trailing))"
        }
        let plants = try context.fetch(FetchDescriptor<Shared.Plant>()).map { "\($0.name) in \($0.yard?.name ?? "-")" }
        let matches = try context.fetch(FetchDescriptor<Shared.Match>()).map {
            "\($0.name): \($0.home?.name ?? "-") - \($0.away?.name ?? "-")"
        }
        let teams = try context.fetch(FetchDescriptor<Shared.Team>()).map {
            "\($0.name) plays \($0.matches.map(\.name).sorted().joined(separator: "+"))"
        }
        return (yards + plants + matches + teams).sorted()
    }

    private static let filled = [
        "ash in yard", "box in yard", "cedar in yard", "derby: one - two", "friendly: one - one",
        "one plays derby+friendly", "two plays derby", "yard: ash+box | box+cedar",
    ]

    enum Deleted: String, CaseIterable {
        case team, plant, yard, match

        var left: [String] {
            switch self {
            case .team:
                [
                    "ash in yard", "box in yard", "cedar in yard", "derby: - - two", "friendly: - - -",
                    "two plays derby", "yard: ash+box | box+cedar",
                ]
            case .plant:
                [
                    "ash in yard", "cedar in yard", "derby: one - two", "friendly: one - one",
                    "one plays derby+friendly", "two plays derby", "yard: ash | cedar",
                ]
            case .yard:
                [
                    "ash in -", "box in -", "cedar in -", "derby: one - two", "friendly: one - one",
                    "one plays derby+friendly", "two plays derby",
                ]
            case .match:
                [
                    "ash in yard", "box in yard", "cedar in yard", "friendly: one - one", "one plays friendly",
                    "two plays ", "yard: ash+box | box+cedar",
                ]
            }
        }
    }

    private func remove(_ deleted: Deleted, in context: ModelContext) throws {
        switch deleted {
        case .team: context.delete(try fetch(Shared.Team.self, \.name, "one", in: context))
        case .plant: context.delete(try fetch(Shared.Plant.self, \.name, "box", in: context))
        case .yard: context.delete(try fetch(Shared.Yard.self, \.name, "yard", in: context))
        case .match: context.delete(try fetch(Shared.Match.self, \.name, "derby", in: context))
        }
    }

    @Test(arguments: Kind.allCases, Deleted.allCases)
    func aDeletionClearsEveryRelationshipThatLedThere(kind: Kind, deleted: Deleted) throws {
        var container = try open(kind)
        try fill(container)
        container = try reopen(container, kind)
        let (context, other) = (ModelContext(container), ModelContext(container))
        #expect(try contents(context) == Self.filled)
        #expect(try contents(other) == Self.filled)
        try remove(deleted, in: context)
        context.processPendingChanges()
        #expect(try contents(context) == deleted.left, "before the save")
        try context.save()
        #expect(try contents(context) == deleted.left, "after the save")
        #expect(try contents(other) == deleted.left, "in a context that has the models already")
        container = try reopen(container, kind)
        let fresh = ModelContext(container)
        #expect(try contents(fresh) == deleted.left, "reopened")
        // Neither store nor index keeps what the getters would hide.
        if deleted == .team {
            #expect(
                try fresh.fetchCount(FetchDescriptor<Shared.Match>(predicate: #Predicate { $0.home == nil })) == 2)
            #expect(
                try fresh.fetchCount(FetchDescriptor<Shared.Match>(predicate: #Predicate { $0.away == nil })) == 1)
        }
        if deleted == .plant {
            let single = #Predicate<Shared.Yard> { $0.leading.count == 1 && $0.trailing.count == 1 }
            #expect(try fresh.fetchCount(FetchDescriptor(predicate: single)) == 1)
        }
        try container.close()
    }

    @Test(arguments: Kind.allCases, Deleted.allCases)
    func aRollbackOfADeletionLeavesThemAsTheyWere(kind: Kind, deleted: Deleted) throws {
        var container = try open(kind)
        try fill(container)
        container = try reopen(container, kind)
        let context = ModelContext(container)
        _ = try contents(context)
        try remove(deleted, in: context)
        context.processPendingChanges()
        context.rollback()
        #expect(!context.hasChanges)
        #expect(try contents(context) == Self.filled)
        try context.save()
        container = try reopen(container, kind)
        #expect(try contents(ModelContext(container)) == Self.filled)
        try container.close()
    }

    @Test(arguments: Kind.allCases, Deleted.allCases)
    func aDeletionThatIsTakenBackLeavesThemAsTheyWere(kind: Kind, deleted: Deleted) throws {
        var container = try open(kind)
        try fill(container)
        container = try reopen(container, kind)
        let context = ModelContext(container)
        _ = try contents(context)
        try remove(deleted, in: context)
        context.processPendingChanges()
        for model in context.deletedModelsArray { insert(model, into: context) }
        #expect(try contents(context) == Self.filled)
        try context.save()
        container = try reopen(container, kind)
        #expect(try contents(ModelContext(container)) == Self.filled)
        try container.close()
    }

    /// One context deletes; another has changed, and saves later, relationships beside those that lead there.
    @Test(arguments: Kind.allCases) func whatAnotherContextHasDeletedIsNotBroughtBack(kind: Kind) throws {
        var container = try open(kind)
        try fill(container)
        container = try reopen(container, kind)
        let (first, second) = (ModelContext(container), ModelContext(container))
        _ = try contents(second)
        let two = try fetch(Shared.Team.self, \.name, "two", in: second)
        try fetch(Shared.Match.self, \.name, "friendly", in: second).home = two
        let yard = try fetch(Shared.Yard.self, \.name, "yard", in: second)
        yard.trailing = try second.fetch(FetchDescriptor<Shared.Plant>()).filter { $0.name == "ash" }
        try remove(.team, in: first)
        try remove(.plant, in: first)
        try first.save()
        try second.save()
        let expected = [
            "ash in yard", "cedar in -", "derby: - - two", "friendly: two - -", "two plays derby+friendly",
            "yard: ash | ash",
        ]
        #expect(try contents(second) == expected)
        container = try reopen(container, kind)
        #expect(try contents(ModelContext(container)) == expected)
        try container.close()
    }

    /// What leaves a list changes it, so a save that takes a match out of the list of a team that is gone is refused.
    @Test(arguments: Kind.allCases) func aChangeToWhatAnotherContextHasDeletedIsRefused(kind: Kind) throws {
        var container = try open(kind)
        try fill(container)
        container = try reopen(container, kind)
        let (first, second) = (ModelContext(container), ModelContext(container))
        _ = try contents(second)
        let derby = try fetch(Shared.Match.self, \.name, "derby", in: second)
        let team = try #require(derby.home)
        derby.home = nil
        try remove(.team, in: first)
        try first.save()
        #expect(throws: ModelContextError.noSuchModel(team.persistentModelID)) { try second.save() }
        second.rollback()
        #expect(try contents(second) == Deleted.team.left)
        container = try reopen(container, kind)
        #expect(try contents(ModelContext(container)) == Deleted.team.left)
        try container.close()
    }

    /// One context gives the matches to others; another deletes the team that had them.
    @Test(arguments: Kind.allCases) func whatAnotherContextHasMovedAwayIsNotTakenAlong(kind: Kind) throws {
        var container = try open(kind)
        try fill(container)
        container = try reopen(container, kind)
        let (first, second) = (ModelContext(container), ModelContext(container))
        _ = try contents(second)
        try remove(.team, in: second)
        let two = try fetch(Shared.Team.self, \.name, "two", in: first)
        try fetch(Shared.Match.self, \.name, "derby", in: first).home = two
        try fetch(Shared.Match.self, \.name, "friendly", in: first).away = two
        try first.save()
        try second.save()
        container = try reopen(container, kind)
        let expected = [
            "ash in yard", "box in yard", "cedar in yard", "derby: two - two", "friendly: - - two",
            "two plays derby+friendly", "yard: ash+box | box+cedar",
        ]
        #expect(try contents(ModelContext(container)) == expected)
        try container.close()
    }

    // MARK: Random programs

    /// What a program's models hold, by name.
    private struct Reference: Equatable {
        var leading: [String: Set<String>] = [:]
        var trailing: [String: Set<String>] = [:]
        var yard: [String: String?] = [:]
        var home: [String: String?] = [:]
        var away: [String: String?] = [:]
        var teams: Set<String> = []

        /// As `contents` tells it.
        var contents: [String] {
            func names(_ names: Set<String>?) -> String { (names ?? []).sorted().joined(separator: "+") }
            let yards = leading.keys.map { "\($0): \(names(leading[$0])) | \(names(trailing[$0]))" }
            let plants = yard.map { "\($0.key) in \($0.value ?? "-")" }
            let matches = home.map { "\($0.key): \($0.value ?? "-") - \((away[$0.key] ?? nil) ?? "-")" }
            let playing = teams.map { team in
                "\(team) plays \(names(Set(home.keys.filter { home[$0] == team || away[$0] == team })))"
            }
            return (yards + plants + matches + playing).sorted()
        }

        mutating func set(_ members: Set<String>, of owner: String, isLeading: Bool) {
            let before = (isLeading ? leading : trailing)[owner] ?? []
            if isLeading { leading[owner] = members } else { trailing[owner] = members }
            let other = (isLeading ? trailing : leading)[owner] ?? []
            for gone in before.subtracting(members) where yard[gone] == owner && !other.contains(gone) {
                yard[gone] = .some(nil)
            }
            for new in members.subtracting(before) where yard[new] != owner {
                if let previous = yard[new] ?? nil {
                    leading[previous]?.remove(new)
                    trailing[previous]?.remove(new)
                }
                yard[new] = owner
            }
        }

        mutating func delete(_ name: String) {
            for key in leading.keys { leading[key]?.remove(name) }
            for key in trailing.keys { trailing[key]?.remove(name) }
            (leading[name], trailing[name]) = (nil, nil)
            for plant in yard.keys where yard[plant] == name { yard[plant] = .some(nil) }
            for match in home.keys where home[match] == name { home[match] = .some(nil) }
            for match in away.keys where away[match] == name { away[match] = .some(nil) }
            yard.removeValue(forKey: name)
            home.removeValue(forKey: name)
            away.removeValue(forKey: name)
            teams.remove(name)
        }
    }

    @Test(arguments: Kind.allCases) func randomProgramsThatDeleteAndRollBackAgreeWithAModel(kind: Kind) throws {
        let seed = testSeed()
        var random = SeededGenerator(seed: seed)
        for round in 0..<(kind == .memory ? 30 : 10) {
            var container = try open(kind)
            var context = ModelContext(container)
            var (wanted, saved) = (Reference(), Reference())
            var trace: [String] = []
            var made = 0
            for name in ["a", "b"] {
                context.insert(Shared.Yard("y\(name)"))
                context.insert(Shared.Match("m\(name)"))
                (wanted.leading["y\(name)"], wanted.trailing["y\(name)"]) = ([], [])
                (wanted.home["m\(name)"], wanted.away["m\(name)"]) = (.some(nil), .some(nil))
            }
            for name in ["a", "b", "c"] {
                context.insert(Shared.Plant("p\(name)"))
                context.insert(Shared.Team("t\(name)"))
                wanted.yard["p\(name)"] = .some(nil)
                wanted.teams.insert("t\(name)")
            }
            for _ in 0..<60 {
                let yards = try context.fetch(FetchDescriptor<Shared.Yard>(sortBy: [SortDescriptor(\.name)]))
                let plants = try context.fetch(FetchDescriptor<Shared.Plant>(sortBy: [SortDescriptor(\.name)]))
                let matches = try context.fetch(FetchDescriptor<Shared.Match>(sortBy: [SortDescriptor(\.name)]))
                let teams = try context.fetch(FetchDescriptor<Shared.Team>(sortBy: [SortDescriptor(\.name)]))
                made += 1
                switch Int.random(in: 0..<20, using: &random) {
                case 0...3:
                    switch Int.random(in: 0..<4, using: &random) {
                    case 0:
                        context.insert(Shared.Yard("y\(made)"))
                        (wanted.leading["y\(made)"], wanted.trailing["y\(made)"]) = ([], [])
                    case 1:
                        context.insert(Shared.Plant("p\(made)"))
                        wanted.yard["p\(made)"] = .some(nil)
                    case 2:
                        context.insert(Shared.Match("m\(made)"))
                        (wanted.home["m\(made)"], wanted.away["m\(made)"]) = (.some(nil), .some(nil))
                    default:
                        context.insert(Shared.Team("t\(made)"))
                        wanted.teams.insert("t\(made)")
                    }
                    trace.append("insert \(made)")
                case 4...8:
                    guard let yard = yards.randomElement(using: &random) else { continue }
                    let members = plants.filter { _ in Bool.random(using: &random) }
                    let isLeading = Bool.random(using: &random)
                    if isLeading { yard.leading = members } else { yard.trailing = members }
                    wanted.set(Set(members.map(\.name)), of: yard.name, isLeading: isLeading)
                    trace.append("\(yard.name).\(isLeading ? "leading" : "trailing") = \(members.map(\.name))")
                case 9...12:
                    guard let match = matches.randomElement(using: &random) else { continue }
                    let team = Bool.random(using: &random) ? teams.randomElement(using: &random) : nil
                    let isHome = Bool.random(using: &random)
                    if isHome { match.home = team } else { match.away = team }
                    if isHome {
                        wanted.home[match.name] = .some(team?.name)
                    } else {
                        wanted.away[match.name] = .some(team?.name)
                    }
                    trace.append("\(match.name).\(isHome ? "home" : "away") = \(team?.name ?? "nil")")
                case 13...15:
                    let all: [(String, any PersistentModel)] =
                        yards.map { ($0.name, $0) } + plants.map { ($0.name, $0) } + matches.map { ($0.name, $0) }
                        + teams.map { ($0.name, $0) }
                    guard let (name, model) = all.randomElement(using: &random) else { continue }
                    delete(model, from: context)
                    wanted.delete(name)
                    trace.append("delete \(name)")
                case 16:
                    context.rollback()
                    wanted = saved
                    trace.append("rollback")
                case 17, 18:
                    try context.save()
                    saved = wanted
                    trace.append("save")
                default:
                    try context.save()
                    saved = wanted
                    container = try reopen(container, kind)
                    context = ModelContext(container)
                    trace.append("reopen")
                }
                let found = try contents(context)
                #expect(found == wanted.contents, "seed \(seed), round \(round): \(trace)")
                if found != wanted.contents { return }
            }
            context.rollback()
            try context.delete(model: Shared.Team.self)
            try context.delete(model: Shared.Plant.self)
            try context.delete(model: Shared.Match.self)
            try context.delete(model: Shared.Yard.self)
            #expect(try contents(context) == [], "seed \(seed), round \(round): \(trace), then all deleted")
            try container.close()
        }
    }
}
