import Foundation
import MortiseConformance
import PackageSubjects

// Puts the stores of this package through the conformance kit: `mortise-conformance --help` says how.

// The store that is wrong on purpose is for the tests of the kit, which name it.
let late = [PackageSubjects.late].filter { CommandLine.arguments.contains($0.name) }
exit(ConformanceProgram.main(subjects: PackageSubjects.all + late, stores: PackageSubjects.stores))
