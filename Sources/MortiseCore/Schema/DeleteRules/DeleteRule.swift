extension Schema.Relationship {
    /// What happens to the models at the other end when the owner is deleted.
    public enum DeleteRule: String, Codable, Sendable {
        /// Nothing. Saving then fails if one of them still refers to the deleted model.
        case noAction
        /// Their reference to the owner is cleared.
        case nullify
        /// They are deleted with the owner.
        case cascade
        /// Saving fails while the relationship has models.
        case deny
    }
}

// What a rule comes to. RelationshipEditor carries it out for models, and ContextState for records that no model was made of.

extension Schema.Relationship.DeleteRule {
    /// Every rule, in the order in which messages name them.
    package static let all: [Self] = [.noAction, .nullify, .cascade, .deny]

    /// Whether the related models are deleted with the owner.
    package var deletesRelated: Bool { self == .cascade }

    /// Whether related models that stay keep their references to an owner that is stored, so that the save finds them.
    var keepsReferences: Bool {
        switch self {
        case .noAction, .deny: true
        case .nullify, .cascade: false
        }
    }

    /// Whether related models stay, and their references to the owner are cleared, whatever is stored.
    var onlyClearsReferences: Bool { !deletesRelated && !keepsReferences }

    /// Whether the owner stays as long as it has related models, whether or not they refer to it.
    var refusesDeletion: Bool { self == .deny }
}
