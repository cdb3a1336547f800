public import Foundation

// What Foundation offers on Apple platforms only, so that predicates and sort orders written there compile here.

#if !canImport(Darwin)
extension PredicateExpressions {
    /// Whether a text contains another, ignoring case, diacritics and width.
    public struct StringLocalizedStandardContains<
        Root: PredicateExpression, Other: PredicateExpression
    >: PredicateExpression where Root.Output: StringProtocol, Other.Output: StringProtocol {
        /// Whether the text contains the other.
        public typealias Output = Bool

        /// The text that is searched.
        public let root: Root
        /// The text to search for.
        public let other: Other

        /// Makes the expression `root.localizedStandardContains(other)`.
        public init(root: Root, other: Other) {
            self.root = root
            self.other = other
        }

        /// Searches ignoring case, diacritics and width.
        /// - Throws: what evaluating the two texts throws.
        public func evaluate(_ bindings: PredicateBindings) throws -> Bool {
            TextSearch.localizedStandardContains(
                String(try root.evaluate(bindings)), String(try other.evaluate(bindings)))
        }
    }

    /// Used by `#Predicate` for `localizedStandardContains(_:)`.
    public static func build_localizedStandardContains<Root, Other>(
        _ root: Root, _ other: Other
    ) -> StringLocalizedStandardContains<Root, Other> { StringLocalizedStandardContains(root: root, other: other) }
}

extension PredicateExpressions.StringLocalizedStandardContains: StandardPredicateExpression
where Root: StandardPredicateExpression, Other: StandardPredicateExpression {}

extension PredicateExpressions.StringLocalizedStandardContains: Codable where Root: Codable, Other: Codable {}
extension PredicateExpressions.StringLocalizedStandardContains: Sendable where Root: Sendable, Other: Sendable {}

extension PredicateExpressions.StringLocalizedStandardContains: LowerableExpression
where Root: LowerableExpression, Other: LowerableExpression {
    func lowered(_ lowering: inout Lowering) throws -> QueryExpression {
        .localizedStandardContains(try root.lowered(&lowering), try other.lowered(&lowering))
    }
}

/// Orders text for people, like `String.StandardComparator.localizedStandard` and `.localized` on Apple platforms, for
/// platforms whose Foundation lacks them. The collation is that of this platform's `localizedStandardCompare(_:)`.
public struct LocalizedStringComparator: SortComparator, Hashable, Sendable {
    /// Strings.
    public typealias Compared = String

    let form: StringOrder
    /// Whether smaller strings come first (`forward`).
    public var order: SortOrder = .forward

    /// Compares two strings by this comparator's rules, in its `order`.
    public func compare(_ lhs: String, _ rhs: String) -> ComparisonResult {
        let forward = form.compare(lhs, rhs)
        guard order == .reverse else { return forward }
        switch forward {
        case .orderedAscending: return .orderedDescending
        case .orderedDescending: return .orderedAscending
        case .orderedSame: return .orderedSame
        }
    }
}

extension SortComparator where Self == LocalizedStringComparator {
    /// The order of a list of files: case and accents matter least, and digits compare by their numeric value.
    public static var localizedStandard: LocalizedStringComparator { .init(form: .localizedStandard) }
    /// The order of the language, digit by digit.
    public static var localized: LocalizedStringComparator { .init(form: .localized) }
}

extension LocalizedStringComparator {
    /// The order of a list of files: case and accents matter least, and digits compare by their numeric value.
    public static var localizedStandard: LocalizedStringComparator { .init(form: .localizedStandard) }
    /// The order of the language, digit by digit.
    public static var localized: LocalizedStringComparator { .init(form: .localized) }
}

extension SortDescriptor {
    /// Sorts by a string property with a localized comparison.
    public init(_ keyPath: any KeyPath<Compared, String> & Sendable, comparator: LocalizedStringComparator) {
        self.init(keyPath, comparator: comparator, order: comparator.order)
    }
    /// Sorts by a string property with a localized comparison, in the given order.
    public init(
        _ keyPath: any KeyPath<Compared, String> & Sendable, comparator: LocalizedStringComparator, order: SortOrder
    ) {
        // A key that orders itself, since Foundation's descriptors take no comparator but its own.
        switch comparator.form {
        case .localized: self.init(sendable(keyPath.appending(path: \.localizedSortKey)), order: order)
        default: self.init(sendable(keyPath.appending(path: \.localizedStandardSortKey)), order: order)
        }
    }

    /// Sorts by an optional string property with a localized comparison; nil comes first.
    public init(_ keyPath: any KeyPath<Compared, String?> & Sendable, comparator: LocalizedStringComparator) {
        self.init(keyPath, comparator: comparator, order: comparator.order)
    }
    /// Sorts by an optional string property with a localized comparison, in the given order; nil comes first, and last
    /// in reverse.
    public init(
        _ keyPath: any KeyPath<Compared, String?> & Sendable, comparator: LocalizedStringComparator, order: SortOrder
    ) {
        switch comparator.form {
        case .localized: self.init(sendable(keyPath.appending(path: \.localizedSortKey)), order: order)
        default: self.init(sendable(keyPath.appending(path: \.localizedStandardSortKey)), order: order)
        }
    }
}

/// A key path put together from two that are sendable is so too; appending loses the mark, which has no run-time form.
private func sendable<Root, Value>(_ path: KeyPath<Root, Value>) -> any KeyPath<Root, Value> & Sendable {
    unsafeBitCast(path, to: (any KeyPath<Root, Value> & Sendable).self)
}
#endif

extension String {
    var localizedStandardSortKey: LocalizedStandardSortKey { LocalizedStandardSortKey(text: self) }
    var localizedSortKey: LocalizedSortKey { LocalizedSortKey(text: self) }
}

extension String? {
    var localizedStandardSortKey: LocalizedStandardSortKey? { map { LocalizedStandardSortKey(text: $0) } }
    var localizedSortKey: LocalizedSortKey? { map { LocalizedSortKey(text: $0) } }
}

struct LocalizedStandardSortKey: Comparable, Sendable {
    let text: String
    static func < (lhs: Self, rhs: Self) -> Bool {
        StringOrder.localizedStandard.compare(lhs.text, rhs.text) == .orderedAscending
    }
}

struct LocalizedSortKey: Comparable, Sendable {
    let text: String
    static func < (lhs: Self, rhs: Self) -> Bool {
        StringOrder.localized.compare(lhs.text, rhs.text) == .orderedAscending
    }
}

/// How the strings of a sort key compare, if not in Swift's order of strings.
public enum StringOrder: String, Sendable, Hashable, Codable {
    /// Foundation's comparison without options.
    case lexical
    /// The locale's collation.
    case localized
    /// The locale's collation with numbers in text compared as numbers.
    case localizedStandard

    /// Compares two strings by this order's rules, ascending.
    public func compare(_ a: String, _ b: String) -> ComparisonResult {
        switch self {
        case .lexical: String.StandardComparator.lexical.compare(a, b)
        case .localized: a.localizedCompare(b)
        case .localizedStandard: a.localizedStandardCompare(b)
        }
    }
}
