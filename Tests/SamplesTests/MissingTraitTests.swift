import Testing

/// A program that was built without its trait says how to build it.
struct MissingTraitTests {
    #if !Tool
    private static let needTool = [SampleProgram(name: "mortise"), .fileCatalog]
    #else
    private static let needTool: [SampleProgram] = []
    #endif
    #if !Inventory
    private static let needInventory = [SampleProgram(name: "inventory")]
    #else
    private static let needInventory: [SampleProgram] = []
    #endif

    private func expect(_ program: SampleProgram, _ arguments: String..., toNeed trait: String) async throws {
        let outcome = try await program.run(arguments)
        #expect(outcome.status == 69)
        #expect(outcome.output.isEmpty)
        #expect(outcome.errors.split(separator: "\n").count == 1)
        #expect(outcome.errors.contains("swift run --traits \(trait) \(program.name)\n"))
    }

    @Test(.enabled(if: !needTool.isEmpty, "built with the trait Tool"), arguments: needTool)
    func aProgramWithoutItsTraitSaysHowToBuildIt(program: SampleProgram) async throws {
        try await expect(program, toNeed: "Tool")
    }

    /// Its main job has no arguments, and needs no trait: see `MainJobTests`.
    @Test(.enabled(if: !needTool.isEmpty, "built with the trait Tool"))
    func theSubcommandsOfTheMusicLibraryNeedTheTrait() async throws {
        try await expect(.musicLibrary, "answers", "--store", "memory:", toNeed: "Tool")
    }

    @Test(.enabled(if: !needInventory.isEmpty, "built with the trait Inventory"), arguments: needInventory)
    func theServiceWithoutItsTraitSaysHowToBuildIt(program: SampleProgram) async throws {
        try await expect(program, toNeed: "Inventory")
    }
}
