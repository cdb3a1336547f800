public import MortiseCore

extension FileError: SwiftDataErrorConvertible {
    /// A file that cannot be opened, read or written is a container that cannot be loaded.
    public var swiftDataError: SwiftDataError { .loadIssueModelContainer }
}
