import Foundation
import MortiseCore

/// Second looks at what a store promises: whose records it names, what it writes, erases, compares and tells.
extension ConformanceCase {
    static let contractSecondCases: [ConformanceCase] = [
        ConformanceCase(
            "identity.of-related-records", level: .core,
            requirement:
                "Records and what they refer to are named by identifiers of this store, also by what it hands out itself.",
            hint: "Identifiers are made for another store, or for the first entity of a save."
        ) { c in
            let (red, ada) = (Team("red"), Person("Ada"))
            let a = try c.session()
            a.insert(red, ada)
            ada.team = red
            try a.save()
            let store = try c.store
            let identifier = store.identifier
            func check(_ moment: String) throws {
                let b = try c.session()
                let people = try b.all(Person.self)
                let found = people.map(\.persistentModelID) + people.compactMap { $0.team?.persistentModelID }
                try c.expect(found.map(\.entityName), is: ["Person", "Team"], "entities \(moment):")
                try c.expect(
                    found.map(\.storeIdentifier), is: [identifier, identifier], "stores of the identifiers \(moment):")
                try c.expect(
                    try store.quietly().identifiers(Team.self).map(\.storeIdentifier), is: [identifier],
                    "the store of what the store itself hands out \(moment):")
            }
            try check("after an insertion")
            a.change("Ada's age") { ada.age = 30 }
            try a.save()
            try check("after an update")
        },
        ConformanceCase(
            "store.writes-one-reference", level: .core,
            requirement: "A save that names one relationship writes that, and leaves values and lists as they are.",
            hint: "changedSlots is not looked at, and null is written for what the context has not read."
        ) { c in
            let a = try c.session()
            let (red, blue, project) = (Team("red"), Team("blue"), Project("one"))
            let ada = Person("Ada", age: 7, team: red)
            a.insert(red, blue, project, ada)
            ada.projects = [project]
            try a.save()
            ada.team = blue
            guard try c.store.save(["team"], of: ada) else { return }
            let found = try c.session().only(Person.self)
            try c.expect(found.team?.name, is: "blue", "the team that was saved:")
            try c.expect(found.name, is: "Ada", "the name beside it:")
            try c.expect(found.age, is: 7, "the age beside it:")
            try c.expect(found.projects.map(\.title), is: ["one"], "the projects beside it:")
        },
        ConformanceCase(
            "erase.of-what-was-erased", level: .core, capability: .erase,
            requirement: "What was erased can be erased again, and numbers go on from before the first erasure.",
            hint: "There is nothing to remove, which is an error; or the counter is erased too."
        ) { c in
            let old = (Entry("old"), Team("old"), Truck("old", load: 1))
            try c.session().store(old.0, old.1, old.2)
            let before = Set([old.0.persistentModelID, old.1.persistentModelID, old.2.persistentModelID])
            c.note("erase, three times")
            for _ in 0..<3 { try c.container.erase() }
            try c.expect(try c.session().count(FetchDescriptor<Vehicle>()), is: 0, "vehicles:")
            let new = (Entry("new"), Team("new"), Truck("new", load: 2))
            try c.session().store(new.0, new.1, new.2)
            let after = Set([new.0.persistentModelID, new.1.persistentModelID, new.2.persistentModelID])
            try c.expect(before.isDisjoint(with: after), "identifiers other than those from before", found: "\(after)")
            try c.expect(try c.session().count(FetchDescriptor<Vehicle>()), is: 1, "vehicles after another save:")
        },
        ConformanceCase(
            "record-versions.of-a-mixed-save", level: .full, capability: .recordVersions,
            requirement:
                "Of a save that updates and deletes, every record that others have changed is named, those to be deleted too; "
                + "without versions the same save is taken.",
            hint: "Versions are compared for updates alone, or up to the first that differs; or 0 is compared too."
        ) { c in
            let a = try c.session()
            let entries = (0..<4).map { Entry("\($0)", rank: 1) }
            for entry in entries { a.insert(entry) }
            try a.save()
            let read = try c.store.recordVersions(Entry.self)
            func version(_ entry: Entry) -> UInt64 { read.first { $0.record == entry.persistentModelID }?.version ?? 0 }
            let other = try c.otherConnection()
            for entry in try other.all(Entry.self) where entry.name != "0" { entry.rank = 2 }
            try other.save()
            let wanted = Set(entries.dropFirst().map(\.persistentModelID))
            let now = try c.store.recordVersions(Entry.self)
            try c.expect(
                now.first { $0.record == entries[0].persistentModelID }?.version, is: version(entries[0]),
                "version of the record that nobody changed:")
            for entry in entries { entry.rank = 7 }
            let (updated, deleted) = (Array(entries.prefix(2)), Array(entries.suffix(2)))
            try c.expectError(
                "RecordsSuperseded that names entries 1, 2 and 3, and not 0",
                matching: { ($0 as? RecordsSuperseded).map { Set($0.identifiers) == wanted } ?? false }
            ) {
                try c.store.save(
                    updated: updated, deleted: deleted, updatedVersions: updated.map(version),
                    deletedVersions: deleted.map(version))
            }
            try c.expect(
                try c.session().all(Entry.self).map(\.rank), is: [1, 2, 2, 2], "ranks after the save that was refused:")
            try c.store.save(updated: updated, deleted: deleted, updatedVersions: [0, 0], deletedVersions: [0, 0])
            try c.expect(try c.session().all(Entry.self).map(\.rank), is: [7, 7], "ranks after one of any version:")
        },
        ConformanceCase(
            "record-versions.of-every-level", level: .full, capability: .recordVersions,
            requirement: "A record of the last of three classes has another version after a change at each level.",
            hint: "The version stands in the table of one class, and grows where that is written."
        ) { c in
            let a = try c.session()
            let (puppy, cat) = (Puppy("p", age: 1, weeks: 3), Animal("c"))
            a.insert(puppy, cat)
            try a.save()
            func versions() throws -> [UInt64] { try c.store.recordVersions(Animal.self).map(\.version) }
            var before = try versions()
            let changes: [(String, () -> Void)] = [
                ("legs", { puppy.legs = 3 }), ("age", { puppy.age = 2 }), ("weeks", { puppy.weeks = 4 }),
            ]
            for (name, change) in changes {
                a.change("the puppy's \(name)", change)
                try a.save()
                let after = try versions()
                try c.expect(
                    after.count == 2 && after[0] != before[0], "another version of the puppy after its \(name)",
                    found: "\(after), before \(before)")
                try c.expect(after.last, is: before.last, "version of the other animal:")
                before = after
            }
        },
        SizeSecond.values,
        SizeSecond.members,
    ]
}

private enum SizeSecond {
    static let values = ConformanceCase(
        "sizes.large-values-by-updates", level: .full,
        requirement: "Long text and data and coded values of many parts replace short ones, all in one record.",
        hint: "A value has a greatest length, and what is beyond it is left out of an update.", isLarge: true
    ) { c in
        let part = "é日\u{1F600}e\u{301}|"
        let text = String(repeating: part, count: 1_300_000 / part.utf8.count) + "end"
        let block = Data((0..<4_093).map { UInt8(truncatingIfNeeded: $0 &* 31) })
        var bytes = Data(capacity: 1_400_000)
        while bytes.count < 1_300_000 { bytes.append(block) }
        let words = (0..<4_200).map { "w\($0)" }
        let scores = Dictionary(uniqueKeysWithValues: (0..<1_100).map { ("k\($0)", $0) })
        let a = try c.session()
        let sample = ValueSample()
        try a.store(sample)
        a.change("give the sample 4,200 words, 1,100 scores") { (sample.words, sample.scores) = (words, scores) }
        try a.save()
        a.change("give it 1.3 MB of text and of data") { (sample.text, sample.bytes) = (text, bytes) }
        try a.save()
        if c.subject.capabilities.contains(.reopening) { try c.reopen() }
        let found = try c.session().only(ValueSample.self)
        try c.expect(found.words == words, "4,200 words", found: "\(found.words.count), or others")
        try c.expect(found.scores == scores, "1,100 scores", found: "\(found.scores.count), or others")
        // By bytes: equality of texts would compare by their meaning.
        try c.expect(
            Data(found.text.utf8) == Data(text.utf8), "\(text.utf8.count) bytes of text",
            found: "\(found.text.utf8.count), or others")
        try c.expect(found.bytes == bytes, "\(bytes.count) bytes of data", found: "\(found.bytes.count), or others")
    }

    static let members = ConformanceCase(
        "sizes.members-by-another-save", level: .full,
        requirement: "1,500 records that come to one by a later save are its members, each once.",
        hint: "A list has a greatest length.", isLarge: true
    ) { c in
        let a = try c.session()
        let team = Team("red")
        let people = (0..<1_500).map { Person("\($0)") }
        a.change("insert a team and 1,500 people") {
            a.context.insert(team)
            for person in people { a.context.insert(person) }
        }
        try a.save()
        a.change("put all of them into the team") { for person in people { person.team = team } }
        try a.save()
        let b = try c.session()
        try c.expect(try b.only(Team.self).members.count, is: 1_500, "members:")
        let red = FetchDescriptor<Person>(predicate: #Predicate { $0.team?.name == "red" })
        try c.expect(try b.count(red), is: 1_500, "people of the team:")
    }
}
