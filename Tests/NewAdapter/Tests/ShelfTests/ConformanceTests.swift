import MortiseConformance
import Shelf
import Testing

private let subject = ConformanceSubject("Shelf", folder: { ShelfConfiguration(folder: $0) })

@Test(arguments: ConformanceCase.all) func conforms(_ conformanceCase: ConformanceCase) throws {
    // For what several processes do. Without the program, such cases are not tried.
    let program = ConformanceProgram.beside("shelf-conformance")
    try subject.startingProcesses(of: program).check(conformanceCase)
}
