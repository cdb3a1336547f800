import FaultWorkload
import Foundation
import Testing

/// The harness behind `Tests/run kill`, which has to find out a process that acknowledges what is not saved yet.
struct KillHarnessTests {
    private static let program = HelperProcess.program(named: "mortise-kill")

    @Test(.enabled(if: program != nil, "mortise-kill is not beside the tests"))
    func aProcessThatAcknowledgesBeforeItSavesIsFoundOut() throws {
        let process = Process()
        process.executableURL = Self.program
        process.arguments = ["--kills", "12", "--seed", "3", "--broken", "true"]
        let output = Pipe()
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        let data = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        let lines = String(decoding: data, as: UTF8.self).split(separator: "\n")
        #expect(process.terminationStatus == 1)
        #expect(
            lines.contains { $0.hasPrefix("failed: kill ") && $0.contains(" was acknowledged, ") },
            "\(lines.joined(separator: "\n"))")
        if let folder = lines.first(where: { $0.hasPrefix("the store is in ") })?.dropFirst("the store is in ".count) {
            try FileManager.default.removeItem(atPath: String(folder))
        }
    }
}
