import CustomStore
import Foundation
import MortiseConformance
import Testing

/// The guide's example of the kit as tests.
@Suite struct ExampleTests {
    let subject = ConformanceSubject("CSV folder", folder: { CSVConfiguration(folder: $0) })

    @Test(arguments: ConformanceCase.all) func conforms(_ conformanceCase: ConformanceCase) throws {
        try subject.check(conformanceCase)
    }
}
