import Foundation
import Testing

/// Models may have any name: what the macros write must mean the same whatever the module declares. `Member` and `Result`
/// were once hidden by generic parameters of generated methods.
@Suite struct ModelNameTests {
    /// The module's own name and the standard library's can be hidden by nothing else that could be written.
    private static let qualifiers: Set<String> = ["MortiseCore", "Swift"]

    private static let keywords: Set<String> = [
        "Any", "Self", "as", "associatedtype", "available", "break", "case", "catch", "class", "continue", "default",
        "defer",
        "deinit", "do", "else", "enum", "extension", "fallthrough", "false", "fileprivate", "for", "func", "guard",
        "if", "import",
        "in", "init", "inout", "internal", "is", "let", "nil", "open", "operator", "private", "precedencegroup",
        "protocol",
        "public", "repeat", "rethrows", "return", "self", "static", "struct", "subscript", "super", "switch", "throw",
        "throws",
        "true", "try", "typealias", "unavailable", "var", "where", "while", "Type", "Protocol", "some", "any",
        "consuming",
        "_read", "_modify", "yield", "nonisolated", "unsafe", "override", "required", "convenience", "get", "set",
        "final",
        "_",
    ]

    /// Every identifier in the expansions of models of all shapes that is written as a type's. The others are members of
    /// the model, which hide a type of their name from it, as they do in any class.
    private static func identifiers(_ folder: URL) throws -> [String] {
        let shapes = ClientProgram.root.appending(path: "Tests/SwiftDataTests/Clients/Shapes.swift")
        let text = try ClientProgram.typecheck(
            [shapes], in: folder, flags: ["-Xfrontend", "-dump-macro-expansions"])
        // What is in quotes is no code: names of properties and messages.
        let code = text.replacing(/"[^"\n]*"/, with: "").replacing(/\/\/[^\n]*/, with: "")
        return Set(code.matches(of: /[A-Za-z_][A-Za-z0-9_]*/).map { String($0.output) })
            .filter { $0.first?.isUppercase == true }
            .subtracting(keywords).subtracting(qualifiers).sorted()
    }

    @Test func modelsMayHaveEveryNameThatAnExpansionWrites() throws {
        try withFolder { folder in
            let names = try Self.identifiers(folder)
            // That the dump was understood.
            #expect(
                Set(["KeyPath", "Int", "SharedKeyPath", "Schema", "PersistentModel", "NoStorage"]).isSubset(of: names))
            let more = [
                "Member", "Result", "Value", "Root", "State", "Context", "ModelType", "String", "Data", "Error", "Task",
                "Bool", "Character", "Date", "Duration", "URL",
            ]
            let all = Set(names).union(more).sorted()
            // Relationships to these of another class are taken for a mistake if they say that they are relationships.
            let scalars: Set = ["Bool", "Double", "Int", "String"]
            var source = "import SwiftData\n"
            for (number, name) in all.enumerated() {
                let next = all[(number + 1) % all.count]
                source += """
                    @Model final class \(name) {
                        var p\(number): Swift.Int = 1
                        var q\(number): Swift.String? { didSet { p\(number) += 1 } }
                        @Relationship(deleteRule: .cascade) var r\(number): [\(name)] = []
                        \(scalars.contains(next) ? "" : "@Relationship ")var s\(number): \(next)
                        init(p: Swift.Int, s: \(next)) {
                            s\(number) = s
                            p\(number) = p
                        }
                    }

                    """
            }
            let file = folder.appending(path: "Names.swift")
            try source.write(to: file, atomically: true, encoding: .utf8)
            _ = try ClientProgram.typecheck([file], in: folder)

            // As classes that others inherit from, a few at a time in a namespace: expansions of one see the others' names.
            source = "import SwiftData\n"
            for (number, name) in all.enumerated() {
                source += """
                    enum N\(number) {
                        @Model class \(name) {
                            var p: Swift.Int { didSet { p += 1 } }
                            init(p: Swift.Int) { self.p = p }
                        }
                        @Model final class Sub\(number): \(name) {
                            var q: Swift.Int = 0
                            override init(p: Swift.Int) { super.init(p: p) }
                        }
                    }

                    """
            }
            try source.write(to: file, atomically: true, encoding: .utf8)
            _ = try ClientProgram.typecheck([file], in: folder)
        }
    }
}
