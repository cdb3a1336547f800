/// A configuration of a store in a file whose beginning tells its kind, so that a program can find the configuration from the file's
/// path alone.
public protocol RecognizableConfiguration: DataStoreConfiguration {
    /// Whether a file that begins so is a store of this kind, sound or damaged further on.
    /// - Parameter beginning: the first bytes of any file: 512, or all where it has fewer.
    /// - Returns: false for what is no more likely to be such a store than another file.
    static func recognizes(_ beginning: [UInt8]) -> Bool
}
