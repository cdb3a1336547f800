extension ModelLayout {
    /// As `inverse(of:towards:)`, for the layout of a model.
    func inverse(of slot: Int, towards other: any PersistentModel) -> Int? {
        inverseSlots[slot]
            ?? inverse(of: slot, towards: other._modelState.table?.layout ?? ModelLayout.of(Swift.type(of: other)))
    }
}
