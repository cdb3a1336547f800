import Foundation
import MortiseCore

extension ConformanceCase {
    private static func limits<I: FixedWidthInteger & Sendable>(
        _ type: I.Type, _ property: @escaping @Sendable () -> ReferenceWritableKeyPath<ValueSample, I>
    ) -> ConformanceCase {
        let name = "\(type)"
        let values: [I] = [.min, .min + 1, 0, 1, .max / 2, .max / 2 + 1, .max - 1, .max]
        return ConformanceCase(
            "limits.\(name)".lowercased(), level: .core,
            requirement: "\(name) comes back from its smallest to its largest value.",
            hint: "The number is kept in a narrower type, or the smallest value means nil."
        ) { c in
            try c.roundTrip(
                values, of: property(), name,
                make: ValueSample.init)
        }
    }

    static let limitCases: [ConformanceCase] = [
        limits(Int8.self) { \.tiny }, limits(Int16.self) { \.small }, limits(Int32.self) { \.medium },
        limits(Int64.self) { \.large }, limits(Int.self) { \.whole }, limits(UInt8.self) { \.byte },
        limits(UInt16.self) { \.word }, limits(UInt32.self) { \.half }, limits(UInt64.self) { \.wide },
    ]

    /// nil, a value, and what a store without null flags would keep for nil.
    private static func optional<Value: Sendable>(
        _ kind: String, zero: Value, value: Value,
        _ property: @escaping @Sendable () -> ReferenceWritableKeyPath<OptionalSample, Value?>
    ) -> ConformanceCase {
        ConformanceCase(
            "optionals.\(kind)", level: .full,
            requirement: "An optional \(kind) tells nil from zero or empty, and can be set and cleared by updates.",
            hint: "The kind has no null, or a null in an update is read as \"not changed\"."
        ) { c in
            try c.rewrite([nil, zero, nil, value, zero, nil], of: property(), kind) { OptionalSample(label: "x") }
        }
    }

    static let optionalKindCases: [ConformanceCase] = [
        optional("bool", zero: false, value: true) { \.flag },
        optional("int", zero: 0, value: -7) { \.whole },
        optional("uint64", zero: 0, value: .max) { \.wide },
        optional("float", zero: 0, value: 1.5) { \.single },
        optional("double", zero: 0, value: -2.5) { \.real },
        optional("decimal", zero: 0, value: 12.5) { \.amount },
        optional("string", zero: "", value: "text") { \.text },
        optional("data", zero: Data(), value: Data([1, 0])) { \.bytes },
        optional(
            "date", zero: Date(timeIntervalSinceReferenceDate: 0), value: Date(timeIntervalSinceReferenceDate: 1e9)
        ) { \.moment },
        optional(
            "uuid", zero: UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)),
            value: UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16))
        ) { \.token },
        optional("enum", zero: .normal, value: .high) { \.priority },
        optional("struct", zero: Place(name: "", latitude: 0), value: Place(name: "p", latitude: 1)) { \.place },
        optional("array", zero: [], value: ["a", ""]) { \.words },
        optional("dictionary", zero: [:], value: ["a": 0]) { \.scores },
    ]
}
