/// An expression of SQL as a value, which text is made of (`SQLText`) and which tests can evaluate without a database.
///
/// Conditions have three values, as in SQL: a comparison with null is null, and a condition selects what it is true for.
package indirect enum SQLExpression: Sendable, Hashable {
    /// A value that the statement is given: the text has a place for it.
    case value(SQLValue)
    /// A condition that always holds, or never.
    case truth(Bool)
    /// A column of one of the tables that the statement reads, by the number of the table.
    case column(table: Int, name: String)
    /// Null where an operand is.
    case compare(Comparison, SQLExpression, SQLExpression)
    /// Whether two values are equal, where null equals null.
    case isSame(SQLExpression, SQLExpression)
    /// Whether two values differ, where null equals null.
    case isDifferent(SQLExpression, SQLExpression)
    /// Whether the value is null.
    case isNull(SQLExpression)
    /// Whether the value is not null.
    case isNotNull(SQLExpression)
    /// Whether a number is NaN; null for null.
    case isNaN(SQLExpression)
    /// Whether a number is not NaN; null for null.
    case isNumber(SQLExpression)
    /// Whether the value is one of some that are not null; null for null.
    case isIn(SQLExpression, [SQLValue])
    /// Whether the value differs from all of some that are not null; null for null.
    case isNotIn(SQLExpression, [SQLValue])
    /// Whether a number of an entity is one of some; null for null. The text has these as they are, since they are the schema's: what a
    /// database is given later does not lead it to an index of some entities alone.
    case isAmong(SQLExpression, [Int])
    /// Whether a text contains another, byte by byte; null for null.
    case hasPart(SQLExpression, SQLExpression)
    /// Whether all hold.
    case and([SQLExpression])
    /// Whether one holds.
    case or([SQLExpression])
    /// The second value where the condition is true, else the third, or null without one.
    case choose(SQLExpression, SQLExpression, SQLExpression?)
    /// The first value unless it is null, else the second.
    case coalesce(SQLExpression, SQLExpression)
    /// Whether there is a row, or none.
    case exists(SQLSelection, isNegated: Bool)
    /// The number of rows.
    case count(SQLSelection)

    /// The operators of comparison.
    package enum Comparison: String, Sendable, Hashable {
        /// The operators of comparison.
        case equal = "="
        case unequal = "<>"
        case less = "<"
        case lessOrEqual = "<="
        case greater = ">"
        case greaterOrEqual = ">="
    }
}

/// Rows of tables for which a condition holds.
package struct SQLSelection: Sendable, Hashable {
    /// A table that a statement reads.
    package struct Table: Sendable, Hashable {
        /// The number by which columns name the table.
        package let number: Int
        /// The table's name in the database.
        package let name: String
        /// What its rows have to do with those of the tables before. Each row of these comes once at least, with nulls where the
        /// condition holds for no row. Nil for the first table.
        package let joined: SQLExpression?

        package init(number: Int, name: String, joined: SQLExpression? = nil) {
            self.number = number
            self.name = name
            self.joined = joined
        }
    }

    /// The tables; at least one.
    package var tables: [Table]
    /// What the rows fulfil.
    package var condition: SQLExpression

    package init(tables: [Table], condition: SQLExpression) {
        self.tables = tables
        self.condition = condition
    }
}
