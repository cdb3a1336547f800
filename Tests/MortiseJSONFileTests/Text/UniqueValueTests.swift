import FaultWorkload
import Foundation
import MortiseCore
import MortiseEngine
import MortiseJSONFile
import Testing
import MortiseTestSupport

/// A file edited by hand may have the same unique value twice; nothing else in its text tells.
@Suite struct UniqueValueTests {
    private func edited() throws -> (disk: SimulatedFileSystem, text: String) {
        let disk = SimulatedFileSystem(seed: 2)
        let text = String(decoding: try Depot.document(of: 2), as: UTF8.self)
            .replacing("\"number\": 21", with: "\"number\": 10")
        try disk.install(Array(text.utf8), at: Depot.path)
        return (disk, text)
    }

    private func check(_ error: (any Error)?, _ text: String) throws {
        let error = try #require(error as? JSONFileError, "\(String(describing: error))")
        #expect(error.path == Depot.path)
        guard case .notUnique(["number"], _) = error.fault.reason else {
            Issue.record("\(error.fault.reason)")
            return
        }
        #expect(error.fault.entity == "Parcel")
        let line = text.split(separator: "\n", omittingEmptySubsequences: false)[error.fault.position.line - 1]
        #expect(line.contains("\"number\": 10"))
        #expect("\(error)".contains("must be unique"))
    }

    @Test func aValueThatIsThereTwiceIsNamedWithFileLineAndColumn() throws {
        let (disk, text) = try edited()
        let configuration = JSONFileConfiguration(path: Depot.path, integrity: .acceptEdits, in: disk)
        try check(thrown { _ = try Workload.open(configuration) }, text)
        #expect(disk.contents(at: Depot.path) == Array(text.utf8))
    }

    @Test func whatIsNotUniqueIsNotResealed() throws {
        let (disk, text) = try edited()
        try check(thrown { try JSONFileStore.reseal(Depot.path, in: disk) }, text)
        #expect(disk.contents(at: Depot.path) == Array(text.utf8))
    }
}
