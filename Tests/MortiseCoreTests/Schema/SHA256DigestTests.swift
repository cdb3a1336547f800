@testable import MortiseCore
import Testing

/// The digest gives what FIPS 180-4 and NIST's test vectors say.
@Suite struct SHA256DigestTests {
    private func hexadecimal(_ message: [UInt8]) -> String {
        SHA256Digest.of(message).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    @Test(arguments: [
        ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        (
            "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
        ),
        (
            "abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu",
            "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1"
        ),
    ]) func aKnownMessageHasItsKnownDigest(_ message: String, _ digest: String) {
        #expect(hexadecimal(Array(message.utf8)) == digest)
    }

    @Test func aMillionBytesHaveTheirKnownDigest() {
        #expect(
            hexadecimal([UInt8](repeating: UInt8(ascii: "a"), count: 1_000_000))
                == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0")
    }

    /// Padding takes one block or two, depending on the length: no two lengths about a block's end have one digest.
    @Test func everyLengthAboutABlockHasADigestOfItsOwn() {
        let digests = (0...130).map { hexadecimal([UInt8](repeating: 0, count: $0)) }
        #expect(Set(digests).count == digests.count)
        #expect(digests.allSatisfy { $0.count == 64 })
    }
}
