/// The regions of a packed table in its file.
public struct PackedTable: Hashable, Sendable {
    /// The entity's number in the schema.
    public var entity: Int
    /// One more than the highest row, and how many rows there are.
    public var endRow: UInt64
    /// How many rows hold a record.
    public var count: UInt64
    /// The rows, 256 in each chunk but the last.
    public var chunks: [Chunk] = []
    /// The dictionaries of coded strings that are not empty.
    public var dictionaries: [Dictionary] = []
    /// The sets of links that are not empty.
    public var links: [Tree] = []
    /// The indexes, in the order of the entity's definitions.
    public var indexes: [Tree] = []

    /// A run of adjacent rows.
    public struct Chunk: Hashable, Sendable {
        /// Where the chunk lies.
        public var region: PackedRegion
        /// The number of the first row.
        public var firstSequence: UInt64

        /// Describes a chunk.
        public init(region: PackedRegion, firstSequence: UInt64) {
            self.region = region
            self.firstSequence = firstSequence
        }
    }

    /// The strings that a slot's codes represent.
    public struct Dictionary: Hashable, Sendable {
        /// The slot whose strings these are.
        public var slot: Int
        /// The number of strings.
        public var count: Int
        /// Where the strings lie.
        public var region: PackedRegion

        /// Describes a dictionary.
        public init(slot: Int, count: Int, region: PackedRegion) {
            self.slot = slot
            self.count = count
            self.region = region
        }
    }

    /// An index or a set of links.
    public struct Tree: Hashable, Sendable {
        /// The slots of an index; for links, the number of their set.
        public var slots: [Int]
        /// Whether nodes keep 16 bytes of each key instead of 8.
        public var isWide: Bool
        /// The number of entries.
        public var count: UInt64
        /// The number of levels beneath the root.
        public var level: Int
        /// The region of the root; nil if the tree is empty.
        public var root: PackedRegion?

        /// Describes a tree.
        public init(slots: [Int], isWide: Bool, count: UInt64, level: Int, root: PackedRegion?) {
            self.slots = slots
            self.isWide = isWide
            self.count = count
            self.level = level
            self.root = root
        }
    }

    /// Describes a table without chunks.
    public init(entity: Int, endRow: UInt64, count: UInt64) {
        self.entity = entity
        self.endRow = endRow
        self.count = count
    }

    /// The form of index keys and nodes that this library writes; 2 since nodes are narrow. Indexes of a form that is
    /// not readable are not unpacked.
    public static let keyForm: UInt32 = 2
    /// The forms of keys that this library reads.
    public static let readableKeyForms: ClosedRange<UInt32> = 1...3
    /// The form of a version with external data; otherwise the same as form 2.
    public static let keyFormOfReferences: UInt32 = 3
}
