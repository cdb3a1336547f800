extension DueMigration {
    /// Looks at what the stages would do; nil for a store that does not exist yet.
    static func preview(
        _ configuration: any MigratableConfiguration, to target: Schema, _ plan: any SchemaMigrationPlan.Type,
        without others: [String: String]
    ) throws -> MigrationPreview? {
        guard try configuration.storedSchema() != nil else { return nil }
        let versions = try PlannedVersions(plan) { others[$0] == nil }
        let migration = try configuration.previewMigration(request(versions, target))
        defer { migration.abandon() }
        let stored = migration.storedSchema
        var options = plan.migrationOptions
        if versions.isSilent, target.version <= stored.version { options.loss = .refused }
        let path = try path(
            from: stored, to: target, versions, adopting: options.adopting, without: others, store: configuration.name)
        let records = try count(migration, without: others, store: configuration.name)
        var stages: [MigrationPreview.Stage] = []
        // A copy also stays where values were converted that cannot be had back.
        var keepsCopy = options.copies == .always
        var current = stored
        let start = ContinuousClock.now
        for step in path.steps {
            var refusal: String?
            var losses: [SchemaLoss] = []
            do {
                if stages.isEmpty {
                    try checkIdentifiers(migration, options, records: records, store: configuration.name)
                }
                func note(
                    _ loss: SchemaLoss, _ converted: [String: Set<String>] = [:], dropping: Set<String> = []
                ) throws {
                    keepsCopy = keepsCopy || !loss.isEmpty
                    losses.append(loss.without(converted))
                    try options.check(
                        loss, converting: converted, dropping: dropping, in: step, store: configuration.name)
                }
                if case .transform(let transform)? = step.stage {
                    try note(try migration.adapt(to: step.source.stored))
                    var run = TransformRun(step: step, transform: transform, migration: migration)
                    let dropped = step.source.stored.withHeirs(transform.mapping.dropped)
                    run.note = { try note($0, $1, dropping: dropped) }
                    _ = try run.map(from: step.source.stored)
                } else {
                    // Code gets records, for which some stores need a copy.
                    if step.hasCode {
                        if current != step.source.stored { try note(try migration.adapt(to: step.source.stored)) }
                        _ = try migration.frozen(under: step.source)
                    }
                    let loss = try migration.adapt(to: step.target.stored)
                    try note(loss)
                    if step.isUnplanned {
                        try loss.checkOrigins(
                            from: step.source.stored, to: step.target.stored,
                            dropping: (configuration as? any SelfDescribingConfiguration)?.dropping ?? [],
                            store: configuration.name)
                    }
                }
                current = step.target.stored
                let retransformed = path.retransformed
                if options.verifiesValues || !retransformed.isEmpty, stages.count + 1 == path.steps.count,
                    !path.steps.contains(where: \.runsClosures)
                {
                    if current != target.stored { try note(try migration.adapt(to: target.stored)) }
                    try verifyValues(of: migration, under: target, only: options.verifiesValues ? nil : retransformed) {
                        _ in
                    }
                }
            } catch {
                refusal = "\(error)"
            }
            let loss = SchemaLoss(
                stored: step.source.version, opened: step.target.version, entities: losses.flatMap(\.entities),
                properties: losses.flatMap(\.properties))
            stages.append(
                MigrationPreview.Stage(
                    from: step.source.version, to: step.target.version, hasCode: step.hasCode,
                    changes: SchemaComparison(
                        from: SchemaDocument(step.source.stored),
                        to: SchemaDocument(step.target.stored.named(by: step.stage))
                    ).changes.compactMap(\.words),
                    loss: loss.isEmpty ? nil : loss, refusal: refusal))
            if refusal != nil { break }
        }
        let taken = ContinuousClock.now - start
        let space =
            path.steps.isEmpty ? nil : try configuration.migrationSpace(keepingCopy: keepsCopy)
        let isKnown =
            !path.steps.isEmpty && !path.steps.contains(where: \.runsClosures)
            && stages.allSatisfy { $0.refusal == nil }
        return MigrationPreview(
            store: configuration.name, from: path.steps.first?.source.version ?? stored.version,
            to: path.steps.last?.target.version ?? target.version, stages: stages, records: records,
            keepsIdentifiers: path.steps.isEmpty || records == 0 || migration.keepsIdentifiers,
            isCopy: !path.steps.isEmpty && migration.isCopy,
            space: space, time: isKnown ? MigrationPreview.time(taken, writing: space) : nil)
    }
}

extension SchemaChange {
    /// The change in words; nil for that of the number.
    fileprivate var words: String? {
        switch kind {
        case .versionChanged: nil
        case .propertyRenamed, .entityRenamed: "\(subject) renamed from \(origin ?? "")"
        default: "\(subject) \(detail)"
        }
    }
}

extension StoredSchema {
    /// The schema in which the original names are those that the rules of a stage give.
    func named(by stage: MigrationStage?) -> StoredSchema {
        guard case .transform(let transform)? = stage else { return self }
        let layouts = recordLayouts()
        var schema = self
        for (name, rule) in transform.mapping.rules {
            guard case .renaming(let original) = rule else { continue }
            let parts = name.split(separator: ".", maxSplits: 1).map(String.init)
            guard parts.count == 2, let slot = layouts[parts[0]]?.slots.first(where: { $0.name == parts[1] }),
                let entity = schema.entities.firstIndex(where: { $0.name == slot.declaringEntity }),
                let place = schema.entities[entity].properties.firstIndex(where: { $0.name == parts[1] })
            else { continue }
            schema.entities[entity].properties[place].originalName = original
        }
        return schema
    }
}
