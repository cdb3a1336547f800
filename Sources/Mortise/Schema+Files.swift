public import Foundation
public import MortiseCore
import MortiseEngine

extension Schema {
    /// A file of a schema that is longer than this is refused before it is read.
    private static let largestFile: Int64 = 64 << 20

    /// Writes the schema to a file as JSON: the same schema always gives the same bytes.
    ///
    /// An existing file is replaced whole and durably, or stays as it was.
    /// - Throws: `SchemaFileError`.
    public func save(to url: URL) throws {
        let path = try Self.path(of: url)
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        let bytes: [UInt8]
        do {
            bytes = Array(try encoder.encode(self)) + [UInt8(ascii: "\n")]
        } catch {
            throw SchemaFileError.notAccessible(path: path, fault: "\(error)")
        }
        do {
            let fileSystem = POSIXFileSystem()
            let info = try? fileSystem.info(path, followingLinks: true)
            _ = try DurableReplacement(of: path, newFilePermissions: 0o644, in: fileSystem)
                .replace(expecting: info?.identity) { writer in try writer.append(bytes) }
        } catch {
            throw SchemaFileError.notAccessible(path: path, fault: "\(error)")
        }
    }

    /// Reads a schema that `save(to:)` wrote.
    ///
    /// The result equals the one that was written. It knows no model types: it can be compared, and given to a store that
    /// works on `stored`, but no models can be fetched through it.
    /// - Throws: `SchemaFileError`; `SwiftDataError.unknownSchema` for a form newer than this library.
    public static func load(from url: URL) throws -> Schema {
        let path = try path(of: url)
        let bytes: [UInt8]
        do {
            bytes = try POSIXFileSystem().readWhole(path, limit: largestFile).bytes
        } catch {
            throw SchemaFileError.notAccessible(path: path, fault: "\(error)")
        }
        do {
            return try JSONDecoder().decode(Schema.self, from: Data(bytes))
        } catch let error as SwiftDataError {
            throw error
        } catch {
            throw SchemaFileError.notASchema(path: path, fault: Self.fault(of: error))
        }
    }

    private static func path(of url: URL) throws -> String {
        guard url.isFileURL else { throw SchemaFileError.notAFile(url: url.absoluteString) }
        return url.path(percentEncoded: false)
    }

    private static func fault(of error: any Error) -> String {
        let context: DecodingError.Context
        switch error as? DecodingError {
        case .dataCorrupted(let found)?, .keyNotFound(_, let found)?, .typeMismatch(_, let found)?,
            .valueNotFound(_, let found)?:
            context = found
        default: return "\(error)"
        }
        let place = context.codingPath.map { $0.intValue.map { "[\($0)]" } ?? "." + $0.stringValue }.joined()
        return (place.isEmpty ? "" : "at $\(place): ") + context.debugDescription
    }
}

/// Why a schema's file cannot be written or read.
public enum SchemaFileError: Error, Hashable, Sendable {
    /// The URL names no file.
    case notAFile(url: String)
    /// The file cannot be written or read.
    case notAccessible(path: String, fault: String)
    /// The file holds no schema, or a damaged one.
    case notASchema(path: String, fault: String)
}

extension SchemaFileError: ClassifiedStoreError, SwiftDataErrorConvertible {
    /// `usage` for a URL of no file, `failedInputOutput` for one that cannot be reached, `damaged` for one without a schema.
    public var errorClass: StoreErrorClass {
        switch self {
        case .notAFile: .usage
        case .notAccessible: .failedInputOutput
        case .notASchema: .damaged
        }
    }
    /// The file at fault and the way out, in one line.
    public var description: String {
        switch self {
        case .notAFile(let url): "\(url) is not a file URL. Give a URL with the scheme \"file\"."
        case .notAccessible(_, let fault): "The schema's file: \(fault)."
        case .notASchema(let path, let fault):
            "\(path) does not hold a schema (\(fault)). Give a file that Schema.save(to:) wrote, or write it again."
        }
    }
    /// The error of SwiftData that this one matches: `unknownSchema`.
    public var swiftDataError: SwiftDataError { .unknownSchema }
}
