import Foundation
import MortiseCore

/// To-one with and without inverse, many-to-many, and a self-reference.
final class Person: PersistentModel {
    var persistentBackingData: any BackingData<Person> = Person.createBackingData()
    static var schemaMetadata: [Schema.PropertyMetadata] {
        [
            .init(name: "name", keypath: \Person.name),
            .init(name: "age", keypath: \Person.age),
            .init(name: "team", keypath: \Person.team),
            .init(name: "projects", keypath: \Person.projects, metadata: Schema.Relationship(inverse: \Project.people)),
            .init(name: "mentor", keypath: \Person.mentor, metadata: Schema.Relationship(inverse: \Person.pupils)),
            .init(name: "pupils", keypath: \Person.pupils),
            .init(name: "badge", keypath: \Person.badge),
        ]
    }
    init(backingData: any BackingData<Person>) { persistentBackingData = backingData }
    init(_ name: String, age: Int? = nil, team: Team? = nil) {
        self.name = name
        self.age = age
        self.team = team
    }

    var name: String {
        get { getValue(forKey: \.name) }
        set { setValue(forKey: \.name, to: newValue) }
    }
    var age: Int? {
        get { getValue(forKey: \.age) }
        set { setValue(forKey: \.age, to: newValue) }
    }
    var team: Team? {
        get { getValue(forKey: \.team) }
        set { setValue(forKey: \.team, to: newValue) }
    }
    var projects: [Project] {
        get { getValue(forKey: \.projects) }
        set { setValue(forKey: \.projects, to: newValue) }
    }
    var mentor: Person? {
        get { getValue(forKey: \.mentor) }
        set { setValue(forKey: \.mentor, to: newValue) }
    }
    var pupils: [Person] {
        get { getValue(forKey: \.pupils) }
        set { setValue(forKey: \.pupils, to: newValue) }
    }
    var badge: Badge? {
        get { getValue(forKey: \.badge) }
        set { setValue(forKey: \.badge, to: newValue) }
    }
}

/// The to-many side of a relationship that is cleared on deletion.
final class Team: PersistentModel {
    var persistentBackingData: any BackingData<Team> = Team.createBackingData()
    static var schemaMetadata: [Schema.PropertyMetadata] {
        [
            .init(name: "name", keypath: \Team.name),
            .init(
                name: "members", keypath: \Team.members,
                metadata: Schema.Relationship(deleteRule: .nullify, inverse: \Person.team)),
        ]
    }
    init(backingData: any BackingData<Team>) { persistentBackingData = backingData }
    init(_ name: String) { self.name = name }

    var name: String {
        get { getValue(forKey: \.name) }
        set { setValue(forKey: \.name, to: newValue) }
    }
    var members: [Person] {
        get { getValue(forKey: \.members) }
        set { setValue(forKey: \.members, to: newValue) }
    }
}

/// One side of a many-to-many relationship.
final class Project: PersistentModel {
    var persistentBackingData: any BackingData<Project> = Project.createBackingData()
    static var schemaMetadata: [Schema.PropertyMetadata] {
        [
            .init(name: "title", keypath: \Project.title),
            .init(name: "people", keypath: \Project.people),
        ]
    }
    init(backingData: any BackingData<Project>) { persistentBackingData = backingData }
    init(_ title: String) { self.title = title }

    var title: String {
        get { getValue(forKey: \.title) }
        set { setValue(forKey: \.title, to: newValue) }
    }
    var people: [Person] {
        get { getValue(forKey: \.people) }
        set { setValue(forKey: \.people, to: newValue) }
    }
}

/// Referred to by a relationship without inverse.
final class Badge: PersistentModel {
    var persistentBackingData: any BackingData<Badge> = Badge.createBackingData()
    static var schemaMetadata: [Schema.PropertyMetadata] {
        [
            .init(name: "number", keypath: \Badge.number)
        ]
    }
    init(backingData: any BackingData<Badge>) { persistentBackingData = backingData }
    init(_ number: Int) { self.number = number }

    var number: Int {
        get { getValue(forKey: \.number) }
        set { setValue(forKey: \.number, to: newValue) }
    }
}
