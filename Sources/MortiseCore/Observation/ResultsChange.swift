public import Foundation

/// The difference between two states of a live result: what turns the old one into the new one.
///
/// Positions count from 0, in the old or in the new result as each list says. Removing `removed` and the old positions of `moved`
/// and then putting `inserted` and `moved` at their new positions, in ascending order, gives the new result; `applied(to:element:)`
/// does so. All other rows keep their order. An identifier is in one of the four lists at most, and only rows are named whose records
/// have changed, or that a limit has let in or out. As few as possible of those are `moved`; a row that changes its section is.
public struct ResultsChange: Sendable, Hashable {
    /// A row that came or went.
    public struct Row: Sendable, Hashable {
        /// The position in the one result that has the row.
        public let index: Int
        /// The row's record.
        public let identifier: PersistentIdentifier

        /// Makes a row of a change.
        public init(index: Int, identifier: PersistentIdentifier) {
            self.index = index
            self.identifier = identifier
        }
    }

    /// A row that is in both results.
    public struct Change: Sendable, Hashable {
        /// The position in the old result.
        public let old: Int
        /// The position in the new result.
        public let new: Int
        /// The row's record, as the new result names it.
        public let identifier: PersistentIdentifier
        /// Whether the record has changed; false if only the row's place has.
        public let isChanged: Bool
        /// The names of the properties that have changed, in alphabetical order. Empty if the record has not changed, or if any
        /// property may have: a row that left the result and came back is not known meanwhile.
        public let properties: [String]

        /// Makes a row of a change.
        public init(
            old: Int, new: Int, identifier: PersistentIdentifier, isChanged: Bool = true, properties: [String] = []
        ) {
            self.old = old
            self.new = new
            self.identifier = identifier
            self.isChanged = isChanged
            self.properties = properties
        }
    }

    /// A section that came or went.
    public struct SectionChange: Sendable, Hashable {
        /// The number of the section in the one result that has it.
        public let index: Int
        /// The title of the section.
        public let title: String

        /// Makes a section of a change.
        public init(index: Int, title: String) {
            self.index = index
            self.title = title
        }
    }

    /// A record that was saved for the first time: its row is the same, under another identifier.
    public struct Renaming: Sendable, Hashable {
        /// The temporary identifier, under which the old result knows the row.
        public let temporary: PersistentIdentifier
        /// The identifier that the save has given.
        public let permanent: PersistentIdentifier

        /// Makes a pair of identifiers.
        public init(temporary: PersistentIdentifier, permanent: PersistentIdentifier) {
            self.temporary = temporary
            self.permanent = permanent
        }
    }

    /// One of the two results that a change is between.
    public enum Side: Sendable, Hashable {
        /// The result before the change.
        case old
        /// The result after it.
        case new
    }

    /// The rows that are in the old result only, ascending by their position there.
    public let removed: [Row]
    /// The rows that are in the new result only, ascending by their position there.
    public let inserted: [Row]
    /// The rows that change their place among the others, ascending by their new position.
    public let moved: [Change]
    /// The rows whose records have changed and that keep their place among the others, ascending by their new position.
    public let updated: [Change]
    /// The sections that are in the old result only, ascending.
    public let removedSections: [SectionChange]
    /// The sections that are in the new result only, ascending.
    public let insertedSections: [SectionChange]
    /// The new results' rows that were saved for the first time. They are named nowhere else for that.
    public let renamed: [Renaming]
    /// Whether the new result takes the place of the old one as a whole. The lists are empty then, and `contents` has the rows.
    public var isReset: Bool { contents != nil }
    /// All identifiers of the new result, read as they are asked for; nil unless the change is a reset.
    public let contents: ResultsContents?
    /// How many rows the old result has.
    public let oldCount: Int
    /// How many rows the new result has.
    public let newCount: Int
    /// The versions that made the change, by the identifier of the store; empty for unsaved changes, and where the store does not
    /// number its versions.
    public let versions: [String: ClosedRange<UInt64>]
    /// The sections of the two results; nil for results without sections.
    let oldSections: SectionRuns?
    let newSections: SectionRuns?

    init(
        removed: [Row] = [], inserted: [Row] = [], moved: [Change] = [], updated: [Change] = [],
        sections: SectionDifference = SectionDifference(), renamed: [Renaming] = [], contents: ResultsContents? = nil,
        oldCount: Int, newCount: Int, versions: [String: ClosedRange<UInt64>] = [:]
    ) {
        self.removed = removed
        self.inserted = inserted
        self.moved = moved
        self.updated = updated
        removedSections = sections.removed
        insertedSections = sections.inserted
        oldSections = sections.old
        newSections = sections.new
        self.renamed = renamed
        self.contents = contents
        self.oldCount = oldCount
        self.newCount = newCount
        self.versions = versions
    }

    /// Whether the two results have the same rows in the same order, and nothing is known to have changed in them.
    public var isEmpty: Bool { !isReset && rowCount == 0 && renamed.isEmpty && !changesSections }

    var changesSections: Bool { !removedSections.isEmpty || !insertedSections.isEmpty }
    /// How many rows are named.
    var rowCount: Int { removed.count + inserted.count + moved.count + updated.count }

    /// A position as section and item. Results without sections have one section.
    /// - Parameters:
    ///   - index: a position in the result.
    ///   - side: which result.
    /// - Returns: an index path of length 2; an empty one for a position that the result does not have.
    public func path(of index: Int, in side: Side) -> IndexPath {
        guard index >= 0, index < (side == .old ? oldCount : newCount) else { return IndexPath() }
        guard let sections = side == .old ? oldSections : newSections else { return [0, index] }
        guard let section = sections.section(of: index) else { return IndexPath() }
        return [section, index - sections.starts[section]]
    }

    /// The new result, made of the old one.
    /// - Parameters:
    ///   - old: an element for each row of the old result.
    ///   - element: makes the element of a row that the old result does not have.
    /// - Returns: an element for each row of the new result; the old ones if there are not `oldCount` of them.
    /// - Throws: what the closure throws.
    public func applied<T>(to old: [T], element: (PersistentIdentifier) throws -> T) rethrows -> [T] {
        if let contents { return try contents.map(element) }
        guard old.count == oldCount else { return old }
        if rowCount == updated.count { return old }
        var gone = Set(removed.map(\.index))
        gone.formUnion(moved.lazy.map(\.old))
        var kept = old.indices.lazy.filter { !gone.contains($0) }.makeIterator()
        var new: [T] = []
        new.reserveCapacity(newCount)
        var (nextInserted, nextMoved) = (0, 0)
        while new.count < newCount {
            if nextInserted < inserted.count, inserted[nextInserted].index == new.count {
                new.append(try element(inserted[nextInserted].identifier))
                nextInserted += 1
            } else if nextMoved < moved.count, moved[nextMoved].new == new.count {
                new.append(old[moved[nextMoved].old])
                nextMoved += 1
            } else if let place = kept.next() {
                new.append(old[place])
            } else {
                return new
            }
        }
        return new
    }
}

/// How the sections of two results differ, and what they are.
struct SectionDifference {
    var removed: [ResultsChange.SectionChange] = []
    var inserted: [ResultsChange.SectionChange] = []
    var old: SectionRuns?
    var new: SectionRuns?
}

/// The identifiers of a result as it was when the value was made, whatever has changed since.
///
/// They are read as they are asked for, on any thread.
public struct ResultsContents: RandomAccessCollection, Sendable, Hashable {
    /// How many there are.
    public let endIndex: Int
    private let read: @Sendable (Int) -> PersistentIdentifier

    init(count: Int, _ read: @escaping @Sendable (Int) -> PersistentIdentifier) {
        endIndex = count
        self.read = read
    }

    /// Always 0.
    public var startIndex: Int { 0 }

    /// The identifier of the row at a position.
    /// - Precondition: `position` is at least 0 and less than `endIndex`.
    public subscript(position: Int) -> PersistentIdentifier {
        precondition(position >= 0 && position < endIndex, "Index \(position) is out of range 0..<\(endIndex).")
        return read(position)
    }

    /// Whether both have the same identifiers in the same order.
    public static func == (a: ResultsContents, b: ResultsContents) -> Bool { a.elementsEqual(b) }

    /// Hashes the number of identifiers.
    public func hash(into hasher: inout Hasher) { hasher.combine(endIndex) }
}
