import Foundation

/// A program outside this package, compiled against the modules that were built for the tests and run as a process.
///
/// The compiler is called directly: a package of its own would build the macro toolchain again, which takes minutes.
struct ClientProgram {
    struct Outcome {
        var status: Int32
        var output: String
        var errors: String
    }
    struct Failure: Error, CustomStringConvertible {
        var description: String
    }

    static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    /// The folder of the build that this test runs from.
    static let products = URL(fileURLWithPath: ProcessInfo.processInfo.arguments[0]).deletingLastPathComponent()

    private static let libraries: [String] = {
        var libraries = [
            "MortiseCore", "MortiseEngine", "MortiseInMemory", "MortiseJSONFile", "MortiseAppendLog",
            "MortiseModels", "Mortise", "SwiftData", "Logging",
        ]
        #if SQLite
        libraries += ["MortiseSQL", "MortiseSQLite"]
        #endif
        return libraries
    }()

    let folder: URL
    let sources: [URL]

    /// Compiles the sources.
    /// - Parameters:
    ///   - mode: the language mode.
    ///   - isScript: whether one of the sources is a `main.swift` with statements at its top.
    ///   - refusesWarnings: whether a warning is an error: a client compiles without any.
    ///   - flags: further flags of the compiler.
    /// - Throws: `Failure` with what the compiler said.
    init(
        sources: [URL], in folder: URL, mode: String = "6", isScript: Bool = false, refusesWarnings: Bool = true,
        flags: [String] = []
    ) throws {
        self.folder = folder
        self.sources = sources
        let objects = try Self.libraries.flatMap(Self.objects) + Self.platform
        let compilation = try Self.run(
            "/usr/bin/env",
            ["swiftc", "-swift-version", mode, "-module-name", "Client", "-o", program.path] + Self.modules
                + (isScript ? [] : ["-parse-as-library"]) + (refusesWarnings ? ["-warnings-as-errors"] : []) + flags
                + sources.map(\.path) + objects, in: folder)
        if compilation.status != 0 {
            throw Failure(description: "The client does not compile:\n\(compilation.errors)\(compilation.output)")
        }
    }

    /// Checks sources that are not run.
    /// - Returns: what the compiler wrote.
    /// - Throws: `Failure` with what the compiler said.
    static func typecheck(_ sources: [URL], in folder: URL, flags: [String] = []) throws -> String {
        let outcome = try run(
            "/usr/bin/env",
            ["swiftc", "-typecheck", "-parse-as-library", "-swift-version", "6", "-module-name", "Client"] + modules
                + flags + sources.map(\.path), in: folder)
        if outcome.status != 0 {
            throw Failure(description: "The client does not compile:\n\(outcome.errors)\(outcome.output)")
        }
        return outcome.output + outcome.errors
    }

    /// What the compiler said at a line of a source, or of what a macro made of it.
    struct Diagnostic: Equatable {
        var line: Int
        var isError: Bool
        var text: String
    }

    /// Compiles one source that is not run, and tells what the compiler said.
    static func diagnostics(
        of source: URL, in folder: URL, mode: String, flags: [String]
    ) throws -> [Diagnostic] {
        let object = folder.appending(path: "client.o").path
        let outcome = try run(
            "/usr/bin/env",
            ["swiftc", "-c", "-o", object, "-parse-as-library", "-swift-version", mode, "-module-name", "Client"]
                + modules + flags + [source.path], in: folder)
        var found: [Diagnostic] = []
        // Of a diagnostic in an expansion, the place in the source follows in a note.
        var expanded: Diagnostic?
        for line in (outcome.errors + outcome.output).split(separator: "\n") {
            if let match = line.firstMatch(of: /^`- [^:]*:([0-9]+):[0-9]+: note: expanded code originates here/) {
                if var diagnostic = expanded.take() {
                    diagnostic.line = Int(match.1) ?? 0
                    found.append(diagnostic)
                }
            } else if let match = line.firstMatch(of: /^([^ |`].*):([0-9]+):[0-9]+: (error|warning): (.*)$/) {
                if let expanded { found.append(expanded) }
                expanded = nil
                let diagnostic = Diagnostic(
                    line: Int(match.2) ?? 0, isError: match.3 == "error", text: String(match.4))
                if match.1.hasPrefix("macro expansion") { expanded = diagnostic } else { found.append(diagnostic) }
            } else if let match = line.firstMatch(of: /^(?:<unknown>:0: )?(error|warning): (.*)$/) {
                found.append(Diagnostic(line: 0, isError: match.1 == "error", text: String(match.2)))
            }
        }
        if let expanded { found.append(expanded) }
        return found
    }

    private static let modules = [
        "-I", products.appending(path: "Modules").path, "-Xcc",
        // As SwiftPM does for the only C module that a trait's store imports. The rest is read without.
        "-fmodule-map-file=" + root.appending(path: "Sources/CSQLite/module.modulemap").path,
        "-load-plugin-executable", products.appending(path: "MortiseMacros-tool").path + "#MortiseMacros",
    ]

    private static let platform = ["processor", "files", "runtime"].map {
        products.appending(path: "CMortisePlatform.build/mortise_\($0).c.o").path
    }

    /// The object files of a module, as the build's own list names them: a folder may hold those of removed sources too.
    private static func objects(of library: String) throws -> [String] {
        struct Outputs: Decodable { var object: String? }
        let list = products.appending(path: "\(library).build/output-file-map.json")
        let outputs = try JSONDecoder().decode([String: Outputs].self, from: Data(contentsOf: list))
        return outputs.filter { !$0.key.isEmpty }.compactMap(\.value.object).sorted()
    }

    private var program: URL { folder.appending(path: "client") }

    func run(_ arguments: [String] = []) throws -> Outcome { try Self.run(program.path, arguments, in: folder) }

    private static func run(_ path: String, _ arguments: [String], in folder: URL) throws -> Outcome {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: path)
        process.arguments = arguments
        process.currentDirectoryURL = folder
        let output = folder.appending(path: "output-\(UUID().uuidString)")
        let errors = folder.appending(path: "errors-\(UUID().uuidString)")
        for file in [output, errors] { try Data().write(to: file) }
        process.standardOutput = try FileHandle(forWritingTo: output)
        process.standardError = try FileHandle(forWritingTo: errors)
        try process.run()
        process.waitUntilExit()
        return Outcome(
            status: process.terminationStatus, output: try String(contentsOf: output, encoding: .utf8),
            errors: try String(contentsOf: errors, encoding: .utf8))
    }
}

/// Runs a body with a folder of its own, which is removed afterwards.
func withFolder<R>(_ body: (URL) throws -> R) throws -> R {
    let folder = FileManager.default.temporaryDirectory.appending(path: "client-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    return try body(folder)
}
