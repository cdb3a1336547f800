import Foundation
import Testing

/// What sources written for SwiftData do and was once refused.
@Suite struct SourceGapTests {
    @Test(arguments: isFullSize ? ["5", "6"] : ["6"])
    func theyCompileAndDoWhatTheySay(mode: String) throws {
        try withFolder { folder in
            let gaps = ClientProgram.root.appending(path: "Tests/SwiftDataTests/Clients/Gaps")
            let names = ["Models", mode == "5" ? "SwiftFive" : "SwiftSix", "Driver"]
            let client = try ClientProgram(
                sources: names.map { gaps.appending(path: "\($0).swift") }, in: folder, mode: mode,
                refusesWarnings: false)
            let outcome = try client.run([folder.path])
            #expect(outcome.output == "all is as it should be\n", "\(outcome.errors)")
        }
    }
}
