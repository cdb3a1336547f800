import Foundation
import Testing

/// Migration plans in the shapes that apps give them: identifiers and new objects carried from one closure to the other, versions that
/// only stages name, stages in constants, swallowed errors, the current names of models in old closures, and closures that are nil.
@Suite struct PlanShapeTests {
    @Test(arguments: isFullSize ? ["5", "6"] : ["6"]) func theyDoWhatTheirAuthorsExpect(mode: String) throws {
        try withFolder { folder in
            let plans = ClientProgram.root.appending(path: "Tests/SwiftDataTests/Clients/Plans")
            let client = try ClientProgram(
                sources: ["Versions", "Driver"].map { plans.appending(path: "\($0).swift") }, in: folder, mode: mode,
                refusesWarnings: false)
            let outcome = try client.run([folder.path])
            #expect(outcome.output == "all is as it should be\n", "\(outcome.errors)")
        }
    }
}
