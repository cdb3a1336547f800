import MortiseConformance
import Shelf
import Testing

private let subject = ConformanceSubject("Shelf", folder: { ShelfConfiguration(folder: $0) })

@Test(arguments: ConformanceCase.all) func conforms(_ conformanceCase: ConformanceCase) throws {
    try subject.check(conformanceCase)
}
