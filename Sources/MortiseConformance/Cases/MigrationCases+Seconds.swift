import Foundation
import MortiseCore

/// Second looks at migrations: what code makes of constraints and references, what else may use the storage meanwhile, and what a
/// failure leaves for the next try.
extension ConformanceCase {
    private static func migratable(_ c: CaseContext) throws -> any MigratableConfiguration {
        guard let configuration = try c.configuration() as? any MigratableConfiguration else {
            throw c.failure(expected: "a configuration that can be migrated", found: "another")
        }
        return configuration
    }

    private static var toSecond: MigrationRequest {
        MigrationRequest(schemas: [
            Schema(versionedSchema: Fleet.Version1.self), Schema(versionedSchema: Fleet.Version2.self),
        ])
    }

    static let migrationSecondCases: [ConformanceCase] = [
        migration(
            "deletions-and-insertions",
            "References to a record that code deletes lead to nothing, and not to one that it inserts; the others stay.",
            hint:
                "delete(_:) leaves the references, which then lead to what has come in its place, or to nothing that can be read."
        ) { c, world in
            try world.open(
                Fleet.Version3.self, Fleet.ToThird.self,
                { script in
                    script.migrate = { old, new in
                        for record in try old.records("Harbour") where record["name"] == .string("Aden") {
                            try new.delete(record.id)
                        }
                        try new.insert("Harbour", ["name": .string("Delft"), "depth": .string("3")])
                    }
                    script.validate = { _, new in
                        let ships = try new.records("Ship")
                        try c.expect(
                            ships.filter { $0["harbour"]?.isNull == false }.count, is: 0,
                            "ships with a reference to a harbour that is gone:")
                    }
                },
                { context in
                    let harbours = try context.fetch(FetchDescriptor<Fleet.Version3.Harbour>())
                    try c.expect(harbours.map(\.name), is: ["Cork", "Delft"], "the harbours that are left:")
                    try c.expect(harbours.map(\.ships.count), is: [0, 0], "how many ships are in them:")
                    let free = FetchDescriptor<Fleet.Version3.Ship>(predicate: #Predicate { $0.harbour == nil })
                    try c.expect(try context.fetchCount(free), is: 4, "ships without a harbour:")
                })
        },
        migration(
            "duplicates-of-code",
            "Equal values that code before the stage has made are refused; where it has parted them, none are.",
            hint: "The constraints of the next version are checked on the records before code has run, or not at all."
        ) { c, world in
            func mails(_ mails: [String: String?], _ script: inout Fleet.Script) {
                script.duplicates = []
                script.before = { context in
                    for harbour in try context.fetch(FetchDescriptor<Fleet.Version1.Harbour>()) {
                        if let mail = mails[harbour.name] { harbour.mail = mail }
                    }
                    try context.save()
                }
            }
            try world.expectRefusal(Fleet.Version3.self, Fleet.ToThird.self, "an error: two harbours have one address")
            {
                mails(["Brest": "c@h", "Cork": "c@h"], &$0)
            }
            try world.expectVersion1()
            try world.open(Fleet.Version3.self, Fleet.ToThird.self, { mails(["Brest": "b@h"], &$0) }) { context in
                try c.expect(
                    try context.fetch(FetchDescriptor<Fleet.Version3.Harbour>()).map { $0.mail ?? "-" },
                    is: ["x@h", "b@h", "-"], "addresses, of which each is another:")
            }
        },
        migration(
            "emptied-by-code",
            "Where code deletes every record, their numbers are not given again after the migration.",
            hint: "The number of the next record is taken from the last record, which is gone."
        ) { c, world in
            let preview = try migratable(c).previewMigration(
                MigrationRequest(schemas: [Schema(versionedSchema: Fleet.Version1.self)]))
            let keeps = preview.keepsIdentifiers
            preview.abandon()
            try world.open(
                Fleet.Version2.self, Fleet.ToSecond.self,
                { script in
                    script.before = { context in
                        try context.delete(model: Fleet.Version1.Ship.self)
                        try context.delete(model: Fleet.Version1.Harbour.self)
                        try context.save()
                    }
                },
                { context in
                    try c.expect(try context.fetchCount(FetchDescriptor<Fleet.Version2.Ship>()), is: 0, "ships:")
                    let new = [Fleet.Version2.Ship("Dawn", in: nil), Fleet.Version2.Ship("Dusk", in: nil)]
                    for ship in new { context.insert(ship) }
                    try context.save()
                    let used = new.map(\.persistentModelID).filter(world.records.values.contains)
                    try c.expect(!keeps || used.isEmpty, "identifiers that no record has had", found: "\(used)")
                })
            try world.open(Fleet.Version2.self, nil) { context in
                try c.expect(
                    try context.fetch(FetchDescriptor<Fleet.Version2.Ship>()).map(\.name), is: ["Dawn", "Dusk"],
                    "the ships:")
            }
        },
        migration(
            "versions-in-turn",
            "Each version that a storage comes to is noted: a stage that has run is not run again later.",
            hint: "The records are of the next version, and the number of the version is that before."
        ) { c, world in
            try world.open(Fleet.Version2.self, Fleet.ToSecond.self, { $0.before = FleetWorld.mark }) {
                try world.expectVersion2($0, marking: "!")
            }
            try c.expect(
                try migratable(c).storedSchema()?.version.description, is: "2.0.0", "the version after the first plan:")
            try world.expectRefusal(Fleet.Version1.self, nil, "an error: the storage is newer")
            for _ in 0..<2 {
                try world.open(Fleet.Version3.self, Fleet.ToThird.self, { $0.before = FleetWorld.mark }) { context in
                    try c.expect(
                        try context.fetch(FetchDescriptor<Fleet.Version3.Harbour>()).map(\.name),
                        is: ["Aden!", "Cork!"],
                        "harbours, marked once by the first stage:")
                }
                try c.expect(
                    try migratable(c).storedSchema()?.version.description, is: "3.0.0",
                    "the version after the second plan:")
            }
            try world.expectRefusal(Fleet.Version2.self, Fleet.ToSecond.self, "an error: the storage is newer")
        },
        migration(
            "one-at-a-time",
            "A migration is not begun while the storage is open or being migrated, nor is the storage opened; afterwards each can be.",
            hint: "beginMigration() looks for nobody, or keeps nobody away."
        ) { c, world in
            let (first, second) = (
                Schema(versionedSchema: Fleet.Version1.self), Schema(versionedSchema: Fleet.Version2.self)
            )
            let configuration = try migratable(c)
            let container = try c.open(for: first)
            c.note("begin a migration while the storage is open")
            try c.expectError("an error: the storage is open") {
                try configuration.beginMigration(toSecond).abandon()
            }
            try container.close()
            for round in 1...2 {
                c.note("begin a migration, open the storage, and begin another one")
                let migration = try configuration.beginMigration(toSecond)
                defer { migration.abandon() }
                try c.expectError("an error: the storage is being migrated") { try c.open(for: first).close() }
                try c.expectError("an error: the storage is being migrated") {
                    try configuration.beginMigration(toSecond).abandon()
                }
                try migration.adapt(to: second.stored)
                try c.expectError("an error: the storage is being migrated, round \(round)") {
                    try c.open(for: second).close()
                }
                migration.abandon()
                try world.expectVersion1()
            }
            try world.open(Fleet.Version2.self, Fleet.ToSecond.self) { try world.expectVersion2($0) }
        },
        migration(
            "prepared-and-lost",
            "What is prepared is written before the switch, and the end of the process between both leaves the version before.",
            hint: "prepare(keepingCopy:atMost:) replaces the records, or leaves all writing to commit().",
            and: [.faultInjection]
        ) { c, world in
            let second = Schema(versionedSchema: Fleet.Version2.self)
            for commits in [false, true] {
                let migration = try migratable(c).beginMigration(toSecond)
                defer { migration.abandon() }
                try migration.adapt(to: second.stored)
                let before = try c.faults.operationCount()
                c.note("prepare a migration")
                try migration.prepare(keepingCopy: false, atMost: nil)
                let after = try c.faults.operationCount()
                try c.expect(after > before, "operations of the storage by prepare(keepingCopy:atMost:)", found: "none")
                if commits {
                    c.note("commit")
                    try migration.commit()
                } else {
                    migration.abandon()
                }
                if c.subject.capabilities.contains(.durability) { try c.loseWhatIsNotStored() }
                if !commits { try world.expectVersion1() }
            }
            try world.open(Fleet.Version2.self, nil) { try world.expectVersion2($0) }
        },
        migration(
            "failed-and-tried-again",
            "After a migration whichever operation of which has failed, the next try comes to the next version with everything.",
            hint: "Half of the next version is taken for all of it, or a failed write for one that was done.",
            and: [.faultInjection]
        ) { c, world in
            try world.expectVersion1()
            for operation in 1...400 {
                let storage = try c.subject.storage()
                let one = CaseContext(case: c.conformanceCase, subject: c.subject, storage: storage)
                defer { try? one.finish() }
                let world = try FleetWorld(one)
                func migrate() throws {
                    try world.open(Fleet.Version2.self, Fleet.ToSecond.self, { $0.before = FleetWorld.mark }) { _ in }
                }
                try one.faults.failOperation(operation)
                let isAcknowledged = (try? migrate()) != nil
                try one.faults.failOperation(nil)
                if one.subject.capabilities.contains(.durability) { try one.loseWhatIsNotStored() }
                c.note("operation \(operation) fails: \(isAcknowledged ? "no error" : "an error, and try again")")
                if !isAcknowledged { try migrate() }
                if one.subject.capabilities.contains(.durability) { try one.loseWhatIsNotStored() }
                try world.open(Fleet.Version2.self, nil) { try world.expectVersion2($0, marking: "!") }
                if isAcknowledged { return }
            }
            throw c.failure(
                expected: "a migration that succeeds once none of its operations fails",
                found: "an error however late the failing operation was")
        },
    ]
}
