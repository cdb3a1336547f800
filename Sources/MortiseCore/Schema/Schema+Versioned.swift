extension Schema {
    /// Makes the schema of a versioned schema's models, or of its entities if it has no models for them.
    public convenience init(versionedSchema: any VersionedSchema.Type) {
        self.init(versionedSchema) { _ in true }
    }

    /// Makes the schema of those of a version's entities that are included, and of all that they reach.
    convenience init(_ versionedSchema: any VersionedSchema.Type, where isIncluded: (String) -> Bool) {
        let version = versionedSchema.versionIdentifier
        if let stored = versionedSchema.stored {
            self.init(stored: StoredSchema(version: version, entities: stored.entities.filter { isIncluded($0.name) }))
        } else {
            self.init(versionedSchema.models.filter { isIncluded(Schema.entityName(for: $0)) }, version: version)
        }
    }
}
