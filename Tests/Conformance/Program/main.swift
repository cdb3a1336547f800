import Foundation
import MortiseConformance
import PackageSubjects

// Puts the stores of this package through the conformance kit: `mortise-conformance --help` says how.

exit(ConformanceProgram.main(subjects: PackageSubjects.all + [PackageSubjects.late], stores: PackageSubjects.stores))
