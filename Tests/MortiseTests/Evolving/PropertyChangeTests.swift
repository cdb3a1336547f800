import Foundation
import Mortise
import Testing

/// Properties that take another form: parts of a value, several records in place of one, another type.
@Suite struct PropertyChangeTests {
    struct Address: Codable, Hashable {
        var street: String
        var city: String?
    }

    enum One: VersionedSchema {
        static var models: [any PersistentModel.Type] { [Person.self, Team.self] }
        static var versionIdentifier: Schema.Version { Schema.Version(1, 0, 0) }

        @Model final class Person {
            var name: String
            var address: Address?
            var age: String
            var team: Team?
            @Relationship(inverse: \Team.leads) var leading: [Team] = []
            init(_ name: String, _ address: Address?, age: String, team: Team?) {
                self.name = name
                self.address = address
                self.age = age
                self.team = team
            }
        }
        @Model final class Team {
            var name: String
            @Relationship(inverse: \Person.team) var members: [Person] = []
            var leads: [Person] = []
            init(_ name: String) { self.name = name }
        }
    }

    /// The address is two properties, the age a number, a person is in several teams, and a team has one lead.
    enum Two: VersionedSchema {
        static var models: [any PersistentModel.Type] { [Person.self, Team.self] }
        static var versionIdentifier: Schema.Version { Schema.Version(2, 0, 0) }

        @Model final class Person {
            var name: String
            var street: String
            var city: String?
            var age: Int
            @Relationship(originalName: "team") var teams: [Team] = []
            @Relationship(inverse: \Team.lead) var leading: [Team] = []
            init(_ name: String) {
                self.name = name
                street = ""
                age = 0
            }
        }
        @Model final class Team {
            var name: String
            @Relationship(inverse: \Person.teams) var members: [Person] = []
            var lead: Person?
            init(_ name: String) { self.name = name }
        }
    }

    enum Plan: SchemaMigrationPlan {
        static var schemas: [any VersionedSchema.Type] { [One.self, Two.self] }
        static var stages: [MigrationStage] {
            [
                .custom(
                    from: One.self, to: Two.self,
                    mapping: .inferred.fresh("Team.lead")
                        .filling("Person.street") { person in
                            .string(try person.value(Address.self, of: "address")?.street ?? "unknown")
                        }
                        .filling("Person.city") { person in
                            try person.value(Address.self, of: "address")?.city.map { .string($0) } ?? .null
                        }
                        .converting(
                            "Person.age",
                            .value { person in
                                let text = try person.value(String.self, of: "age") ?? ""
                                return .integer(Int64(text.filter(\.isNumber)) ?? 0)
                            })
                ) { old, new in
                    for team in try old.fetch(One.Team.self) {
                        guard let first = team.leads.min(by: { $0.name < $1.name }) else { continue }
                        try new.model(Two.Team.self, for: team.persistentModelID)?.lead =
                            new.model(Two.Person.self, for: first.persistentModelID)
                    }
                }
            ]
        }
    }

    @Test(arguments: ShapeWorld.kinds) func propertiesTakeAnotherForm(_ kind: String) throws {
        let world = try ShapeWorld(kind)
        let (north, south) = (One.Team("north"), One.Team("south"))
        let people = [
            One.Person("Ada", Address(street: "Fore St", city: "Bath"), age: "36 years", team: north),
            One.Person("Bob", Address(street: "Quay", city: nil), age: "8", team: north),
            One.Person("Cleo", nil, age: "old", team: nil),
        ]
        north.leads = [people[1], people[0]]
        south.leads = [people[2]]
        try world.fill(One.self, [north, south] + people)
        try world.migrated(to: Two.self, Plan.self) { context in
            let people = try context.fetch(FetchDescriptor<Two.Person>(sortBy: [SortDescriptor(\.name)]))
            #expect(
                people.map { "\($0.street)|\($0.city ?? "-")|\($0.age)" } == [
                    "Fore St|Bath|36", "Quay|-|8", "unknown|-|0",
                ])
            #expect(people.map { $0.teams.map(\.name) } == [["north"], ["north"], []])
            #expect(people.map { $0.leading.map(\.name) } == [["north"], [], ["south"]])
            let teams = try context.fetch(FetchDescriptor<Two.Team>(sortBy: [SortDescriptor(\.name)]))
            #expect(teams.map { $0.members.map(\.name).sorted() } == [["Ada", "Bob"], []])
            #expect(teams.map { $0.lead?.name } == ["Ada", "Cleo"])
        }
    }
}
