extension MigrationStage {
    /// A stage whose code sees both versions at once, record by record if it wants.
    ///
    /// The records come to the new version by names, original names and `mapping`; then records that would have the same
    /// unique values are settled by `duplicates`; then `migrate` changes, inserts and deletes what is left to do. `validate` looks
    /// at the outcome and throws what is wrong with it. If anything throws, the store stays as it was, and the stage may run
    /// again.
    /// - Parameters:
    ///   - from: the version before.
    ///   - to: the version after.
    ///   - mapping: what the schemas alone do not say.
    ///   - duplicates: one rule for each constraint that is new or that converted values may break.
    ///   - migrate: gets the records before the stage, and those after the mapping, which it changes.
    ///   - validate: gets the records before and after the stage.
    /// - Returns: the stage.
    public static func custom(
        from: any VersionedSchema.Type, to: any VersionedSchema.Type, mapping: MigrationMapping = .inferred,
        duplicates: [DuplicateRule] = [],
        migrate: (@Sendable (_ old: MigrationSource, _ new: MigrationTarget) throws -> Void)? = nil,
        validate: (@Sendable (_ old: MigrationSource, _ new: MigrationSource) throws -> Void)? = nil
    ) -> MigrationStage {
        .transform(
            CodedTransform(
                source: from, target: to, mapping: mapping, duplicates: duplicates, migrate: migrate,
                validate: validate))
    }
}

/// A stage with its code, which works with contexts.
final class CodedTransform: MigrationTransform {
    let migrate: (@Sendable (MigrationSource, MigrationTarget) throws -> Void)?
    let validate: (@Sendable (MigrationSource, MigrationSource) throws -> Void)?

    init(
        source: any VersionedSchema.Type, target: any VersionedSchema.Type, mapping: MigrationMapping,
        duplicates: [DuplicateRule], migrate: (@Sendable (MigrationSource, MigrationTarget) throws -> Void)?,
        validate: (@Sendable (MigrationSource, MigrationSource) throws -> Void)?
    ) {
        self.migrate = migrate
        self.validate = validate
        super.init(source: source, target: target, mapping: mapping, duplicates: duplicates)
    }
}
