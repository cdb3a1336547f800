#if !Tool
import Testing

/// A program that was built without its trait says how to build it.
struct MissingTraitTests {
    @Test(arguments: [SampleProgram(name: "mortise"), .fileCatalog, .musicLibrary])
    func aProgramWithoutItsTraitSaysHowToBuildIt(program: SampleProgram) async throws {
        let outcome = try await program.run()
        #expect(outcome.status == 69)
        #expect(outcome.output.isEmpty)
        #expect(outcome.errors.split(separator: "\n").count == 1)
        #expect(outcome.errors.contains("swift run --traits Tool \(program.name)\n"))
    }
}
#endif
