import FaultWorkload
import Foundation
import Testing

/// One record that several processes count on by `transaction(retrying:)`.
@Suite struct CountingProcessesTests {
    private static var kinds: [String] {
        #if SQLite
        ["log", "json", "sqlite"]
        #else
        ["log", "json"]
        #endif
    }

    @Test(.enabled(if: HelperProcess.program != nil), arguments: kinds)
    func threeProcessesComeToTheExactSum(_ kind: String) throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "mortise-count-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = folder.appending(path: "parcels.\(kind)").path(percentEncoded: false)
        let (processes, times) = (3, kind == "json" ? 40 : 200)
        #expect(try HelperProcess("count", path, "0").status == 0)
        var outputs: [Pipe] = []
        let running = try (0..<processes).map { _ in
            let process = try HelperProcess.process(["count", path, "\(times)"])
            outputs.append(Pipe())
            process.standardOutput = outputs.last
            try process.run()
            return process
        }
        var attempts = 0
        for (process, output) in zip(running, outputs) {
            let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
            process.waitUntilExit()
            #expect(process.terminationStatus == 0, "\(text)")
            attempts += text.split(separator: " ").last.flatMap { Int($0.dropLast()) } ?? 0
        }
        #expect(attempts >= processes * times)
        #expect(try HelperProcess("count", path).lines == ["counted \(processes * times)"])
    }
}
