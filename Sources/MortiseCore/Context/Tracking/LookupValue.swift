import Foundation

/// An attribute's value as a key: what `ValueSemantics.areEqual` holds for has equal keys. Other values may have them, too.
struct LookupValue: Hashable {
    private let value: StoredValue

    init(_ value: StoredValue) {
        self.value =
            switch value {
            // -0.0 equals 0.0, in dates as well.
            case .double(let number) where number == 0: .double(0)
            case .float(let number) where number == 0: .float(0)
            case .date(let date) where date.timeIntervalSinceReferenceDate == 0: .double(0)
            // Equal decimals may differ in digits and exponent, and Foundation's hash goes by way of a Double.
            case .decimal(let number): .string(DecimalText.text(of: number))
            default: value
            }
    }

    /// Whether values of a kind can be looked up. Composite values compare by their type's own code, and data may be outside of
    /// the record, where reading costs more than comparing.
    static func isMade(of kind: StorageKind) -> Bool { kind != .coded && kind != .data }
}
