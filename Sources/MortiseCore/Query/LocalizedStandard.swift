public import Foundation

// What Foundation offers on Apple platforms only, so that predicates and sort orders written there compile here.

#if !canImport(Darwin)
extension PredicateExpressions {
    /// Whether a string holds another as people search: case, diacritics and width are of no matter.
    public struct StringLocalizedStandardContains<
        Root: PredicateExpression, Other: PredicateExpression
    >: PredicateExpression where Root.Output: StringProtocol, Other.Output: StringProtocol {
        public typealias Output = Bool

        public let root: Root
        public let other: Other

        public init(root: Root, other: Other) {
            self.root = root
            self.other = other
        }

        public func evaluate(_ bindings: PredicateBindings) throws -> Bool {
            TextSearch.localizedStandardContains(
                String(try root.evaluate(bindings)), String(try other.evaluate(bindings)))
        }
    }

    /// What `#Predicate` makes of `localizedStandardContains(_:)`.
    public static func build_localizedStandardContains<Root, Other>(
        _ root: Root, _ other: Other
    ) -> StringLocalizedStandardContains<Root, Other> { StringLocalizedStandardContains(root: root, other: other) }
}

extension PredicateExpressions.StringLocalizedStandardContains: StandardPredicateExpression
where Root: StandardPredicateExpression, Other: StandardPredicateExpression {}

extension PredicateExpressions.StringLocalizedStandardContains: Codable where Root: Codable, Other: Codable {}
extension PredicateExpressions.StringLocalizedStandardContains: Sendable where Root: Sendable, Other: Sendable {}

extension PredicateExpressions.StringLocalizedStandardContains: LowerableExpression {
    func lowered(_ lowering: inout Lowering) throws -> QueryExpression {
        .localizedStandardContains(try lowering.lower(root), try lowering.lower(other))
    }
}

/// Orders text for people: what `String.StandardComparator.localizedStandard` and `.localized` are on Apple platforms,
/// where Foundation has no such comparators. The collation is that of this platform's `localizedStandardCompare(_:)`.
public struct LocalizedStringComparator: SortComparator, Hashable, Sendable {
    public typealias Compared = String

    let form: StringOrder
    public var order: SortOrder = .forward

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
    /// As in a list of files: case and accents count last, digits by their value.
    public static var localizedStandard: LocalizedStringComparator { .init(form: .localizedStandard) }
    /// By the language's order, digit by digit.
    public static var localized: LocalizedStringComparator { .init(form: .localized) }
}

extension LocalizedStringComparator {
    /// As in a list of files: case and accents count last, digits by their value.
    public static var localizedStandard: LocalizedStringComparator { .init(form: .localizedStandard) }
    /// By the language's order, digit by digit.
    public static var localized: LocalizedStringComparator { .init(form: .localized) }
}

extension SortDescriptor {
    public init(_ keyPath: any KeyPath<Compared, String> & Sendable, comparator: LocalizedStringComparator) {
        self.init(keyPath, comparator: comparator, order: comparator.order)
    }
    public init(
        _ keyPath: any KeyPath<Compared, String> & Sendable, comparator: LocalizedStringComparator, order: SortOrder
    ) {
        // A key that orders itself, since Foundation's descriptors take no comparator but its own.
        switch comparator.form {
        case .localized: self.init(sendable(keyPath.appending(path: \.localizedSortKey)), order: order)
        default: self.init(sendable(keyPath.appending(path: \.localizedStandardSortKey)), order: order)
        }
    }

    public init(_ keyPath: any KeyPath<Compared, String?> & Sendable, comparator: LocalizedStringComparator) {
        self.init(keyPath, comparator: comparator, order: comparator.order)
    }
    /// Nil comes first, and last in reverse.
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

/// How the strings of a sort key compare, where it is not the order of Swift's strings.
public enum StringOrder: String, Sendable, Hashable, Codable {
    /// Foundation's comparison without options.
    case lexical
    case localized
    case localizedStandard

    public func compare(_ a: String, _ b: String) -> ComparisonResult {
        switch self {
        case .lexical: String.StandardComparator.lexical.compare(a, b)
        case .localized: a.localizedCompare(b)
        case .localizedStandard: a.localizedStandardCompare(b)
        }
    }
}
