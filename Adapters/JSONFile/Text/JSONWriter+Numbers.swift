// MARK: - Integers

extension JSONWriter {
    /// Appends an integer.
    package mutating func integer(_ value: Int64) throws {
        try reserve(Self.numberRoom)
        if value < 0 { put(UInt8(ascii: "-")) }
        digits(value.magnitude)
    }

    /// Appends an integer.
    package mutating func unsigned(_ value: UInt64) throws {
        try reserve(Self.numberRoom)
        digits(value)
    }

    /// Appends two digits. Room must have been made, and the value must be below 100.
    @inline(__always) mutating func pair(_ value: Int) {
        // Tens by multiplication: 205 / 2048 is near enough to a tenth below 100.
        let tens = (UInt32(truncatingIfNeeded: value) &* 205) &>> 11
        put(0x30 &+ UInt8(truncatingIfNeeded: tens))
        put(0x30 &+ UInt8(truncatingIfNeeded: UInt32(truncatingIfNeeded: value) &- tens &* 10))
    }

    /// Appends exactly `width` digits, with zeros in front. Room must have been made, and the value must fit.
    @inline(__always) mutating func digits(_ value: UInt64, width: Int) {
        fillBuffer { room in
            var rest = value
            var index = width
            while index > 0 {
                index &-= 1
                room.storeBytes(of: 0x30 &+ UInt8(truncatingIfNeeded: rest % 10), toByteOffset: index, as: UInt8.self)
                rest /= 10
            }
            return width
        }
    }

    @inline(__always) private mutating func digits(_ value: UInt64) {
        var width = 1
        var bound: UInt64 = 10
        while width < 20, value >= bound {
            width &+= 1
            bound = bound.multipliedReportingOverflow(by: 10).partialValue
        }
        digits(value, width: width)
    }
}

// MARK: - Floating point

extension JSONWriter {
    /// Appends a double: the shortest digits that read back as the same bits, always with a point or an exponent.
    /// Numbers that JSON cannot write become strings: `"nan"`, `"inf"`, `"-inf"`, and `"nan:0x…"` with the bits for a
    /// NaN other than `Double.nan`.
    package mutating func double(_ value: Double) throws {
        guard value.isFinite else { return try string(Self.name(ofNonFinite: value)) }
        if try hundredths(value) { return }
        try plain(value.description)
    }

    /// Appends a float, as `double` does; the bits of a NaN have eight digits.
    package mutating func float(_ value: Float) throws {
        guard value.isFinite else {
            if value.isNaN, value.bitPattern != Float.nan.bitPattern {
                return try string("nan:0x" + Self.padded(String(value.bitPattern, radix: 16), to: 8))
            }
            return try string(value.isNaN ? "nan" : value < 0 ? "-inf" : "inf")
        }
        try plain(value.description)
    }

    static func name(ofNonFinite value: Double) -> String {
        guard value.isNaN else { return value < 0 ? "-inf" : "inf" }
        guard value.bitPattern != Double.nan.bitPattern else { return "nan" }
        return "nan:0x" + padded(String(value.bitPattern, radix: 16), to: 16)
    }

    private static func padded(_ digits: String, to width: Int) -> String {
        String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
    }

    /// Appends ASCII that needs no quotes.
    mutating func plain(_ text: String) throws {
        var text = text
        try text.withUTF8 { try append(UnsafeRawBufferPointer($0)) }
    }

    /// Appends the value if it is a whole number of hundredths of up to 15 digits; most prices and ratings are. No two
    /// decimals of 15 digits have the same nearest double, so that these digits are the shortest ones.
    private mutating func hundredths(_ value: Double) throws -> Bool {
        let magnitude = value.magnitude
        guard magnitude < 1e13, magnitude >= 0.01 || value.bitPattern == 0 else { return false }
        let scaled = (magnitude * 100).rounded()
        guard scaled / 100 == magnitude else { return false }
        let count = UInt64(scaled)
        try reserve(Self.numberRoom)
        if value < 0 { put(UInt8(ascii: "-")) }
        digits(count / 100)
        put(UInt8(ascii: "."))
        let fraction = count % 100
        put(0x30 &+ UInt8(truncatingIfNeeded: fraction / 10))
        if fraction % 10 != 0 { put(0x30 &+ UInt8(truncatingIfNeeded: fraction % 10)) }
        return true
    }
}
