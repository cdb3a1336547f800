#if SQLite
public import MortiseCore

extension SQLiteConfiguration: RecognizableConfiguration {
    /// Whether the file is a database of SQLite; opening it says whether it is one of a store.
    public static func recognizes(_ beginning: [UInt8]) -> Bool { beginning.starts(with: "SQLite format 3\0".utf8) }
}
#endif
