import Foundation
import MortiseConformance
import Shelf

let subject = ConformanceSubject("Shelf", folder: { ShelfConfiguration(folder: $0) })
exit(ConformanceProgram.main(subjects: [subject]))
