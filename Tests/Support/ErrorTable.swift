import Foundation
public import MortiseCore

/// Errors of every case of some types, each made, with the class that it is to have.
///
/// A table finds what no walk over the sources does: a text that is empty for one case, leaves out the path that it was given, or names a
/// store by nothing but its identifier.
public struct ErrorTable {
    /// A place that errors in the table name: where it is in an error, it has to be in its text.
    public static let place = "/data/trips.store"
    /// An identifier of a store, of which no text may consist alone.
    public static let identifier = "932979E3-5633-4B3C-8F0E-0B7C3B8E6A11"

    private var rows: [(error: any Error, expected: StoreErrorClass)] = []

    public init() {}

    /// Adds errors of a type by their class.
    public mutating func add<Failure: Error>(_ type: Failure.Type, _ errors: [StoreErrorClass: [Failure]]) {
        for (expected, errors) in errors { rows += errors.map { ($0, expected) } }
    }

    /// What is wrong with the errors: one line for each fault.
    public func faults() -> [String] {
        rows.flatMap { row in Self.faults(row.error, row.expected).map { "\(Self.name(of: row.error)): \($0)" } }
    }

    /// The cases that sources declare for the types of the table and that it does not have.
    /// - Parameters:
    ///   - types: qualified names of enumerations, such as `SQLiteError.Fault`.
    ///   - folders: where the sources are, relative to the package.
    public func missingCases(of types: [String], in folders: [String]) throws -> [String] {
        let declared = try DeclaredCases(in: folders)
        var known: Set<String> = []
        for row in rows { Self.collectNames(row.error, into: &known) }
        return types.flatMap { type in
            (declared.cases[type] ?? ["(no such type)"]).map { "\(type).\($0)" }.filter { !known.contains($0) }
        }.sorted()
    }

    private static func faults(_ error: any Error, _ expected: StoreErrorClass) -> [String] {
        guard let classified = error as? any ClassifiedStoreError else { return ["has no class"] }
        var faults: [String] = []
        if classified.errorClass != expected { faults.append("is \(classified.errorClass), expected \(expected)") }
        let text = classified.errorDescription ?? ""
        if text.count < 20 { faults.append("says \"\(text)\"") }
        if error.localizedDescription != text { faults.append("localizedDescription is another one") }
        if (classified.failureReason ?? "").isEmpty { faults.append("has no reason") }
        if (classified.recoverySuggestion ?? "").isEmpty { faults.append("has no way out") }
        if text.contains(/0x[0-9a-f]{4,}/) || text.contains("<computed") { faults.append("shows an address: \(text)") }
        if text.contains(identifier), !text.contains("/") { faults.append("names a store by its identifier: \(text)") }
        if mentionsPlace(error), !text.contains(place) { faults.append("leaves out the place: \(text)") }
        return faults
    }

    private static func name(of value: Any) -> String {
        let type = "\(String(reflecting: type(of: value)).split(separator: ".").dropFirst().joined(separator: "."))"
        return caseName(of: value).map { "\(type).\($0)" } ?? type
    }

    private static func caseName(of value: Any) -> String? {
        let mirror = Mirror(reflecting: value)
        guard mirror.displayStyle == .enum else { return nil }
        if let label = mirror.children.first?.label { return label }
        // The description of an error is its text.
        func name<T>(_ value: T) -> String? { enumCaseName(value).map { String(cString: $0) } }
        return _openExistential(value, do: name)
    }

    /// The parts of an error that say what it is; identifiers of records lead to half of the library.
    private static func parts(of value: Any) -> [Any] {
        value is PersistentIdentifier ? [] : Mirror(reflecting: value).children.map(\.value)
    }

    private static func mentionsPlace(_ value: Any, depth: Int = 6) -> Bool {
        if let text = value as? String { return text.contains(place) }
        return depth > 0 && parts(of: value).contains { mentionsPlace($0, depth: depth - 1) }
    }

    /// The names of the cases of which an error consists, without their module.
    private static func collectNames(_ value: Any, into names: inout Set<String>, depth: Int = 6) {
        if Mirror(reflecting: value).displayStyle == .enum { names.insert(name(of: value)) }
        if depth > 0 { for part in parts(of: value) { collectNames(part, into: &names, depth: depth - 1) } }
    }
}

/// The name of the case of an enumeration, whatever its description is.
@_silgen_name("swift_EnumCaseName")
private func enumCaseName<T>(_ value: T) -> UnsafePointer<CChar>?

/// The cases of all public enumerations, as sources declare them.
private struct DeclaredCases {
    var cases: [String: [String]] = [:]

    init(in folders: [String]) throws {
        let package = URL(fileURLWithPath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        for folder in folders {
            let files = FileManager.default.enumerator(
                at: package.appending(path: folder), includingPropertiesForKeys: nil)
            while let file = files?.nextObject() as? URL {
                guard file.pathExtension == "swift" else { continue }
                let text = try String(contentsOf: file, encoding: .utf8)
                if text.contains("Error") { read(text) }
            }
        }
    }

    private static let kinds: Set<Substring> = ["enum", "struct", "class", "extension"]

    /// The sources are formatted: a declaration ends with a brace as far to the right as it begins.
    private mutating func read(_ text: String) {
        var open: [(name: String, indent: Int, isEnum: Bool)] = []
        for line in text.utf8.split(separator: 10).map(Substring.init) {
            let indent = line.utf8.prefix { $0 == 0x20 }.count
            let words = Substring(line.utf8.dropFirst(indent))
            if words.hasPrefix("/") { continue }
            if words.hasPrefix("}") { while let last = open.last, last.indent >= indent { open.removeLast() } }
            if words.utf8.last == 0x7B {
                let parts = words.split(separator: " ")
                let kind = parts.firstIndex { Self.kinds.contains($0) }
                if let kind, kind < 3, kind + 1 < parts.count {
                    let name = parts[kind + 1].prefix { $0.isLetter || $0.isNumber || $0 == "." || $0 == "_" }
                    open.append((String(name), indent, parts[kind] == "enum"))
                }
            }
            guard let last = open.last, last.isEnum, indent == last.indent + 4, words.hasPrefix("case ") else {
                continue
            }
            let type = open.map(\.name).joined(separator: ".")
            for part in words.dropFirst(5).prefix(while: { $0 != "(" }).split(separator: ", ") {
                cases[type, default: []].append(String(part.prefix { $0.isLetter || $0.isNumber || $0 == "_" }))
            }
        }
    }
}
