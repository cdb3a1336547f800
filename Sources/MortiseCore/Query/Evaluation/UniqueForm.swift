import Foundation

// What uniqueness makes of a value. The keys of an engine's unique indexes say the same.

extension StoredValue {
    /// Whether a record with this value conflicts with no other: null, and a number or a date that is not a number, which is equal to
    /// nothing. A decimal that is not a number equals itself.
    package var isNeverUnique: Bool {
        switch self {
        case .null: true
        case .double(let value): value.isNaN
        case .float(let value): value.isNaN
        case .date(let value): value.timeIntervalSinceReferenceDate.isNaN
        default: false
        }
    }

    /// One form of all values that conflict with each other: both zeros, and URLs that lead to the same place.
    package var uniqueForm: StoredValue {
        switch self {
        case .float(let value) where value == 0: .float(0)
        case .double(let value) where value == 0: .double(0)
        case .date(let value) where value.timeIntervalSinceReferenceDate == 0:
            .date(Date(timeIntervalSinceReferenceDate: 0))
        case .url(let value): .string(value.absoluteString)
        default: self
        }
    }
}
