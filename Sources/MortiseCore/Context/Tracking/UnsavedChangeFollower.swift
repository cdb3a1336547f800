/// Follows what changes in a context before it is saved, as live results do.
protocol UnsavedChangeFollower: AnyObject {
    /// A model is among the unsaved ones from now on.
    func watch(_ model: any PersistentModel, comesOrGoes: Bool)
    /// A value of a watched model changes.
    func mark(_ model: any PersistentModel, at slot: Int)
    /// The context is about to drop all unsaved changes.
    func noteRollback()
    /// The context has saved.
    func noteSave()
    /// Works off what has changed so far.
    func deliver()
}

extension UnsavedChangeFollower {
    /// A model is changed for the first time since the last save.
    func watch(_ model: any PersistentModel) { watch(model, comesOrGoes: false) }
}
