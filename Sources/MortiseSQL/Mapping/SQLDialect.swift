/// The database that statements and columns are made for, where databases differ.
package enum SQLDialect: Sendable, Hashable {
    /// SQLite: columns hold values of any sort, and Booleans are numbers.
    case sqlite
    /// PostgreSQL: columns have types, and values of statements are given with theirs.
    case postgreSQL
}
