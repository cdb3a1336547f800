import Foundation
import Testing

/// What the compiler says of models, under the settings that people have.
@Suite struct MacroProbeTests {
    struct Setting: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let mode: String
        var flags: [String] = []

        static let all = [
            Setting(testDescription: "Swift 6", mode: "6"),
            Setting(testDescription: "Swift 5", mode: "5", flags: ["-strict-concurrency=complete"]),
            Setting(testDescription: "main actor", mode: "6", flags: ["-default-isolation", "MainActor"]),
            Setting(testDescription: "warnings are errors", mode: "6", flags: ["-warnings-as-errors"]),
            Setting(testDescription: "library evolution", mode: "6", flags: ["-enable-library-evolution"]),
            Setting(testDescription: "memory safety", mode: "6", flags: ["-strict-memory-safety"]),
        ]
    }

    private static let probes = ClientProgram.root.appending(path: "Tests/SwiftDataTests/Probes")

    /// Says of the modules of this package and of Foundation that they are built without library evolution.
    private static func isOfModules(_ diagnostic: ClientProgram.Diagnostic) -> Bool {
        diagnostic.text.contains("was not compiled with library evolution support")
    }

    @Test(arguments: Setting.all) func nothingIsSaidOfCorrectModels(setting: Setting) throws {
        try withFolder { folder in
            let found = try ClientProgram.diagnostics(
                of: Self.probes.appending(path: "Correct.swift"), in: folder, mode: setting.mode, flags: setting.flags)
            #expect(found.filter { !Self.isOfModules($0) } == [])
        }
    }

    @Test(arguments: Setting.all) func eachMistakeIsSaidOnceAtItsLine(setting: Setting) throws {
        try withFolder { folder in
            let file = Self.probes.appending(path: "Mistakes.swift")
            var expected: [(line: Int, text: String)] = []
            var pending: [String] = []
            let lines = try String(contentsOf: file, encoding: .utf8).split(
                separator: "\n", omittingEmptySubsequences: false)
            for (number, line) in lines.enumerated() {
                let code = line.drop { $0 == " " }
                if let comment = code.range(of: "// error: "), comment.lowerBound == code.startIndex {
                    pending.append(String(code[comment.upperBound...]))
                } else {
                    expected += pending.map { (number + 1, $0) }
                    pending = []
                }
            }
            #expect(expected.count >= 40)
            let found = try ClientProgram.diagnostics(of: file, in: folder, mode: setting.mode, flags: setting.flags)
            var rest = found.filter { $0.isError }
            for (line, text) in expected {
                let place = rest.firstIndex { $0.line == line && $0.text.contains(text) }
                #expect(place != nil, "line \(line): \(text)")
                if let place { rest.remove(at: place) }
            }
            #expect(rest == [])
        }
    }
}
