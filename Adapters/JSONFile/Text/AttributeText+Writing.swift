import Foundation
import MortiseCore

extension AttributeText {
    /// Appends a value other than null.
    /// - Throws: `StoreDocumentWriteError.Reason` for what could not be read back, or what the sink throws.
    @inline(__always) static func write(
        _ value: StoredValue, kind: StorageKind, depth: Int, budget: inout TreeBudget, to writer: inout JSONWriter
    ) throws {
        switch (kind, value) {
        case (.coded, _): try writeTree(value, depth: depth, budget: &budget, to: &writer)
        case (.string, .string(let value)): try writer.string(value)
        case (.bool, .bool(let value)): try writer.bool(value)
        case (.double, .double(let value)): try writer.double(value)
        case (.date, .date(let value)): try DateText.write(value, to: &writer)
        case (.uuid, .uuid(let value)): try UUIDText.write(value, to: &writer)
        case (.uint64, .unsigned(let value)): try writer.unsigned(value)
        case (.float, .float(let value)): try writer.float(value)
        case (.data, .data(let value)): try Base64Text.write(value, to: &writer)
        case (.decimal, .decimal(let value)): try writer.string(DecimalText.text(of: value))
        case (.url, .url(let value)): try write(value, to: &writer)
        case (_, .integer(let value)) where kind.integerRange?.contains(value) == true: try writer.integer(value)
        default:
            throw StoreDocumentWriteError.Reason.unfitValue(expected: kind.rawValue, found: value.caseName)
        }
    }

    private static func writeTree(
        _ value: StoredValue, depth: Int, budget: inout TreeBudget, to writer: inout JSONWriter
    ) throws {
        budget.beginTree(value)
        do {
            try writer.tree(value, depth: depth, budget: &budget)
        } catch let fault as TreeFault {
            throw switch fault {
            case .nestingTooDeep: StoreDocumentWriteError.Reason.nestingTooDeep(limit: JSONReader.maximumDepth - depth)
            case .tooLarge: StoreDocumentWriteError.Reason.valueTooLarge
            case .unsuitable(let found):
                StoreDocumentWriteError.Reason.unfitValue(expected: StorageKind.coded.rawValue, found: found)
            }
        }
    }

    private static func write(_ value: URL, to writer: inout JSONWriter) throws {
        guard let base = value.baseURL else {
            guard url(value.relativeString, base: nil) == value else {
                throw StoreDocumentWriteError.Reason.unreadableURL(value.relativeString)
            }
            return try writer.string(value.relativeString)
        }
        guard base.baseURL == nil, let readBase = url(base.relativeString, base: nil),
            url(value.relativeString, base: readBase) == value
        else { throw StoreDocumentWriteError.Reason.unreadableURL(value.absoluteString) }
        try writer.punctuation("{\"relative\": ")
        try writer.string(value.relativeString)
        try writer.punctuation(", \"base\": ")
        try writer.string(base.relativeString)
        try writer.punctuation("}")
    }
}
