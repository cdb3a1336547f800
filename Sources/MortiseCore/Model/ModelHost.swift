/// What the state of a model needs of where the model belongs: a context's table of its entity.
@usableFromInline
class ModelHost {
    /// The rows, for getters, which count no references. Unchecked, because nothing else can run while it is copied.
    @exclusivity(unchecked) @usableFromInline final var reader: Unmanaged<RowSource>
    final let entityName: String
    /// The slots whose values unsaved models are looked up by.
    @exclusivity(unchecked) final var indexedSlots = SlotSet()
    /// Whether changes of the models are recorded, to be undone.
    @exclusivity(unchecked) final var isJournaled = false

    init(_ source: RowSource, ofEntity name: String) {
        reader = Unmanaged.passUnretained(source)
        entityName = name
    }

    /// Called on the thread of a model's last release. `row` is negative for a model without one.
    func modelIsGone(row: Int, generation: UInt16) {}
}

/// What a model holds itself, and its store does not have.
@usableFromInline
class UnsavedValues {
    /// Called when the model goes whose `deinit` has run.
    func modelIsGone() {}
}
