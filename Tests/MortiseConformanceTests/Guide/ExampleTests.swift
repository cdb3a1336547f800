import MortiseConformance
import PackageSubjects
import Testing

/// The guide's example of the kit as tests.
@Suite struct ExampleTests {
    // The CSV folder has its own tests.
    let subject = PackageSubjects.memory

    @Test(arguments: ConformanceCase.all) func conforms(_ conformanceCase: ConformanceCase) throws {
        try subject.check(conformanceCase)
    }
}
