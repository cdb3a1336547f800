import SwiftSyntax

/// How far a declaration is visible, as far as generated members must follow it.
struct AccessLevel {
    /// Put before a member that subclasses in other modules need not override; ends in a space or is empty.
    let member: String
    /// Put before a member that a subclass overrides; ends in a space or is empty.
    let overridable: String

    init(of modifiers: DeclModifierListSyntax) {
        if modifiers.contains(.open) {
            (member, overridable) = ("public ", "open ")
        } else if modifiers.contains(.public) {
            (member, overridable) = ("public ", "public ")
        } else if modifiers.contains(.package) {
            (member, overridable) = ("package ", "package ")
        } else {
            (member, overridable) = ("", "")
        }
    }
}
