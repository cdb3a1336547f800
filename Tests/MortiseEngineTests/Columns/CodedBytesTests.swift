import MortiseCore
import Testing

@testable import MortiseEngine

struct CodedBytesTests {
    private func nested(_ depth: Int, count: UInt8) -> [UInt8] {
        (0..<depth).flatMap { _ in [7, count, 0, 0, count == 1 ? 0 : 0xFF] as [UInt8] } + [0]
    }

    /// Each level takes some of the stack, and room for as many elements as it says it has.
    @Test(arguments: [UInt8(1), 0xFF]) func bytesThatNestTooDeepAreNoValue(count: UInt8) {
        let bytes = nested(200_000, count: count)
        #expect(bytes.withUnsafeBytes { CodedBytes.decode($0) } == .null)
    }

    @Test func valuesThatStoresWriteAreRead() {
        var value = StoredValue.string("innermost")
        for level in 1..<CodedBytes.deepest { value = level % 2 == 0 ? .array([value]) : .object(["member": value]) }
        let bytes = CodedBytes.encode(value)
        #expect(!CodedBytes.isTooDeep(value))
        #expect(bytes.withUnsafeBytes { CodedBytes.decode($0) } == value)
        // What would not be read is not written.
        #expect(CodedBytes.isTooDeep(.array([.null, value])))
        #expect(CodedBytes.encode(.array([value])).withUnsafeBytes { CodedBytes.decode($0) } == .null)
    }
}
