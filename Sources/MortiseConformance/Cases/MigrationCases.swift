import Foundation
import MortiseCore

/// A storage with a fleet, which a program of another version opens.
struct FleetWorld {
    let c: CaseContext
    /// By name, the records as they were made.
    let records: [String: PersistentIdentifier]

    /// Three harbours and four ships, in turns and each saved by itself; two more ships are gone, one of them the last record.
    init(_ c: CaseContext) throws {
        self.c = c
        let container = try c.open(for: Schema(versionedSchema: Fleet.Version1.self))
        let context = ModelContext(container)
        var records: [String: PersistentIdentifier] = [:]
        func save(_ name: String, _ model: some PersistentModel) throws {
            context.insert(model)
            try context.save()
            records[name] = model.persistentModelID
        }
        let aden = Fleet.Version1.Harbour("Aden", mail: "x@h", depth: 12, remark: "deep")
        let brest = Fleet.Version1.Harbour("Brest", mail: "x@h", depth: 7, remark: nil)
        try save("Drifter", Fleet.Version1.Ship("Drifter", in: nil))
        try save("Aden", aden)
        try save("Argo", Fleet.Version1.Ship("Argo", in: aden))
        let gone = Fleet.Version1.Ship("Gone", in: aden)
        try save("Gone", gone)
        try save("Brest", brest)
        try save("Bounty", Fleet.Version1.Ship("Bounty", in: brest))
        try save("Calypso", Fleet.Version1.Ship("Calypso", in: aden))
        try save("Cork", Fleet.Version1.Harbour("Cork", mail: nil, depth: 9, remark: "old"))
        let last = Fleet.Version1.Ship("Last", in: nil)
        try save("Last", last)
        context.delete(gone)
        context.delete(last)
        try context.save()
        c.note("insert 3 harbours and 6 ships in turns, delete the third ship and the last, save, close")
        try container.close()
        self.records = records
    }

    /// Opens the storage for a version of the models; with a plan whose stages do what the script says.
    func open(
        _ version: any VersionedSchema.Type, _ plan: (any SchemaMigrationPlan.Type)?,
        _ script: (inout Fleet.Script) -> Void = { _ in }, _ body: (ModelContext) throws -> Void
    ) throws {
        var made = Fleet.Script()
        // Whether identifiers stay is the subject of a case of its own.
        made.options.identifiers = .mayChange
        script(&made)
        try Fleet.Script.$current.withValue(made) {
            try c.under(
                Schema(versionedSchema: version), plan: plan, "use it for version \(version.versionIdentifier)", body)
        }
    }

    /// Opens it for a version, which has to throw an error with that text.
    func expectRefusal(
        _ version: any VersionedSchema.Type, _ plan: (any SchemaMigrationPlan.Type)?, _ what: String,
        saying text: String = "", _ script: (inout Fleet.Script) -> Void = { _ in }
    ) throws {
        try c.expectError(what, matching: { text.isEmpty || "\($0)".contains(text) }) {
            try open(version, plan, script) { _ in }
        }
    }

    // MARK: What is there

    func expectVersion1() throws {
        try open(Fleet.Version1.self, nil) { context in
            let harbours = try context.fetch(FetchDescriptor<Fleet.Version1.Harbour>())
            try c.expect(
                harbours.map { "\($0.name) \($0.mail ?? "-") \($0.depth) \($0.remark ?? "-")" },
                is: ["Aden x@h 12 deep", "Brest x@h 7 -", "Cork - 9 old"], "the harbours as they were:",
                hint: "A migration that came to nothing has left something behind.")
            try c.expect(
                harbours.map { $0.ships.map(\.title).sorted() }, is: [["Argo", "Calypso"], ["Bounty"], []],
                "the ships in them:")
            try c.expect(
                try context.fetch(FetchDescriptor<Fleet.Version1.Ship>()).map {
                    "\($0.title) \($0.harbour?.name ?? "-")"
                },
                is: ["Drifter -", "Argo Aden", "Bounty Brest", "Calypso Aden"], "the ships as they were:")
        }
    }

    // `mark` is what code of the stage has added to each name.
    func expectVersion2(_ context: ModelContext, marking mark: String = "") throws {
        let harbours = try context.fetch(FetchDescriptor<Fleet.Version2.Harbour>())
        try c.expect(
            harbours.map { "\($0.name) \($0.mail ?? "-") \($0.depth)" },
            is: ["Aden\(mark) x@h 12", "Brest\(mark) x@h 7", "Cork\(mark) - 9"], "the harbours:")
        try c.expect(
            harbours.map { $0.ships.map(\.name).sorted() }, is: [["Argo", "Calypso"], ["Bounty"], []],
            "the ships in them:")
        let ships = try context.fetch(FetchDescriptor<Fleet.Version2.Ship>())
        try c.expect(
            ships.map { "\($0.name) \($0.flag) \($0.harbour?.name ?? "-")" },
            is: ["Drifter none -", "Argo none Aden\(mark)", "Bounty none Brest\(mark)", "Calypso none Aden\(mark)"],
            "the ships:")
    }

    /// The harbours of Brest's mail address are one.
    func expectVersion3(_ context: ModelContext) throws {
        let harbours = try context.fetch(FetchDescriptor<Fleet.Version3.Harbour>())
        try c.expect(
            harbours.map { "\($0.name) \($0.mail ?? "-") \($0.depth)" }, is: ["Aden x@h 12", "Cork - 9"],
            "one harbour of each mail address, with depths as texts:")
        try c.expect(
            harbours.map { $0.ships.map(\.name).sorted() }, is: [["Argo", "Bounty", "Calypso"], []],
            "the ships in them, those of the harbour that is gone included:")
        try c.expect(
            try context.fetch(FetchDescriptor<Fleet.Version3.Ship>()).map { "\($0.name) \($0.harbour?.name ?? "-")" },
            is: ["Drifter -", "Argo Aden", "Bounty Aden", "Calypso Aden"], "the ships:")
    }

    /// Adds to the names of harbours, which tells how often it has run.
    static func mark(_ context: ModelContext) throws {
        for harbour in try context.fetch(FetchDescriptor<Fleet.Version1.Harbour>()) {
            harbour.name += "!"
            try context.save()
        }
    }
}

extension ConformanceCase {
    static func migration(
        _ id: String, _ requirement: String, hint: String, and others: [StoreCapability] = [],
        _ body: @escaping @Sendable (CaseContext, FleetWorld) throws -> Void
    ) -> ConformanceCase {
        ConformanceCase(
            "migration.\(id)", level: .full, capability: .migration, and: others, requirement: requirement, hint: hint
        ) { c in try body(c, try FleetWorld(c)) }
    }

    /// Stores whose records a container brings to another version of their models.
    static let migrationCases: [ConformanceCase] = [
        migration(
            "without-code",
            "A stage without code gives new properties their default, and keeps values, links and order.",
            hint: "New properties are nil, or values are found by their place in the old layout."
        ) { _, world in
            for _ in 0..<2 { try world.open(Fleet.Version2.self, Fleet.ToSecond.self) { try world.expectVersion2($0) } }
        },
        migration(
            "renamed", "A property that was renamed has its values, and can be found by them.",
            hint: "The original name is left aside: the property is taken for a new one."
        ) { c, world in
            try world.open(Fleet.Version2.self, Fleet.ToSecond.self) { context in
                let found = try context.fetch(
                    FetchDescriptor<Fleet.Version2.Ship>(predicate: #Predicate { $0.name == "Bounty" }))
                try c.expect(found.map { $0.harbour?.name }, is: ["Brest"], "the harbour of the ship of that name:")
            }
        },
        migration(
            "loss-is-counted", "What the next version has no place for is counted, and refused where the plan says so.",
            hint: "adapt(to:converting:) returns a loss that is empty, or counts values that are nil."
        ) { c, world in
            try world.expectRefusal(
                Fleet.Version2.self, Fleet.ToSecond.self, "a MigrationError that names Harbour.remark and 2 values",
                saying: "Harbour.remark (2 values)"
            ) { $0.options.loss = .refused }
            try world.expectVersion1()
            try world.open(Fleet.Version2.self, Fleet.ToSecond.self) { try world.expectVersion2($0) }
        },
        migration(
            "rules", "Values are converted by a rule, and records that a new constraint refuses are settled by one.",
            hint: "What is saved in the working store is not there after the next adapt(to:converting:)."
        ) { _, world in
            for _ in 0..<2 { try world.open(Fleet.Version3.self, Fleet.ToThird.self) { try world.expectVersion3($0) } }
        },
        migration(
            "duplicates", "A new constraint refuses records with equal values, unless a rule settles them.",
            hint: "Constraints of the new schema are not checked by adapt(to:converting:)."
        ) { _, world in
            try world.expectRefusal(Fleet.Version3.self, Fleet.ToThird.self, "an error: two harbours have one address")
            {
                $0.duplicates = []
            }
            try world.expectVersion1()
        },
        migration(
            "code-before", "Code before the stage sees the old models, as often as it saves, and runs once.",
            hint: "The store does not note the version that it has come to, or drops what was saved in between."
        ) { _, world in
            for _ in 0..<2 {
                try world.open(Fleet.Version2.self, Fleet.ToSecond.self, { $0.before = FleetWorld.mark }) {
                    try world.expectVersion2($0, marking: "!")
                }
            }
            try world.open(Fleet.Version2.self, nil) { try world.expectVersion2($0, marking: "!") }
        },
        migration(
            "code-after", "Code after the stage sees the new models, and what it leaves unsaved is saved.",
            hint: "working(under:) shows the records of before."
        ) { _, world in
            let script: (inout Fleet.Script) -> Void = { script in
                script.after = { context in
                    for harbour in try context.fetch(FetchDescriptor<Fleet.Version2.Harbour>()) { harbour.name += "?" }
                }
            }
            for _ in 0..<2 {
                try world.open(Fleet.Version2.self, Fleet.ToSecond.self, script) {
                    try world.expectVersion2($0, marking: "?")
                }
            }
        },
        migration(
            "both-versions",
            "Code sees the records before and after a stage at once; what it changes does not show before.",
            hint: "frozen(under:) shows the working store."
        ) { c, world in
            try world.open(
                Fleet.Version3.self, Fleet.ToThird.self,
                { script in
                    script.migrate = { old, new in
                        for record in try old.records("Harbour") {
                            guard let there = try new.model(Fleet.Version3.Harbour.self, for: record.id) else {
                                continue
                            }
                            there.name =
                                "\(try record.value(String.self, of: "name") ?? "") of \(try record.value(Int.self, of: "depth") ?? 0)"
                            try new.flush()
                        }
                        try new.insert("Ship", ["name": .string("Dawn"), "flag": .string("new")])
                        try c.expect(
                            try old.records("Harbour").map { try $0.value(String.self, of: "name") },
                            is: ["Aden", "Brest", "Cork"], "the harbours before, whatever was changed:")
                        try c.expect(try old.count("Ship"), is: 4, "ships before:")
                        try c.expect(try new.records("Ship").map(\.id).count, is: 5, "ships after:")
                    }
                },
                { context in
                    try c.expect(
                        try context.fetch(FetchDescriptor<Fleet.Version3.Harbour>()).map(\.name),
                        is: ["Aden of 12", "Cork of 9"],
                        "names that were made of the values before:")
                    try c.expect(
                        try context.fetch(FetchDescriptor<Fleet.Version3.Ship>()).map(\.name),
                        is: ["Drifter", "Argo", "Bounty", "Calypso", "Dawn"], "the new ship last:")
                })
        },
        migration(
            "deletions", "A record that code deletes is gone from both sides of its relationships.",
            hint: "delete(_:) leaves references to the record."
        ) { c, world in
            try world.open(
                Fleet.Version3.self, Fleet.ToThird.self,
                { script in
                    script.migrate = { old, new in
                        for record in try old.records("Harbour") where record["name"] == .string("Aden") {
                            try new.delete(record.id)
                        }
                        try c.expect(
                            try new.records("Ship").map { $0["harbour"]?.isNull }, is: [true, true, true, true],
                            "ships without a reference to what is gone:")
                    }
                },
                { context in
                    try c.expect(
                        try context.fetch(FetchDescriptor<Fleet.Version3.Harbour>()).map(\.name), is: ["Cork"],
                        "the harbour that is left:")
                    try c.expect(
                        try context.fetch(FetchDescriptor<Fleet.Version3.Ship>()).map { $0.harbour?.name ?? "-" },
                        is: ["-", "-", "-", "-"], "no harbour of any ship:")
                })
        },
        migration(
            "that-throws", "A stage that throws after it has saved leaves the storage as it was, and can run again.",
            hint: "What a stage saves goes into the storage at once, or the storage stays locked."
        ) { _, world in
            for _ in 0..<2 {
                try world.expectRefusal(Fleet.Version2.self, Fleet.ToSecond.self, "the error of the stage") { script in
                    script.before = FleetWorld.mark
                    script.after = { _ in throw Fleet.Failure() }
                }
                try world.expectVersion1()
            }
            try world.open(Fleet.Version2.self, Fleet.ToSecond.self, { $0.before = FleetWorld.mark }) {
                try world.expectVersion2($0, marking: "!")
            }
        },
        migration(
            "second-stage-that-throws", "If the second of two stages throws, the first has not happened either.",
            hint: "The storage is replaced after each stage."
        ) { _, world in
            try world.expectRefusal(Fleet.Version3.self, Fleet.ToThird.self, "the error of the stage") { script in
                script.migrate = { _, _ in throw Fleet.Failure() }
            }
            try world.expectVersion1()
            try world.expectRefusal(Fleet.Version3.self, Fleet.ToThird.self, "the error of the validation") { script in
                script.validate = { _, _ in throw Fleet.Failure() }
            }
            try world.expectVersion1()
            try world.open(Fleet.Version3.self, Fleet.ToThird.self) { try world.expectVersion3($0) }
        },
        migration(
            "identifiers", "Identifiers of records and store stay, unless the store says that they change.",
            hint: "Records are numbered anew, in the order in which they are written."
        ) { c, world in
            try Fleet.Script.$current.withValue(Fleet.Script()) {
                let preview = try c.migrationPreview(to: Fleet.Version2.self, Fleet.ToSecond.self)
                if !preview.keepsIdentifiers {
                    try c.expectError(
                        "MigrationError.identifiersWouldChange",
                        matching: { if case MigrationError.identifiersWouldChange = $0 { true } else { false } }
                    ) {
                        let container = try c.open(
                            for: Schema(versionedSchema: Fleet.Version2.self), plan: Fleet.ToSecond.self)
                        try container.close()
                    }
                    return try world.expectVersion1()
                }
                try c.under(
                    Schema(versionedSchema: Fleet.Version2.self), plan: Fleet.ToSecond.self, "use it for version 2"
                ) { context in
                    for ship in try context.fetch(FetchDescriptor<Fleet.Version2.Ship>()) {
                        try c.expect(
                            ship.persistentModelID == world.records[ship.name], "the identifier of \(ship.name)")
                    }
                    for harbour in try context.fetch(FetchDescriptor<Fleet.Version2.Harbour>()) {
                        try c.expect(
                            harbour.persistentModelID == world.records[harbour.name],
                            "the identifier of \(harbour.name)")
                    }
                }
            }
        },
        migration(
            "order", "Records stay in the order of insertion, new ones come last, and no number is used again.",
            hint: "The number of the next record is taken from the last one that is there."
        ) { c, world in
            try world.open(Fleet.Version2.self, Fleet.ToSecond.self) { context in
                func names() throws -> [String] {
                    try context.fetch(FetchDescriptor<Fleet.Version2.Ship>()).map(\.name)
                        + context.fetch(FetchDescriptor<Fleet.Version2.Harbour>()).map(\.name)
                }
                try c.expect(
                    try names(), is: ["Drifter", "Argo", "Bounty", "Calypso", "Aden", "Brest", "Cork"], "the order:")
                let new = Fleet.Version2.Ship("Dawn", in: nil)
                context.insert(new)
                try context.save()
                try c.expect(
                    !world.records.values.contains(new.persistentModelID), "an identifier that no record has had")
                try c.expect(try names()[4], is: "Dawn", "the new ship last:")
            }
        },
        migration(
            "preview", "A preview tells stages, records and losses, and changes nothing.",
            hint: "A preview is a migration that is carried out."
        ) { c, world in
            try Fleet.Script.$current.withValue(Fleet.Script()) {
                for _ in 0..<2 {
                    let preview = try c.migrationPreview(to: Fleet.Version3.self, Fleet.ToThird.self)
                    try c.expect(preview.records, is: 7, "records:")
                    try c.expect(
                        preview.stages.map { "\($0.from) \($0.to) \($0.hasCode)" },
                        is: ["1.0.0 2.0.0 false", "2.0.0 3.0.0 true"], "stages:")
                    try c.expect(
                        preview.stages.first?.loss?.description, is: "Harbour.remark (2 values)",
                        "what the first drops:")
                }
            }
            try world.expectVersion1()
        },
        migration(
            "prepared", "What is prepared shows to nobody, and can be abandoned; the switch alone makes it so.",
            hint: "prepare(keepingCopy:atMost:) replaces the records, or commit() does what belongs there."
        ) { c, world in
            guard let configuration = try c.configuration() as? any MigratableConfiguration else {
                throw c.failure(expected: "a configuration that can be migrated", found: "another")
            }
            let second = Schema(versionedSchema: Fleet.Version2.self)
            let request = MigrationRequest(schemas: [Schema(versionedSchema: Fleet.Version1.self), second])
            c.note("begin a migration to version 2 and commit it unprepared")
            let unprepared = try configuration.beginMigration(request)
            defer { unprepared.abandon() }
            try unprepared.adapt(to: second.stored)
            try c.expectError("an error: nothing was prepared") { try unprepared.commit() }
            unprepared.abandon()
            try world.expectVersion1()
            for commits in [false, true] {
                c.note("begin a migration to version 2 and prepare it")
                let migration = try configuration.beginMigration(request)
                defer { migration.abandon() }
                try migration.adapt(to: second.stored)
                try migration.prepare(keepingCopy: false, atMost: nil)
                try c.expect(
                    try configuration.storedSchema()?.version.description, is: "1.0.0",
                    "the version that is stored when the next one is prepared:")
                c.note(commits ? "commit" : "abandon")
                if commits { try migration.commit() } else { migration.abandon() }
                if !commits { try world.expectVersion1() }
            }
            try world.open(Fleet.Version2.self, nil) { try world.expectVersion2($0) }
        },
        migration(
            "empty", "A storage whose records are all gone is migrated, and their numbers are not given again.",
            hint: "The number of the next record is taken from the last record, and the storage has no record."
        ) { c, world in
            try world.open(Fleet.Version1.self, nil) { context in
                for ship in try context.fetch(FetchDescriptor<Fleet.Version1.Ship>()) { context.delete(ship) }
                for harbour in try context.fetch(FetchDescriptor<Fleet.Version1.Harbour>()) { context.delete(harbour) }
                try context.save()
            }
            let keeps = try Fleet.Script.$current.withValue(Fleet.Script()) {
                let preview = try c.migrationPreview(to: Fleet.Version2.self, Fleet.ToSecond.self)
                try c.expect(preview.records, is: 0, "records:")
                try c.expect(preview.stages.map(\.refusal), is: [nil], "what is in the way:")
                guard let configuration = try c.configuration() as? any MigratableConfiguration else { return false }
                let migration = try configuration.previewMigration(
                    MigrationRequest(schemas: [Schema(versionedSchema: Fleet.Version1.self)]))
                defer { migration.abandon() }
                return migration.keepsIdentifiers
            }
            // Without records nobody has to say what may come of identifiers.
            try Fleet.Script.$current.withValue(Fleet.Script()) {
                try c.under(
                    Schema(versionedSchema: Fleet.Version2.self), plan: Fleet.ToSecond.self, "use it for version 2"
                ) { context in
                    try c.expect(try context.fetchCount(FetchDescriptor<Fleet.Version2.Ship>()), is: 0, "ships:")
                    let new = Fleet.Version2.Ship("Dawn", in: nil)
                    context.insert(new)
                    try context.save()
                    if keeps {
                        try c.expect(
                            !world.records.values.contains(new.persistentModelID),
                            "an identifier that no record has had")
                    }
                }
            }
            try world.open(Fleet.Version2.self, nil) { context in
                try c.expect(
                    try context.fetch(FetchDescriptor<Fleet.Version2.Ship>()).map(\.name), is: ["Dawn"], "the ships:")
            }
        },
        migration(
            "while-open", "A storage that is open is not migrated; its user reads and saves as before.",
            hint: "The records are exchanged under an open store."
        ) { c, world in
            let container = try c.open(for: Schema(versionedSchema: Fleet.Version1.self))
            do {
                try world.expectRefusal(Fleet.Version2.self, Fleet.ToSecond.self, "an error: it is open")
                let context = ModelContext(container)
                let ships = try context.fetch(FetchDescriptor<Fleet.Version1.Ship>())
                try c.expect(ships.count, is: 4, "ships of the open store:")
                ships.first?.title = "Drifter!"
                try context.save()
            } catch {
                try? container.close()
                throw error
            }
            try container.close()
            try world.open(Fleet.Version2.self, Fleet.ToSecond.self) { context in
                try c.expect(
                    try context.fetch(FetchDescriptor<Fleet.Version2.Ship>()).map(\.name),
                    is: ["Drifter!", "Argo", "Bounty", "Calypso"], "what was saved meanwhile:")
            }
        },
        migration(
            "opened-meanwhile", "Who opens the storage while it is migrated gets an error, and no store.",
            hint: "beginMigration() does not keep others away."
        ) { c, world in
            try world.open(
                Fleet.Version2.self, Fleet.ToSecond.self,
                { script in
                    script.before = { _ in
                        try c.expectError("an error: the storage is being migrated") {
                            let container = try c.open(for: Schema(versionedSchema: Fleet.Version1.self))
                            try container.close()
                        }
                    }
                }, { try world.expectVersion2($0) })
        },
        migration(
            "older-program", "A program of the version before is refused, and changes nothing.",
            hint: "The number of the version is not noted with the records."
        ) { c, world in
            try world.open(Fleet.Version2.self, Fleet.ToSecond.self) { try world.expectVersion2($0) }
            let stored = try (try c.configuration() as? any MigratableConfiguration)?.storedSchema()
            try c.expect(stored?.version.description, is: "2.0.0", "the version of the stored schema:")
            try world.expectRefusal(Fleet.Version1.self, nil, "an error: the storage is newer")
            try world.expectRefusal(Fleet.Version1.self, Fleet.ToSecond.self, "an error: the storage is newer")
            try world.open(Fleet.Version2.self, nil) { try world.expectVersion2($0) }
        },
        migration(
            "failed-operations",
            "Whichever operation fails, the storage holds the version before or the one after, also when power is lost.",
            hint: "A failed write is taken for done, or half of the records are of the next version.",
            and: [.faultInjection]
        ) { c, world in
            var isDone = false
            for operation in 1...2_000 where !isDone {
                try c.faults.failOperation(operation)
                let outcome = Result {
                    try world.open(Fleet.Version2.self, Fleet.ToSecond.self, { $0.before = FleetWorld.mark }) { _ in }
                }
                try c.faults.failOperation(nil)
                if case .failure(let failure as ConformanceFailure) = outcome { throw failure }
                isDone = (try? outcome.get()) != nil
                c.note("operation \(operation) fails: \(isDone ? "no error" : "an error")")
                if isDone { break }
                // What the program still has in memory says nothing of what is stored.
                if c.subject.capabilities.contains(.durability) { try c.loseWhatIsNotStored() }
                // Opened with the second version, a store that was not replaced would come to it without the plan's code.
                let stored = try (try c.configuration() as? any MigratableConfiguration)?.storedSchema()
                if stored?.version == Fleet.Version2.versionIdentifier {
                    try world.open(Fleet.Version2.self, nil) { try world.expectVersion2($0, marking: "!") }
                    isDone = true
                } else {
                    try world.expectVersion1()
                }
            }
            guard isDone else {
                throw c.failure(
                    expected: "a migration that succeeds once none of its operations fails",
                    found: "an error however late the failing operation was")
            }
            if c.subject.capabilities.contains(.durability) { try c.loseWhatIsNotStored() }
            // Without the plan: it would run again where nothing was stored.
            try world.open(Fleet.Version2.self, nil) { try world.expectVersion2($0, marking: "!") }
        },
    ]
}

extension CaseContext {
    /// What a plan would do to the storage, which must be closed.
    func migrationPreview(
        to version: any VersionedSchema.Type, _ plan: any SchemaMigrationPlan.Type
    ) throws -> MigrationPreview {
        note("preview the migration to version \(version.versionIdentifier)")
        let previews = try ModelContainer.migrationPreview(
            for: Schema(versionedSchema: version), migrationPlan: plan, configurations: [try configuration()])
        return try require(previews.first, "a preview, since migration is claimed")
    }
}
