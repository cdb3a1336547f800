import Foundation
import MortiseCore

/// A decimal number as a column has it: twenty bytes, little-endian. Byte 0 is the power of ten, signed; byte 1 has the
/// sign in bit 0, NaN in bit 1, and in bit 2 that the mantissa is as short as it can be; bytes 2 and 3 are zero; the
/// mantissa follows in sixteen.
struct StoredDecimal {
    static let width = 20
    let exponent: Int8
    let flags: UInt8
    let mantissa: UInt128

    init(reading bytes: UnsafeRawPointer) {
        exponent = bytes.load(as: Int8.self)
        flags = bytes.load(fromByteOffset: 1, as: UInt8.self)
        mantissa = UInt128(littleEndian: bytes.loadUnaligned(fromByteOffset: 4, as: UInt128.self))
    }

    func write(to bytes: UnsafeMutableRawPointer) {
        bytes.storeBytes(of: exponent, as: Int8.self)
        bytes.storeBytes(of: flags, toByteOffset: 1, as: UInt8.self)
        bytes.storeBytes(of: 0, toByteOffset: 2, as: UInt16.self)
        bytes.storeBytes(of: mantissa.littleEndian, toByteOffset: 4, as: UInt128.self)
    }

    /// The number as calculations take it; nil for NaN, and for a mantissa of more than 127 bits.
    @inline(__always)
    var scaled: ScaledInteger? {
        guard flags & 2 == 0, let magnitude = Int128(exactly: mantissa) else { return nil }
        return ScaledInteger(mantissa: flags & 1 == 0 ? magnitude : -magnitude, exponent: Int(exponent))
    }

    /// How many 16-bit words of the mantissa count.
    private var length: UInt8 { UInt8((128 - mantissa.leadingZeroBitCount + 15) / 16) }

    #if canImport(Darwin)
    init(_ number: Decimal) {
        exponent = Int8(truncatingIfNeeded: number._exponent)
        flags = (number._isNegative == 0 ? 0 : 1) | (number.isNaN ? 2 : 0) | (number._isCompact == 0 ? 0 : 4)
        mantissa = withUnsafeBytes(of: number._mantissa) { $0.loadUnaligned(as: UInt128.self) }
    }

    var number: Decimal {
        if flags & 2 != 0 { return .nan }
        var number = Decimal(
            _exponent: Int32(exponent), _length: UInt32(length), _isNegative: UInt32(flags & 1),
            _isCompact: UInt32(flags >> 2), _reserved: 0, _mantissa: (0, 0, 0, 0, 0, 0, 0, 0))
        withUnsafeMutableBytes(of: &number._mantissa) { $0.storeBytes(of: mantissa, as: UInt128.self) }
        return number
    }
    #else
    // Off Apple platforms Foundation has no public way to a decimal's parts but arithmetic; its value is twenty bytes: the
    // exponent, then length, sign and compactness from the high bits down, two bytes of nothing, the mantissa. A test
    // holds that against descriptions.
    init(_ number: Decimal) {
        (exponent, flags, mantissa) = withUnsafeBytes(of: number) { raw in
            let marks = raw[1]
            let isNaN = marks & 0xF8 == 0x08
            return (
                Int8(bitPattern: raw[0]), (isNaN ? 2 : marks >> 3 & 1) | (marks & 4),
                raw.loadUnaligned(fromByteOffset: 4, as: UInt128.self)
            )
        }
    }

    var number: Decimal {
        if flags & 2 != 0 { return .nan }
        var number = Decimal()
        withUnsafeMutableBytes(of: &number) { raw in
            raw[0] = UInt8(bitPattern: exponent)
            raw[1] = length << 4 | (flags & 1) << 3 | (flags & 4)
            withUnsafeBytes(of: mantissa) { mantissa in
                for index in 0..<16 { raw[4 + index] = mantissa[index] }
            }
        }
        return number
    }
    #endif
}

extension Decimal {
    /// The number in whole parts; nil for NaN, and for a mantissa of more than 127 bits.
    package var scaled: ScaledInteger? { StoredDecimal(self).scaled }
}
