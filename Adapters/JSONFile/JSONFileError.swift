public import MortiseCore

/// What is wrong with a JSON store's file, and where. The file is as it was.
public struct JSONFileError: Error, Hashable, Sendable {
    /// The file.
    public let path: String
    /// The fault, with its line, column and path in the document.
    public let fault: StoreDocumentError

    /// Runs a body that reads a file's text, and says of which file it was where the text is faulty.
    static func naming<R>(_ path: String, _ body: () throws -> R) throws -> R {
        do {
            return try body()
        } catch let fault as StoreDocumentError {
            throw JSONFileError(path: path, fault: fault)
        }
    }
}

extension JSONFileError: CustomStringConvertible, SwiftDataErrorConvertible {
    /// The file, what is wrong with it and the way out, in one line.
    public var description: String {
        switch fault.reason {
        case .sealMissing, .sealBroken:
            "\(path): \(fault) In the shell: run `mortise reseal json:\(path)`, or add ?integrity=acceptEdits to the store URL."
        default: "\(path): \(fault)"
        }
    }
    /// The error of SwiftData that this one matches: `loadIssueModelContainer`.
    public var swiftDataError: SwiftDataError { .loadIssueModelContainer }
}
