import Foundation
import MortiseCore

// A record's version grows with every change of the record, whatever was changed and to what.

extension ConformanceCase {
    /// A change that another connection makes to one record.
    private struct Change {
        let name: String
        /// Makes the change, and returns the model whose record it changes.
        let make: (CaseSession) throws -> any PersistentModel

        init(_ name: String, _ make: @escaping (CaseSession) throws -> any PersistentModel) {
            self.name = name
            self.make = make
        }
    }

    /// A case in which another connection changes records, one after the other, and saves on top of each are refused.
    private static func growing(
        _ id: String, _ requirement: String, hint: String, fill: @escaping @Sendable (CaseSession) -> Void,
        changes: @escaping @Sendable () -> [Change]
    ) -> ConformanceCase {
        ConformanceCase(
            "record-versions.\(id)", level: .full, capability: .recordVersions, requirement: requirement, hint: hint
        ) { c in
            let a = try c.session()
            fill(a)
            try a.save()
            let other = try c.otherConnection()
            for change in changes() {
                let model = try change.make(other)
                other.change(change.name) {}
                let read = try version(of: model, c)
                try other.save()
                let now = try version(of: model, c)
                try c.expect(
                    now != read,
                    "another version of \(model.persistentModelID) after this change alone: \(change.name)",
                    found: "\(now) again")
                let superseded = "RecordsSuperseded that names \(model.persistentModelID), after \(change.name)"
                func names(_ error: any Error) -> Bool {
                    (error as? RecordsSuperseded)?.identifiers.contains(model.persistentModelID) == true
                }
                try c.expectError(superseded, matching: names) {
                    try c.store.save(updated: [model], updatedVersions: [read])
                }
                try c.expectError(superseded, matching: names) {
                    try c.store.save(deleted: [model], deletedVersions: [read])
                }
            }
        }
    }

    private static func version<M: PersistentModel>(of model: M, _ c: CaseContext) throws -> UInt64 {
        let told = try c.store.recordVersions(M.self).first { $0.record == model.persistentModelID }
        return try c.require(told?.version, "\(model.persistentModelID)")
    }

    private static func ada(_ session: CaseSession) throws -> Person {
        try session.first(Person.self, #Predicate { $0.name == "Ada" })
    }

    @Sendable private static func fillPeople(_ session: CaseSession) {
        let (ada, ben) = (Person("Ada", age: 30), Person("Ben", age: 31))
        session.insert(ada, ben, Team("red"), Team("blue"), Badge(1), Badge(2))
        let projects = ["one", "two", "three"].map { Project($0) }
        for project in projects { session.insert(project) }
        ada.projects = [projects[0]]
    }

    static let recordVersionKindCases: [ConformanceCase] = [
        growing(
            "of-lists-alone", "The version of a record is another after a save that changes nothing but its lists.",
            hint:
                "Lists are kept elsewhere, and the row with the version is only written if one of its columns changes.",
            fill: { session in
                fillPeople(session)
                let (anna, book) = (Writer("Anna"), Book("book"))
                session.insert(anna, book)
            }
        ) {
            [
                Change("append to projects") { session in
                    let ada = try ada(session)
                    ada.projects.append(try session.first(Project.self, #Predicate { $0.title == "two" }))
                    return ada
                },
                Change("append Ada to the people of a project") { session in
                    let project = try session.first(Project.self, #Predicate { $0.title == "three" })
                    let ada = try ada(session)
                    project.people.append(ada)
                    return ada
                },
                Change("exchange a member of projects for another") { session in
                    let ada = try ada(session)
                    let ben = try session.first(Person.self, #Predicate { $0.name == "Ben" })
                    ben.projects = ada.projects.filter { $0.title == "one" }
                    return ben
                },
                Change("remove one of projects") { session in
                    let ada = try ada(session)
                    ada.projects.removeAll { $0.title == "two" }
                    return ada
                },
                Change("empty projects") { session in
                    let ada = try ada(session)
                    ada.projects = []
                    return ada
                },
                Change("fill projects again") { session in
                    let ada = try ada(session)
                    ada.projects = try session.all(Project.self)
                    return ada
                },
                Change("a reader of a book") { session in
                    let book = try session.only(Book.self)
                    book.readers.append(try session.only(Writer.self))
                    return book
                },
            ]
        },
        growing(
            "of-a-to-one-alone",
            "The version of a record is another after a save that changes nothing but a to-one relationship.",
            hint: "Only attributes count as changes, or a reference is written by a statement of its own.",
            fill: fillPeople
        ) {
            [
                Change("set team") { session in
                    let ada = try ada(session)
                    ada.team = try session.first(Team.self, #Predicate { $0.name == "red" })
                    return ada
                },
                Change("set team to another") { session in
                    let ada = try ada(session)
                    ada.team = try session.first(Team.self, #Predicate { $0.name == "blue" })
                    return ada
                },
                Change("append Ada to the members of a team") { session in
                    let ada = try ada(session)
                    try session.first(Team.self, #Predicate { $0.name == "red" }).members.append(ada)
                    return ada
                },
                Change("set team to nil") { session in
                    let ada = try ada(session)
                    ada.team = nil
                    return ada
                },
                Change("set badge, which has no inverse") { session in
                    let ada = try ada(session)
                    ada.badge = try session.first(Badge.self, #Predicate { $0.number == 1 })
                    return ada
                },
                Change("set badge to nil") { session in
                    let ada = try ada(session)
                    ada.badge = nil
                    return ada
                },
                Change("set mentor to the person itself") { session in
                    let ada = try ada(session)
                    ada.mentor = ada
                    return ada
                },
                Change("set mentor to another") { session in
                    let ben = try session.first(Person.self, #Predicate { $0.name == "Ben" })
                    ben.mentor = try ada(session)
                    return ben
                },
                Change("delete the mentor") { session in
                    session.delete(try ada(session))
                    return try session.first(Person.self, #Predicate { $0.name == "Ben" })
                },
            ]
        },
        growing(
            "of-nil-alone", "The version of a record is another after a save that changes nothing but a value to nil.",
            hint: "Values that are null are left out of the statement, or take another one.",
            fill: { session in
                let sample = OptionalSample(label: "x")
                for change in optionalChanges(isNil: false) { change.1(sample) }
                session.insert(sample)
            }
        ) {
            optionalChanges(isNil: true).map { name, change in
                Change("set \(name) to nil") { session in
                    let sample = try session.only(OptionalSample.self)
                    change(sample)
                    return sample
                }
            }
        },
        growing(
            "of-each-kind-of-value",
            "The version of a record is another after a save that changes a value of any kind, and nothing else.",
            hint:
                "Values of some kinds are kept elsewhere, such as data and coded values, and have no part in the version.",
            fill: { session in session.insert(OptionalSample(label: "x"), ValueSample()) }
        ) {
            optionalChanges(isNil: false).map { name, change in
                Change("set \(name)") { session in
                    let sample = try session.only(OptionalSample.self)
                    change(sample)
                    return sample
                }
            }
                + [
                    Change("set flag to true") { session in
                        let sample = try session.only(ValueSample.self)
                        sample.flag = true
                        return sample
                    },
                    Change("set flag to false") { session in
                        let sample = try session.only(ValueSample.self)
                        sample.flag = false
                        return sample
                    },
                    Change("set text from one to an empty one") { session in
                        let sample = try session.only(OptionalSample.self)
                        sample.text = ""
                        return sample
                    },
                ]
        },
        growing(
            "of-a-subclass-alone",
            "The version of a record is another after a save that changes properties of its subclass or of a superclass.",
            hint: "Each class has a table of its own, and the version is in one of them.",
            fill: { session in
                let puppy = Puppy("Rex", weeks: 3)
                session.insert(puppy, Dog("Fly", age: 4))
            }
        ) {
            func puppy(_ name: String, _ change: @escaping (Puppy) -> Void) -> Change {
                Change(name) { session in
                    let puppy = try session.only(Puppy.self)
                    change(puppy)
                    return puppy
                }
            }
            return [
                puppy("weeks, of its own class") { $0.weeks = 4 },
                puppy("age, of the class above") { $0.age = 1 },
                puppy("name, of the first class") { $0.name = "Max" },
                puppy("weeks again") { $0.weeks = 5 },
                Change("mother, a reference of the last class") { session in
                    let puppy = try session.only(Puppy.self)
                    puppy.mother = try session.first(Dog.self, #Predicate { $0.name == "Fly" })
                    return puppy
                },
            ]
        },
    ]

    /// A value of every kind, or nil in its place.
    private static func optionalChanges(isNil: Bool) -> [(String, (OptionalSample) -> Void)] {
        [
            ("flag", { $0.flag = isNil ? nil : false }), ("whole", { $0.whole = isNil ? nil : 0 }),
            ("wide", { $0.wide = isNil ? nil : .max }), ("single", { $0.single = isNil ? nil : 1.5 }),
            ("real", { $0.real = isNil ? nil : 0.1 }), ("amount", { $0.amount = isNil ? nil : 12 }),
            ("text", { $0.text = isNil ? nil : "text" }), ("bytes", { $0.bytes = isNil ? nil : Data([1, 2, 3]) }),
            ("moment", { $0.moment = isNil ? nil : Date(timeIntervalSinceReferenceDate: 1) }),
            ("token", { $0.token = isNil ? nil : UUID() }),
            ("link", { $0.link = isNil ? nil : URL(fileURLWithPath: "/x") }),
            ("tint", { $0.tint = isNil ? nil : .green }), ("priority", { $0.priority = isNil ? nil : .high }),
            ("place", { $0.place = isNil ? nil : Place(name: "p", latitude: 1) }),
            ("words", { $0.words = isNil ? nil : ["a"] }), ("scores", { $0.scores = isNil ? nil : ["a": 1] }),
        ]
    }
}
