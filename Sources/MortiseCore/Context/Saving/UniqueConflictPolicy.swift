/// What a save does with a new model, the newcomer, whose unique values another one has: a stored record, or a model that was
/// inserted before it and is not saved yet.
///
/// Where the newcomer does not fail, one of the two survives: the older one. The newcomer becomes its alias, with the same
/// `persistentModelID` and without a context, and relationships of others that lead to the newcomer lead to the survivor. This is
/// looked at within the save, again whenever another context or process has saved in between.
///
/// Under every policy the save fails with `ModelContextError.notUnique`, which names both sides and the values, if a newcomer
/// conflicts with two others at once, if the older one is neither of its class nor of a subclass, and if a stored model that was
/// changed gets the values of another. Nil in any of the values conflicts with nothing.
///
/// A relationship is *set* in a model if it was set there by name, or got models in an initializer. What only follows from the other
/// side is not set: `Split(invoice: invoice)` sets nothing in the invoice. Nor is a list that an initializer left empty; set it to
/// `[]` afterwards to say that it has no members.
public enum UniqueConflictPolicy: String, Sendable, Hashable, Codable, CaseIterable {
    /// The older one takes the newcomer's values, nil included, except for defaults of a batch's records. Relationships it only
    /// gains: the members of to-many relationships are united, and a to-one relationship that is nil in the newcomer stays. So
    /// importing something again with fewer children leaves the old ones, and with new ones it has both.
    case update
    /// As `update`, but a relationship that is set in the newcomer takes the place of the older one's. What falls out of one whose
    /// delete rule is `cascade` is deleted, unless it has found another owner or has taken a newcomer's values itself. It stays where
    /// the relationship has no inverse: nothing says whether it has found another owner. Relationships that are not set in the
    /// newcomer are united as with `update`.
    case replace
    /// The older one stays as it is. Nothing that is set in the newcomer is taken: new models that it only brought along, by a
    /// relationship whose delete rule is `cascade` or that requires it, are not saved, nor what these brought along in that way, and
    /// stored models that it or they claimed stay where they were. What was set in others still leads to the older one.
    ///
    /// A new model is saved all the same, without the newcomer, if it was inserted by name, was set in a model that stays, took the
    /// values of another newcomer, or if its relationship has no inverse, so that nothing says whether others lead to it. One of these
    /// that requires the newcomer leads to the older one.
    case keep
    /// The save fails with `ModelContextError.notUnique`, which names the entity, the properties, the values, and the record that
    /// has them. Nothing is stored, and the context keeps its changes: correct a value, delete the newcomer or insert it with
    /// another policy, and save again.
    case fail
}
