/// How the numbers of a column's form lie in a chunk.
protocol NumberBits {
    associatedtype Bits: BitwiseCopyable
    associatedtype Number: Comparable
    static func number(_ bits: Bits) -> Number
}

enum Int8Bits: NumberBits {
    @inline(__always) static func number(_ bits: Int8) -> Int64 { Int64(bits) }
}
enum Int16Bits: NumberBits {
    @inline(__always) static func number(_ bits: Int16) -> Int64 { Int64(Int16(littleEndian: bits)) }
}
enum Int32Bits: NumberBits {
    @inline(__always) static func number(_ bits: Int32) -> Int64 { Int64(Int32(littleEndian: bits)) }
}
enum Int64Bits: NumberBits {
    @inline(__always) static func number(_ bits: Int64) -> Int64 { Int64(littleEndian: bits) }
}
enum UInt8Bits: NumberBits {
    @inline(__always) static func number(_ bits: UInt8) -> Int64 { Int64(bits) }
}
enum UInt16Bits: NumberBits {
    @inline(__always) static func number(_ bits: UInt16) -> Int64 { Int64(UInt16(littleEndian: bits)) }
}
enum UInt32Bits: NumberBits {
    @inline(__always) static func number(_ bits: UInt32) -> Int64 { Int64(UInt32(littleEndian: bits)) }
}
enum UInt64Bits: NumberBits {
    @inline(__always) static func number(_ bits: UInt64) -> UInt64 { UInt64(littleEndian: bits) }
}
enum FloatBits: NumberBits {
    @inline(__always) static func number(_ bits: UInt32) -> Float { Float(bitPattern: UInt32(littleEndian: bits)) }
}
enum DoubleBits: NumberBits {
    @inline(__always) static func number(_ bits: UInt64) -> Double { Double(bitPattern: UInt64(littleEndian: bits)) }
}
enum DateBits: NumberBits {
    @inline(__always) static func number(_ bits: UInt64) -> Instant {
        Instant(interval: Double(bitPattern: UInt64(littleEndian: bits)))
    }
}

/// A date's interval, compared as `Date` compares: one that is NaN is neither before nor after another, so that `<=`
/// and `>=` hold.
struct Instant: Comparable, Hashable {
    let interval: Double
    @inline(__always) static func == (a: Instant, b: Instant) -> Bool { a.interval == b.interval }
    func hash(into hasher: inout Hasher) { hasher.combine(interval) }
    @inline(__always) static func < (a: Instant, b: Instant) -> Bool { a.interval < b.interval }
    @inline(__always) static func <= (a: Instant, b: Instant) -> Bool { !(b.interval < a.interval) }
    @inline(__always) static func > (a: Instant, b: Instant) -> Bool { b.interval < a.interval }
    @inline(__always) static func >= (a: Instant, b: Instant) -> Bool { !(a.interval < b.interval) }
}

/// An operator as a type. Each is the number type's own, since `a <= b` is not everywhere `a < b || a == b`.
protocol NumberOperator {
    static func holds<Number: Comparable>(_ a: Number, _ b: Number) -> Bool
}

enum Equal: NumberOperator {
    @inline(__always) static func holds<Number: Comparable>(_ a: Number, _ b: Number) -> Bool { a == b }
}
enum Less: NumberOperator {
    @inline(__always) static func holds<Number: Comparable>(_ a: Number, _ b: Number) -> Bool { a < b }
}
enum LessOrEqual: NumberOperator {
    @inline(__always) static func holds<Number: Comparable>(_ a: Number, _ b: Number) -> Bool { a <= b }
}
enum Greater: NumberOperator {
    @inline(__always) static func holds<Number: Comparable>(_ a: Number, _ b: Number) -> Bool { a > b }
}
enum GreaterOrEqual: NumberOperator {
    @inline(__always) static func holds<Number: Comparable>(_ a: Number, _ b: Number) -> Bool { a >= b }
}
