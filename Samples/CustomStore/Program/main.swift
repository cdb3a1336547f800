import CustomStore
import Foundation
import MortiseConformance

// Puts the store of this sample through the conformance kit: `custom-store --help` says how.

let subject = ConformanceSubject("CSV folder", folder: { CSVConfiguration(folder: $0) })
exit(ConformanceProgram.main(subjects: [subject]))
