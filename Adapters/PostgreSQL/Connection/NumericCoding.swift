#if PostgreSQL
import Foundation

/// The binary form of `numeric`: digits of 10,000, the weight of the first, a sign, and how many decimal digits follow the point.
enum NumericCoding {
    private static let negative: UInt16 = 0x4000
    private static let notANumber: UInt16 = 0xC000
    private static let infinity: UInt16 = 0xD000
    private static let negativeInfinity: UInt16 = 0xF000

    /// The bytes of digits with at most one point; nil for other text.
    static func bytes(_ text: String) -> [UInt8]? {
        func header(_ count: Int, _ weight: Int, _ sign: UInt16, _ scale: Int) -> [UInt8] {
            var bytes: [UInt8] = []
            for part in [
                UInt16(count), UInt16(bitPattern: Int16(truncatingIfNeeded: weight)), sign,
                UInt16(truncatingIfNeeded: scale),
            ] {
                bytes.append(UInt8(part >> 8))
                bytes.append(UInt8(truncatingIfNeeded: part))
            }
            return bytes
        }
        if text == "-Infinity" { return header(0, 0, negativeInfinity, 0) }
        if text == "NaN" { return header(0, 0, notANumber, 0) }
        var whole: [UInt8] = []
        var fraction: [UInt8] = []
        var (isNegative, isFraction) = (false, false)
        for (place, byte) in text.utf8.enumerated() {
            switch byte {
            case UInt8(ascii: "-") where place == 0: isNegative = true
            case UInt8(ascii: ".") where !isFraction: isFraction = true
            case UInt8(ascii: "0")...UInt8(ascii: "9"):
                if isFraction {
                    fraction.append(byte - UInt8(ascii: "0"))
                } else {
                    whole.append(byte - UInt8(ascii: "0"))
                }
            default: return nil
            }
        }
        if whole.isEmpty, fraction.isEmpty { return nil }
        let scale = fraction.count
        whole = Array(repeating: 0, count: (4 - whole.count % 4) % 4) + whole
        fraction += Array(repeating: 0, count: (4 - fraction.count % 4) % 4)
        var weight = whole.count / 4 - 1
        let digits = whole + fraction
        var groups: [UInt16] = stride(from: 0, to: digits.count, by: 4).map { place in
            digits[place..<place + 4].reduce(0) { $0 * 10 + UInt16($1) }
        }
        while groups.last == 0 { groups.removeLast() }
        while groups.first == 0 {
            groups.removeFirst()
            weight -= 1
        }
        if groups.isEmpty { (weight, isNegative) = (0, false) }
        guard scale < 0x4000, groups.count < 0x8000, Int16(exactly: weight) != nil else { return nil }
        var bytes = header(groups.count, weight, isNegative ? negative : 0, scale)
        for group in groups {
            bytes.append(UInt8(group >> 8))
            bytes.append(UInt8(truncatingIfNeeded: group))
        }
        return bytes
    }

    /// The digits that bytes are the form of; nil for other bytes.
    static func text(_ bytes: UnsafeRawBufferPointer) -> String? {
        guard bytes.count >= 8, bytes.count % 2 == 0 else { return nil }
        func part(_ place: Int) -> UInt16 { UInt16(bytes[2 * place]) << 8 | UInt16(bytes[2 * place + 1]) }
        let (count, weight, sign, scale) = (Int(part(0)), Int(Int16(bitPattern: part(1))), part(2), Int(part(3)))
        switch sign {
        case notANumber: return "NaN"
        case infinity: return "Infinity"
        case negativeInfinity: return "-Infinity"
        case 0, negative: break
        default: return nil
        }
        guard bytes.count == 8 + 2 * count, weight < 0x4000, weight > -0x4000 else { return nil }
        func group(_ power: Int) -> UInt16 {
            let place = weight - power
            return place >= 0 && place < count ? part(4 + place) : 0
        }
        var text = ""
        for power in stride(from: max(weight, 0), through: 0, by: -1) {
            let digits = String(group(power))
            text += text.isEmpty ? (digits == "0" && power > 0 ? "" : digits) : padded(digits)
        }
        if scale > 0 {
            var fraction = ""
            var power = -1
            while fraction.utf8.count < scale {
                fraction += padded(String(group(power)))
                power -= 1
            }
            text += "." + fraction.prefix(scale)
        }
        return sign == negative ? "-" + text : text
    }

    private static func padded(_ digits: String) -> String {
        String(repeating: "0", count: max(4 - digits.utf8.count, 0)) + digits
    }
}
#endif
