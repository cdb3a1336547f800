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

        /// Each takes the compiler half a minute.
        static var tried: [Setting] { isFullSize ? all : Array(all.prefix(2)) }
    }

    private static let probes = ClientProgram.root.appending(path: "Tests/SwiftDataTests/Probes")

    /// Says of the modules of this package and of Foundation that they are built without library evolution.
    private static func isOfModules(_ diagnostic: ClientProgram.Diagnostic) -> Bool {
        diagnostic.text.contains("was not compiled with library evolution support")
    }

    @Test(arguments: Setting.tried) func nothingIsSaidOfCorrectModels(setting: Setting) throws {
        try withFolder { folder in
            let found = try ClientProgram.diagnostics(
                of: Self.probes.appending(path: "Correct.swift"), in: folder, mode: setting.mode, flags: setting.flags)
            #expect(found.filter { !Self.isOfModules($0) } == [])
        }
    }

    /// The compiler looks for values that are not set once there is no other mistake: those have a file of their own.
    @Test(arguments: Setting.tried, [("Mistakes.swift", 89), ("UnsetValues.swift", 7)])
    func eachMistakeIsSaidOnceAtItsLine(setting: Setting, probe: (file: String, atLeast: Int)) throws {
        try withFolder { folder in
            let file = Self.probes.appending(path: probe.file)
            var expected: [ClientProgram.Diagnostic] = []
            var pending: [ClientProgram.Diagnostic] = []
            let lines = try String(contentsOf: file, encoding: .utf8).split(
                separator: "\n", omittingEmptySubsequences: false)
            for (number, line) in lines.enumerated() {
                let code = line.drop { $0 == " " }
                if let comment = code.firstMatch(of: #/^// (error|warning)( in Swift 6)?: /#) {
                    if comment.2 != nil, setting.mode != "6" { continue }
                    let isError = comment.1 == "error" || setting.flags.contains("-warnings-as-errors")
                    pending.append(.init(line: 0, isError: isError, text: String(code[comment.range.upperBound...])))
                } else {
                    expected += pending.map { .init(line: number + 1, isError: $0.isError, text: $0.text) }
                    pending = []
                }
            }
            #expect(expected.count >= probe.atLeast)
            let found = try ClientProgram.diagnostics(of: file, in: folder, mode: setting.mode, flags: setting.flags)
            var rest = found.filter { !Self.isOfModules($0) }
            for wanted in expected {
                let place = rest.firstIndex {
                    $0.line == wanted.line && $0.isError == wanted.isError && $0.text.contains(wanted.text)
                }
                #expect(place != nil, "line \(wanted.line): \(wanted.text)")
                if let place { rest.remove(at: place) }
            }
            #expect(rest == [])
        }
    }
}
