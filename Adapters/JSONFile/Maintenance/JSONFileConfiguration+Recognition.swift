public import MortiseCore

extension JSONFileConfiguration: RecognizableConfiguration {
    /// Whether the file begins as an object with the member `format`.
    public static func recognizes(_ beginning: [UInt8]) -> Bool {
        let signs = beginning.lazy.filter { ![0x20, 0x09, 0x0A, 0x0D].contains($0) }
        return signs.starts(with: "{\"format\":".utf8)
    }
}
