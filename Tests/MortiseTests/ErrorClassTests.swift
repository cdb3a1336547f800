import Foundation
import Mortise
import PackageTestSupport
import Testing

/// What a service needs of errors: a text for people, and a class to act on.
@Suite struct ErrorClassTests {
    /// Public errors that no app's store throws: what the conformance kit finds, and those of the store that it compares with,
    /// which shows that an error may do without a class.
    private static let others: Set<String> = ["ConformanceFailure", "ReferenceStoreError"]

    /// Every public type that is an error, by the sources.
    @Test func allPublicErrorsHaveAClass() throws {
        var declared: [String: String] = [:]
        var classified: Set<String> = []
        let package = URL(fileURLWithPath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        for folder in ["Sources", "Adapters"] {
            let root = package.appending(path: folder)
            let files = FileManager.default.enumerator(at: root, includingPropertiesForKeys: nil)
            while let file = files?.nextObject() as? URL {
                guard file.pathExtension == "swift" else { continue }
                let text = try String(contentsOf: file, encoding: .utf8)
                for match in text.matches(of: /public (?:enum|struct|final class|class) (\w+): ([^{]*)/)
                where match.2.contains(/\bError\b/) {
                    declared[String(match.1)] = file.lastPathComponent
                    if match.2.contains("ClassifiedStoreError") { classified.insert(String(match.1)) }
                }
                for match in text.matches(of: /extension (?:\w+\.)*(\w+): ([^{]*)/)
                where match.2.contains("ClassifiedStoreError") { classified.insert(String(match.1)) }
            }
        }
        #expect(declared.count > 25, "\(declared)")
        let missing = declared.filter { !classified.contains($0.key) && !Self.others.contains($0.key) }
        #expect(missing.isEmpty, "conform to ClassifiedStoreError: \(missing)")
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
