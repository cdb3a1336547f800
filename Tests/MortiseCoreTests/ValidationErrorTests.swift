import Foundation
import MortiseCore
import MortiseInMemory
import Testing

/// What cannot be saved is refused before anything is stored; the context keeps its changes and saves them once they are
/// put right.
@Suite struct ValidationErrorTests {
    let container: ModelContainer
    let context: ModelContext

    init() throws {
        container = try ModelContainer(
            for: Schema([Team.self, Recipe.self]), configurations: [InMemoryConfiguration()])
        context = ModelContext(container)
    }

    private func expectRefused(
        _ error: ModelValidationError, saying words: String..., at location: SourceLocation = #_sourceLocation
    ) throws {
        let before = try storedCount()
        #expect(sourceLocation: location) {
            try context.save()
        } throws: { thrown in
            guard case SwiftDataError.modelValidationFailure = thrown else { return false }
            return thrown as? ModelValidationError == error && words.allSatisfy("\(thrown)".contains)
        }
        #expect(context.hasChanges, sourceLocation: location)
        #expect(try storedCount() == before, sourceLocation: location)
    }

    private func storedCount() throws -> Int {
        let other = ModelContext(container)
        return try other.fetchCount(FetchDescriptor<Team>()) + other.fetchCount(FetchDescriptor<Player>())
            + other.fetchCount(FetchDescriptor<Recipe>())
    }

    private func team(of count: Int) -> Team {
        let team = Team()
        team.name = "t"
        team.players = (0..<count).map { Player(number: $0) }
        context.insert(team)
        return team
    }

    @Test func aRequiredPropertyNeedsAValue() throws {
        let team = Team()
        team.players = [Player(number: 1)]
        context.insert(team)
        try expectRefused(
            .missingValue(entity: "Team", property: "name", model: team.persistentModelID), saying: "Team.name",
            "Set it")
        team.name = "named"
        try context.save()
    }

    @Test func tooFewModelsAreRefused() throws {
        let team = team(of: 0)
        try expectRefused(
            .tooFew(entity: "Team", property: "players", model: team.persistentModelID, count: 0, minimum: 1),
            saying: "Team.players", "has 0", "minimum is 1")
        team.players = [Player(number: 1)]
        try context.save()
        team.players = []
        try expectRefused(
            .tooFew(entity: "Team", property: "players", model: team.persistentModelID, count: 0, minimum: 1))
    }

    @Test func tooManyModelsAreRefused() throws {
        let team = team(of: 4)
        try expectRefused(
            .tooMany(entity: "Team", property: "players", model: team.persistentModelID, count: 4, maximum: 3),
            saying: "Team.players", "has 4", "maximum is 3")
        team.players.removeLast()
        try context.save()
        #expect(team.players.count == 3)
    }

    @Test func aValueThatCannotBeEncodedIsRefusedAndStaysReadable() throws {
        let recipe = Recipe(method: Method(steps: ["stir"], isSecret: true))
        context.insert(recipe)
        #expect(recipe.method.steps == ["stir"])
        try expectRefused(
            .unencodableValue(entity: "Recipe", property: "method", model: recipe.persistentModelID),
            saying: "Recipe.method", "encode(to:)")
        recipe.method = Method(steps: ["bake"], isSecret: false)
        try context.save()
        recipe.method = Method(steps: ["burn"], isSecret: true)
        #expect(recipe.method.steps == ["burn"])
        try expectRefused(.unencodableValue(entity: "Recipe", property: "method", model: recipe.persistentModelID))
        context.rollback()
        #expect(recipe.method.steps == ["bake"])
    }

    @Test func aRefusalStopsEveryOtherChangeToo() throws {
        let good = team(of: 2)
        try context.save()
        good.name = "renamed"
        let bad = team(of: 5)
        let doomed = good.players[0]
        context.delete(doomed)
        try expectRefused(
            .tooMany(entity: "Team", property: "players", model: bad.persistentModelID, count: 5, maximum: 3))
        #expect(try ModelContext(container).fetch(FetchDescriptor<Team>()).map(\.name) == ["t"])
        #expect(doomed.isDeleted && good.name == "renamed")
        bad.players.removeLast(2)
        try context.save()
        #expect(try ModelContext(container).fetch(FetchDescriptor<Team>()).map(\.name) == ["renamed", "t"])
    }
}

struct Method: Codable, Equatable {
    struct Refusal: Error {}
    var steps: [String]
    var isSecret: Bool

    func encode(to encoder: any Encoder) throws {
        if isSecret { throw Refusal() }
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(steps, forKey: .steps)
        try container.encode(isSecret, forKey: .isSecret)
    }
}

final class Team: PersistentModel {
    var persistentBackingData: any BackingData<Team> = Team.createBackingData()
    static var schemaMetadata: [Schema.PropertyMetadata] {
        [
            .init(name: "name", keypath: \Team.name),
            .init(
                name: "players", keypath: \Team.players,
                metadata: Schema.Relationship(minimumModelCount: 1, maximumModelCount: 3, inverse: \Player.team)),
        ]
    }
    init(backingData: any BackingData<Team>) { persistentBackingData = backingData }
    init() {}

    var name: String {
        get { getValue(forKey: \.name) }
        set { setValue(forKey: \.name, to: newValue) }
    }
    var players: [Player] {
        get { getValue(forKey: \.players) }
        set { setValue(forKey: \.players, to: newValue) }
    }
}

final class Player: PersistentModel {
    var persistentBackingData: any BackingData<Player> = Player.createBackingData()
    static var schemaMetadata: [Schema.PropertyMetadata] {
        [.init(name: "number", keypath: \Player.number), .init(name: "team", keypath: \Player.team)]
    }
    init(backingData: any BackingData<Player>) { persistentBackingData = backingData }
    init(number: Int) { self.number = number }

    var number: Int {
        get { getValue(forKey: \.number) }
        set { setValue(forKey: \.number, to: newValue) }
    }
    var team: Team? {
        get { getValue(forKey: \.team) }
        set { setValue(forKey: \.team, to: newValue) }
    }
}

final class Recipe: PersistentModel {
    var persistentBackingData: any BackingData<Recipe> = Recipe.createBackingData()
    static var schemaMetadata: [Schema.PropertyMetadata] { [.init(name: "method", keypath: \Recipe.method)] }
    init(backingData: any BackingData<Recipe>) { persistentBackingData = backingData }
    init(method: Method) { self.method = method }

    var method: Method {
        get { getValue(forKey: \.method) }
        set { setValue(forKey: \.method, to: newValue) }
    }
}
