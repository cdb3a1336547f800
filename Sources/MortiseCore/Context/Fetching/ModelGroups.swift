/// Models that have their keys in common, and what was calculated of them.
public struct ModelGroup<Key, Values> {
    /// The key; a tuple of several.
    public let key: Key
    /// The results; a tuple of several.
    public let values: Values
}

extension ModelGroup: Sendable where Key: Sendable, Values: Sendable {}

/// The groups of an aggregation, in order: what `ModelContext.groups` returns.
///
/// A collection of its own, because Swift 6.1 to 6.3 cannot tell the type of an expression such as `print(groups.count)` where
/// the groups are an array whose elements have parameter packs.
public struct ModelGroups<Key, Values>: RandomAccessCollection {
    private let all: [ModelGroup<Key, Values>]

    init(_ all: [ModelGroup<Key, Values>]) { self.all = all }

    /// 0.
    public var startIndex: Int { 0 }
    /// The number of groups.
    public var endIndex: Int { all.count }
    /// The group at a place from 0.
    public subscript(position: Int) -> ModelGroup<Key, Values> { all[position] }
}

extension ModelGroups: Sendable where Key: Sendable, Values: Sendable {}
