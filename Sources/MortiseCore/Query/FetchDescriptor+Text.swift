extension FetchDescriptor {
    /// The predicate in words; nil for a descriptor without one.
    ///
    /// Foundation's own description of a predicate ends the process if an expression is not Foundation's, such as that
    /// of `localizedStandardContains`.
    package var predicateText: String? {
        guard let predicate else { return nil }
        let conjuncts = LoweredPredicate(predicate).conjuncts
        return conjuncts.isEmpty ? "true" : conjuncts.map(\.description).joined(separator: " && ")
    }
}
