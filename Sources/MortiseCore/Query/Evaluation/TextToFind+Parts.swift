import Foundation

extension TextToFind {
    /// Whether the bytes are UTF-8 of a string that begins with this one, compared by characters.
    package func isBeginning(of other: UnsafeRawBufferPointer) -> Bool {
        if isASCII, !bytes.isEmpty {
            if other.count < bytes.count {
                // Fewer bytes, all of them characters, cannot begin with more.
                if Self.isASCII(other) { return false }
            } else {
                let beginning = UnsafeRawBufferPointer(rebasing: other[..<bytes.count])
                if !bytes.withUnsafeBytes({ Self.areSame($0, beginning) }) {
                    if Self.isASCII(beginning) { return false }
                } else if endsCharacter(at: bytes.count, in: other) {
                    return true
                }
            }
        }
        return String(decoding: other, as: UTF8.self).starts(with: string)
    }

    /// Whether the bytes are UTF-8 of a string that contains this one, compared by characters.
    package func isPart(of other: UnsafeRawBufferPointer) -> Bool {
        if isASCII, !bytes.isEmpty, !hasLineBreak, Self.isASCII(other) {
            return find(in: other)
        }
        return TextSearch.contains(String(decoding: other, as: UTF8.self), string)
    }

    /// Whether a character ends where another string's bytes have gone on as this one's, whose bytes are all ASCII: nothing
    /// combines with them but what is no ASCII, and a line feed with a carriage return.
    private func endsCharacter(at place: Int, in other: UnsafeRawBufferPointer) -> Bool {
        if place == other.count { return true }
        return other[place] < 0x80 && !(bytes[place - 1] == 0x0D && other[place] == 0x0A)
    }

    private func find(in other: UnsafeRawBufferPointer) -> Bool {
        guard var left = other.baseAddress, other.count >= bytes.count else { return false }
        let last = left + (other.count - bytes.count)
        return bytes.withUnsafeBytes { wanted in
            guard let start = wanted.baseAddress else { return true }
            while left <= last {
                guard let hit = memchr(left, Int32(wanted[0]), last - left + 1) else { return false }
                if memcmp(hit, start, wanted.count) == 0 { return true }
                left = UnsafeRawPointer(hit) + 1
            }
            return false
        }
    }
}
