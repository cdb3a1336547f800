public import MortiseCore

extension AppendLogConfiguration: RecognizableConfiguration {
    /// Whether the file has the mark of a log, which it also has where the rest of its header is missing.
    public static func recognizes(_ beginning: [UInt8]) -> Bool { beginning.starts(with: FileHeader.magic) }
}
