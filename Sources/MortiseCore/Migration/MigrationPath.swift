/// The stages of a plan that lead from what a store holds to what a program wants.
struct MigrationPath {
    /// A stage to carry out, with the schemas before and after it.
    struct Step {
        let source: Schema
        let target: Schema
        /// Nil between neighbours that need none.
        let stage: MigrationStage?
        /// Whether a schema that the plan lacks is taken for one that it has: nothing may be lost by that.
        var isAdoption = false
        /// Whether no plan says that the one leads to the other.
        var isUnplanned = false

        var hasCode: Bool { stage?.hasCode ?? false }
    }

    /// In the order in which they run; empty if the store may be opened as it is.
    let steps: [Step]

    /// Whether any stage has code to run.
    var hasCode: Bool { steps.contains(where: \.hasCode) }

    /// The same stages, or one in their place that comes to the same records.
    func carriedOut(from stored: StoredSchema, to target: StoredSchema) -> MigrationPath {
        guard let first = steps.first, let last = steps.last, !isNeeded(from: stored, to: target) else { return self }
        return MigrationPath(
            steps: [
                Step(
                    source: first.source, target: last.target, stage: nil,
                    isUnplanned: steps.contains(where: \.isUnplanned))
            ])
    }

    /// Whether opening the store under the last schema alone would come to other records than the stages one by one.
    func isNeeded(from stored: StoredSchema, to target: StoredSchema) -> Bool {
        hasCode || steps.contains(where: \.isAdoption)
            || (steps.count > 1 && !Self.isDirect([stored] + steps.map(\.target.stored), target))
    }

    /// Whether properties come from the same ones on the way as from end to end. Where it is hard to say it is false, which costs
    /// time and no data.
    private static func isDirect(_ schemas: [StoredSchema], _ target: StoredSchema) -> Bool {
        guard let first = schemas.first else { return true }
        let layouts = (schemas + [target]).map { $0.recordLayouts() }
        let ends = first.recordLayouts()
        for (name, layout) in target.recordLayouts() {
            let known = layouts.map { $0[name] != nil }
            // An entity that came on the way, and one that went and came again.
            guard known.allSatisfy(\.self) else {
                if known.dropLast().contains(true) { return false }
                continue
            }
            var origins = layout.slots.indices.map { Optional($0) }
            for (before, after) in zip(layouts, layouts.dropFirst()).reversed() {
                guard let old = before[name], let new = after[name] else { return false }
                let step = new.origins(in: old)
                for (slot, place) in origins.enumerated() {
                    guard let place else { continue }
                    // Defaults of versions on the way, and values that only some of them take.
                    let (mine, end) = (new.slots[place], layout.slots[slot])
                    if mine.property.isOptional != end.property.isOptional
                        || mine.property.attribute?.defaultValue != end.property.attribute?.defaultValue
                        || !mine.hasSameLinks(as: end)
                    {
                        return false
                    }
                    origins[slot] = step[place]
                }
            }
            guard let old = ends[name], layout.origins(in: old) == origins else { return false }
        }
        return true
    }
}

extension RecordLayout.Slot {
    /// Whether links come to the same in two layouts: an inverse on the way completes, moves or clears some.
    fileprivate func hasSameLinks(as other: RecordLayout.Slot) -> Bool {
        guard let one = property.relationship, let two = other.property.relationship else { return true }
        return role == other.role && one.inverse == two.inverse && one.destination == two.destination
    }
}

extension MigrationPath {
    /// Finds the stages that are due.
    /// - Parameters:
    ///   - stored: the schema that the store holds.
    ///   - target: the schema to open it with.
    ///   - plan: the stages to choose from.
    ///   - adopted: the version that a store with a schema of its own is taken for; nil for none.
    ///   - store: the store's name in errors.
    /// - Returns: the stages, none if opening the store is all that it takes. A plan whose versions have nothing of the store says nothing
    ///   of it: one lightweight step, as where there is no plan.
    /// - Throws: `MigrationError`.
    static func find(
        from stored: StoredSchema, to target: Schema, _ plan: PlannedVersions, adopting adopted: Schema.Version? = nil,
        store: String
    ) throws(MigrationError) -> MigrationPath {
        let (storage, wanted) = (stored.storage, target.stored.storage)
        let numbers = Set(plan.versions.map(\.version))
        let isNumbered = stored.version != target.version && numbers.isSuperset(of: [stored.version, target.version])
        if storage == wanted, !isNumbered, !target.stored.hasPendingRenames(from: stored) {
            // Which of several versions the store is at decides on whether code runs.
            if !numbers.contains(stored.version), numbers.contains(target.version) {
                let equal = plan.versions.map(\.version).filter { plan.hasStorage(storage, $0) && $0 <= target.version }
                if equal.count > 1, let steps = try? plan.steps(from: equal[0], to: target.version),
                    steps.contains(where: \.hasCode)
                {
                    throw .ambiguousVersion(store: store, stored: stored.version, candidates: equal)
                }
            }
            return MigrationPath(steps: [])
        }
        if plan.isSilent {
            try stored.checkIsNotNewer(than: target.stored, store: store)
            return MigrationPath(
                steps: [Step(source: Schema(stored: stored), target: target, stage: nil, isUnplanned: true)])
        }
        let (start, end): (Schema.Version, Schema.Version)
        do {
            end = try plan.end(target, wanted)
        } catch {
            // A program that chose a lower number is older than the store, and not wrong about its plan.
            if target.hasChosenVersion { try stored.checkIsNotNewer(than: target.stored, store: store) }
            throw error
        }
        var steps: [Step] = []
        do {
            start = try plan.start(of: stored, storage, store: store)
        } catch {
            guard let adopted, error.isUnknownSchema,
                let version = plan.versions.first(where: { $0.version == adopted })
            else { throw error }
            start = adopted
            steps.append(Step(source: Schema(stored: stored), target: version, stage: nil, isAdoption: true))
        }
        if start > end { throw MigrationError.newerStore(store: store, stored: start, program: end) }
        return MigrationPath(steps: steps + (try plan.steps(from: start, to: end)))
    }
}

/// The versions and stages of a plan, read once.
struct PlannedVersions {
    /// By number, each once.
    let versions: [Schema]
    private let storages: [Schema.Version: StoredSchema.Storage]
    /// By number of the version before, those that lead on from it.
    private let stages: [Schema.Version: [(target: Schema.Version, stage: MigrationStage?)]]

    /// Whether no version has an entity of the store.
    var isSilent: Bool { versions.allSatisfy { $0.stored.entities.isEmpty } }

    /// Reads a plan. The getters of a plan may be isolated, so this belongs on the caller's thread.
    /// - Parameters:
    ///   - plan: the plan.
    ///   - isIncluded: whether an entity belongs to the store that the plan is used for.
    /// - Throws: `MigrationError.duplicateVersion`, `.backwardStage`.
    init(_ plan: any SchemaMigrationPlan.Type, where isIncluded: (String) -> Bool) throws(MigrationError) {
        var found: [Schema.Version: Schema] = [:]
        var storages: [Schema.Version: StoredSchema.Storage] = [:]
        var stages: [Schema.Version: [(target: Schema.Version, stage: MigrationStage?)]] = [:]
        func add(_ version: any VersionedSchema.Type) throws(MigrationError) -> Schema.Version {
            let number = version.versionIdentifier
            let schema = PlannedSchemas.schema(of: version, where: isIncluded)
            let storage = schema.stored.storage
            if let known = storages[number], known != storage { throw .duplicateVersion(number) }
            if found[number] == nil { found[number] = schema }
            storages[number] = storage
            return number
        }
        for version in plan.schemas { _ = try add(version) }
        for stage in plan.stages {
            let (from, to) = (try add(stage.source), try add(stage.target))
            guard from < to else { throw .backwardStage(from: from, to: to) }
            // A stage that changes nothing of this store, but something of others, is theirs.
            let isForeign =
                storages[from] == storages[to]
                && PlannedSchemas.schema(of: stage.source).stored.storage
                    != PlannedSchemas.schema(of: stage.target).stored.storage
            stages[from, default: []].append((to, isForeign ? nil : stage))
        }
        versions = found.values.sorted { $0.version < $1.version }
        // Neighbours need no stage where nothing is to be done but what each opening does.
        for (version, next) in zip(versions, versions.dropFirst()) where stages[version.version] == nil {
            stages[version.version] = [(next.version, nil)]
        }
        self.storages = storages
        self.stages = stages
    }

    /// The version after the first stage that may be due in a store of which nothing is known; nil if whatever the plan has before the
    /// target is the same. A plan that has nothing of the store says nothing of it.
    func firstStage(to target: Schema) throws(MigrationError) -> Schema.Version? {
        if isSilent { return nil }
        let end = try self.end(target, target.stored.storage)
        let before = versions.map(\.version).filter { $0 < end }
        let isDue = before.contains { version in
            storages[version] != storages[end] || stages[version]?.contains { $0.stage?.hasCode == true } == true
        }
        guard isDue else { return nil }
        return versions.map(\.version).first { $0 > before[0] }
    }

    fileprivate func hasStorage(_ storage: StoredSchema.Storage, _ version: Schema.Version) -> Bool {
        storages[version] == storage
    }

    fileprivate func start(
        of stored: StoredSchema, _ storage: StoredSchema.Storage, store: String
    ) throws(MigrationError) -> Schema.Version {
        let equal = versions.map(\.version).filter { storages[$0] == storage }
        if equal.contains(stored.version) { return stored.version }
        if equal.count == 1 { return equal[0] }
        if equal.count > 1 { throw .ambiguousVersion(store: store, stored: stored.version, candidates: equal) }
        if let newest = versions.last?.version, stored.version > newest {
            throw .newerStore(store: store, stored: stored.version, program: newest)
        }
        if let known = storages[stored.version] {
            throw .versionChanged(
                store: store, version: stored.version, differences: Self.shown(storage.differences(fromExpected: known))
            )
        }
        let (nearest, differences) = nearest(to: storage)
        throw .unknownVersion(store: store, stored: stored.version, nearest: nearest, differences: differences)
    }

    fileprivate func end(_ target: Schema, _ storage: StoredSchema.Storage) throws(MigrationError) -> Schema.Version {
        let equal = versions.map(\.version).filter { storages[$0] == storage }
        if equal.contains(target.version) { return target.version }
        if let newest = equal.last { return newest }
        let (nearest, differences) = nearest(to: storage)
        throw .targetNotInPlan(program: target.version, nearest: nearest, differences: differences)
    }

    private func nearest(to storage: StoredSchema.Storage) -> (Schema.Version, [String]) {
        let all = versions.map { version in
            (version.version, storages[version.version].map { storage.differences(fromExpected: $0) } ?? [])
        }
        guard let best = all.min(by: { $0.1.count < $1.1.count }) else { return (Schema.Version(0, 0, 0), []) }
        return (best.0, Self.shown(best.1))
    }

    private static func shown(_ differences: [String]) -> [String] { Array(differences.prefix(10)) }

    fileprivate func steps(
        from start: Schema.Version, to end: Schema.Version
    ) throws(MigrationError) -> [MigrationPath.Step] {
        if start == end { return [] }
        // Stages lead to later versions only. How many ways there are to each, and the last stage of one of them.
        var ways: [Schema.Version: Int] = [start: 1]
        var last: [Schema.Version: (source: Schema.Version, stage: MigrationStage?)] = [:]
        for version in versions.map(\.version) where version >= start && version < end {
            guard let count = ways[version] else { continue }
            for (target, stage) in stages[version] ?? [] where target <= end {
                // More than two are as many as two, and a plan may have thousands.
                ways[target] = min(2, (ways[target] ?? 0) + count)
                last[target] = (version, stage)
            }
        }
        guard let count = ways[end] else {
            // From the last version that can be reached.
            let reached = ways.keys.max() ?? start
            throw .missingStage(from: reached, to: versions.map(\.version).first { $0 > reached } ?? end)
        }
        if count > 1 { throw .ambiguousPath(from: start, to: end) }
        let schemas = Dictionary(versions.map { ($0.version, $0) }, uniquingKeysWith: { first, _ in first })
        var steps: [MigrationPath.Step] = []
        var version = end
        while version != start, let (source, stage) = last[version], let before = schemas[source],
            let after = schemas[version]
        {
            steps.append(MigrationPath.Step(source: before, target: after, stage: stage))
            version = source
        }
        return steps.reversed()
    }
}
