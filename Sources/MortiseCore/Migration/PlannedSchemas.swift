import Synchronization

/// The schemas of the versions of plans, each made once in a process: every opening with a plan asks for them, and most have nothing to
/// do.
enum PlannedSchemas {
    private struct Key: Hashable {
        let version: ObjectIdentifier
        let number: Schema.Version
        let models: [ObjectIdentifier]
    }

    private static let known = Mutex<[Key: Schema]>([:])

    /// The schema of a version, with some of its models. Its entities are nobody else's to change.
    static func schema(
        of version: any VersionedSchema.Type, where isIncluded: (String) -> Bool = { _ in true }
    ) -> Schema {
        // Versions without classes may be another each time.
        if version.stored != nil { return Schema(version, where: isIncluded) }
        let models = version.models.filter { isIncluded(Schema.entityName(for: $0)) }
        let key = Key(
            version: ObjectIdentifier(version), number: version.versionIdentifier,
            models: models.map { ObjectIdentifier($0) })
        if let schema = known.withLock({ $0[key] }) { return schema.copied }
        let schema = Schema(models, version: key.number)
        known.withLock { $0[key] = schema }
        return schema.copied
    }
}
