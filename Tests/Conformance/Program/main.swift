import Foundation
import MortiseConformance
import PackageSubjects

// Puts the stores of this package through the conformance kit: `mortise-conformance --help` says how.

// Stores that are wrong on purpose, or noisy, are for the tests of the kit, which name them.
let special = ([PackageSubjects.late, PackageSubjects.logging] + PackageSubjects.unsteady)
    .filter { CommandLine.arguments.contains($0.name) }
exit(ConformanceProgram.main(subjects: PackageSubjects.all + special, stores: PackageSubjects.stores))
