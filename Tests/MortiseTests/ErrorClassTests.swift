import Foundation
import Mortise
import PackageTestSupport
import Testing

/// What a service needs of errors: a text for people, and a class to act on.
@Suite struct ErrorClassTests {
    /// Public errors that no app's store throws: what the conformance kit finds, those of the store that it compares with, which shows
    /// that an error may do without a class, and the number of a failed call, which a `FileError` carries.
    private static let others: Set<String> = ["ConformanceFailure", "ReferenceStoreError", "FileError.Code"]

    /// What the tool says to the person at a prompt, and a part of a template. The tests of verbs show these texts.
    private static let ofTheTool: Set<String> = [
        "ToolError", "ModelSourceError", "PredicateTextError", "UnknownEntity", "StoreSettingsError",
        "AdapterTemplate.Location.ShelfError",
    ]

    private static func sources(in folders: [String]) throws -> [(name: String, text: String)] {
        let package = URL(fileURLWithPath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        var found: [(name: String, text: String)] = []
        for folder in folders {
            let files = FileManager.default.enumerator(
                at: package.appending(path: folder), includingPropertiesForKeys: nil)
            while let file = files?.nextObject() as? URL {
                guard file.pathExtension == "swift" else { continue }
                found.append((file.lastPathComponent, try String(contentsOf: file, encoding: .utf8)))
            }
        }
        return found
    }

    private static func declaredErrors() throws -> DeclaredErrors {
        var declared = DeclaredErrors()
        for source in try sources(in: ["Sources", "Adapters"]) { declared.read(source.text) }
        return declared
    }

    @Test func allPublicErrorsHaveAClass() throws {
        let declared = try Self.declaredErrors()
        #expect(declared.publicErrors.count > 45, "\(declared.publicErrors)")
        #expect(declared.withoutClass.subtracting(Self.others).isEmpty, "conform to ClassifiedStoreError")
        #expect(Self.others.isSubset(of: declared.withoutClass))
    }

    /// A table holds the text of each case; a type that is in none escapes that.
    @Test func allPublicErrorsAreInATable() throws {
        var made: Set<String> = []
        for source in try Self.sources(in: ["Tests"]) where source.name.hasPrefix("ErrorTableTests") {
            for match in source.text.matches(of: /\.add\(\s*([\w.]+)\.self/) { made.insert(String(match.1)) }
        }
        let left = try Self.declaredErrors().publicErrors.filter { error in
            !made.contains { error == $0 || error.hasSuffix(".\($0)") || error.hasPrefix("\($0).") }
        }
        #expect(made.count > 35, "\(made)")
        #expect(left == Self.others.union(Self.ofTheTool).filter { !$0.hasPrefix("FileError.") })
    }

    /// However an error is declared, it is found.
    @Test func noDeclarationOfAnErrorEscapes() {
        var declared = DeclaredErrors()
        declared.read(
            """
            public struct Plain: Error {}
            public enum Known: Error, ClassifiedStoreError {
                public enum Reason: String, Error { case a }
            }
            public indirect enum Other: Hashable, LocalizedError {
                public enum Reason: Error {}
            }
            extension Other.Reason: ClassifiedStoreError {
            }
            public struct Generic<Value: Sendable>:
                Error, Sendable
            {
            }
            public final class Late {
            }
            extension Late: @unchecked Sendable, SwiftDataErrorConvertible {
            }
            public struct Value: Hashable {
                struct Hidden: Error {}
                package enum Inner: Error {}
            }
            """)
        #expect(declared.withoutClass == ["Plain", "Known.Reason", "Other", "Generic", "Late"])
        #expect(declared.publicErrors == declared.withoutClass.union(["Known", "Other.Reason"]))
    }

    @Test func textsForPeopleAreThoseOfTheErrors() throws {
        let identifier = try PersistentIdentifier.identifier(for: "s", entityName: "Trip", primaryKey: 1)
        let errors: [any ClassifiedStoreError] = [
            ModelContextError.noSuchModel(identifier), ModelContextError.containerClosed,
            ModelValidationError.missingValue(entity: "Trip", property: "name", model: identifier),
            SwiftDataError.unsupportedPredicate, DataStoreError.unsupportedFeature, VersionSuperseded(),
            EngineError.closed(store: "s"), FileError(.notFound, operation: .open, path: "/x"),
            MigrationError.missingStage(from: Schema.Version(1, 0, 0), to: Schema.Version(2, 0, 0)),
            SchemaFileError.notAFile(url: "http://x"),
        ]
        for error in errors {
            let plain: any Error = error
            #expect(plain.localizedDescription == "\(error)")
            #expect(plain.localizedDescription.count > 30, "\(error)")
        }
        #expect(
            errors.map(\.errorClass) == [
                .missing, .closed, .invalid, .usage, .unsupported, .conflict, .closed, .missing, .conflict,
                .usage,
            ])
    }
}

/// The types that are errors, as sources declare them. The sources are formatted, so what is further to the right is inside.
private struct DeclaredErrors {
    private var types: Set<String> = []
    private var errors: Set<String> = []
    private var classified: Set<String> = []

    var publicErrors: Set<String> { errors.intersection(types) }
    var withoutClass: Set<String> { publicErrors.subtracting(classified) }

    mutating func read(_ text: String) {
        let declaration =
            /^( *)((?:[a-z]+ )*)(?:enum|struct|class|actor|extension) ([\w.]+)(?:<[^{]*?>)?(?:\s*:([^{]*))?\s*\{/
            .anchorsMatchLineEndings()
        var open: [(name: Substring, indent: Int)] = []
        for match in text.matches(of: declaration) {
            let (_, indent, modifiers, name, parents) = match.output
            while let last = open.last, last.indent >= indent.count { open.removeLast() }
            open.append((name, indent.count))
            let path = open.map(\.name).joined(separator: ".")
            if modifiers.contains("public") { types.insert(path) }
            guard let parents, parents.contains(/\b(?:\w*Error|SwiftDataErrorConvertible|UniqueViolation)\b/) else {
                continue
            }
            errors.insert(path)
            if parents.contains("ClassifiedStoreError") { classified.insert(path) }
        }
    }
}
