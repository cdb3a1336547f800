extension ModelLayout {
    /// As `inverse(of:towards:)`, for the layout of a model. Nil also for a model without that property: a faulty store can
    /// relate a record to one of a class that the relationship does not lead to.
    func inverse(of slot: Int, towards other: any PersistentModel) -> Int? {
        let theirs = other._table?.layout ?? ModelLayout.of(Swift.type(of: other))
        guard let inverse = inverse(of: slot, towards: theirs) else { return nil }
        if let destination = destinations[slot], theirs !== destination, inverseSlots[slot] != nil,
            !destination.shares(inverse, with: theirs)
        {
            return nil
        }
        return inverse
    }
}
