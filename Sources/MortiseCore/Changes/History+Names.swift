extension HistoryUpdate {
    /// The names of the properties that changed, relationships included.
    public var updatedProperties: [String] {
        let layout = ModelLayout.of(Model.self)
        return updatedAttributes.compactMap { layout.slot(for: $0).map { layout.record.slots[$0].name } }
    }
}

extension HistoryDelete {
    /// The values that the model preserves on deletion, by property.
    public var preservedValues: [String: any Sendable] {
        let layout = ModelLayout.of(Model.self)
        return Dictionary(
            tombstone.pairs.compactMap { path, value in
                layout.slot(for: path).map { (layout.record.slots[$0].name, value) }
            },
            uniquingKeysWith: { first, _ in first })
    }
}
