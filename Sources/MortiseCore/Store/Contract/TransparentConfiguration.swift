public import Foundation

/// A configuration whose store shows what it keeps the way its storage has it: the bytes of a record, and answers to statements in the
/// storage's own language, such as SQL.
///
/// It is for tools that people look into a store with. Nothing here changes a store, or keeps its writers waiting for longer than a
/// fetch does.
public protocol TransparentConfiguration: DataStoreConfiguration {
    /// The name of the language of statements, such as "SQL"; nil, the default, for a store without one.
    var statementLanguage: String? { get }

    /// Runs one statement that changes nothing.
    ///
    /// The store has to make sure of that whatever the statement says, and to end it when its time is over.
    /// - Parameters:
    ///   - statement: one statement, as a person has typed it.
    ///   - limits: how long it may take, and how much of its answer is wanted.
    /// - Returns: the answer, or where `limits.showsPlan` is true what the storage would do.
    /// - Throws: `StatementError`; the adapter's errors for a store that cannot be opened or read.
    func answer(toStatement statement: String, within limits: StatementLimits) throws -> StatementAnswer

    /// What the storage has of a record, as bytes: the columns of a row, or the parts of files.
    /// - Parameters:
    ///   - record: the identifier of a record of this store.
    ///   - limit: how many bytes of each part are wanted.
    /// - Returns: the parts, the oldest first where a file keeps several states of a record; empty for a record that is not there, and
    ///   by default.
    /// - Throws: the adapter's errors for a store that cannot be read.
    func storedParts(of record: PersistentIdentifier, limit: Int) throws -> [StoredPart]
}

extension TransparentConfiguration {
    /// Nil: the storage has no language.
    public var statementLanguage: String? { nil }
    /// - Throws: `StatementError.noLanguage`.
    public func answer(toStatement statement: String, within limits: StatementLimits) throws -> StatementAnswer {
        throw StatementError.noLanguage
    }
    /// Empty: the storage does not tell.
    public func storedParts(of record: PersistentIdentifier, limit: Int) throws -> [StoredPart] { [] }
}

/// How long a statement may take, and how much of its answer is wanted.
public struct StatementLimits: Sendable, Hashable {
    /// After how long a statement is ended.
    public var time: Duration
    /// How many rows are read at most.
    public var rows: Int
    /// How many bytes of a text or of data are read at most.
    public var bytes: Int
    /// Whether the statement is not run, and its plan is the answer.
    public var showsPlan: Bool

    /// Describes limits.
    public init(time: Duration = .seconds(5), rows: Int = 500, bytes: Int = 4_096, showsPlan: Bool = false) {
        self.time = time
        self.rows = rows
        self.bytes = bytes
        self.showsPlan = showsPlan
    }
}

/// What a storage answers to a statement.
public struct StatementAnswer: Sendable, Hashable {
    /// A value in a row.
    public struct Value: Sendable, Hashable {
        /// The value, cut to the limit of bytes.
        public let value: StoredValue
        /// How many bytes a text or data has in all; 0 for anything else.
        public let byteCount: Int

        /// Describes a value.
        public init(_ value: StoredValue, byteCount: Int = 0) {
            self.value = value
            self.byteCount = byteCount
        }
    }

    /// The names of the columns, which need not differ.
    public var columns: [String]
    /// The rows, each with one value for each column.
    public var rows: [[Value]]
    /// Whether there are more rows than the limit.
    public var hasMore: Bool

    /// Describes an answer.
    public init(columns: [String], rows: [[Value]] = [], hasMore: Bool = false) {
        self.columns = columns
        self.rows = rows
        self.hasMore = hasMore
    }
}

/// A part of what a storage has of a record.
public struct StoredPart: Sendable, Hashable {
    /// The part, such as a column's name or "transaction 12, inserted".
    public let name: String
    /// The file or the table that has it.
    public let place: String
    /// Where the part begins in the file; nil where the storage alone knows.
    public let offset: Int64?
    /// What the storage takes the bytes for, such as "TEXT"; empty where it has no kinds.
    public let kind: String
    /// The bytes, up to the limit.
    public let bytes: Data
    /// How many bytes the part has in all.
    public let byteCount: Int64

    /// Describes a part.
    public init(name: String, place: String, offset: Int64? = nil, kind: String = "", bytes: Data, byteCount: Int64) {
        self.name = name
        self.place = place
        self.offset = offset
        self.kind = kind
        self.bytes = bytes
        self.byteCount = byteCount
    }
}

/// Why a statement has no answer. Nothing has changed.
public enum StatementError: ClassifiedStoreError, Hashable {
    /// The store has no language for statements.
    case noLanguage
    /// The text has no statement, or more than one.
    case notOne
    /// The statement would change something, or reach beyond the store.
    case notReadOnly
    /// The storage does not understand the statement, or cannot carry it out: its own words.
    case refused(message: String)
    /// The statement took longer than this.
    case tookTooLong(Duration)

    /// What is wrong with the statement, and the way out.
    public var description: String {
        switch self {
        case .noLanguage: "This kind of store has no language of its own. Ask it with a predicate."
        case .notOne: "Expected one statement. Remove the others, and what follows the semicolon."
        case .notReadOnly:
            "Only statements that read this store are run here, such as SELECT. Change records with a program of their models."
        case .refused(let message): "The statement was refused: \(message)."
        case .tookTooLong(let time):
            "The statement took longer than \(time) and was ended. Ask for less, or use a column that has an index."
        }
    }

    /// `unsupported` for a store without a language, otherwise `usage`.
    public var errorClass: StoreErrorClass { self == .noLanguage ? .unsupported : .usage }
}
