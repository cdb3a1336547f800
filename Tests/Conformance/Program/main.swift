import Foundation
import MortiseConformance
import PackageSubjects

// Puts the stores of this package through the conformance kit: `mortise-conformance --help` says how.

// Stores that are wrong on purpose, or noisy, and the kit's own are for who names them.
let own = ConformanceSubject.references
let special = ([PackageSubjects.late, PackageSubjects.logging] + PackageSubjects.unsteady + own)
    .filter { CommandLine.arguments.contains($0.name) }
exit(ConformanceProgram.main(subjects: PackageSubjects.all + special, stores: PackageSubjects.stores))
