#if RemoteStore
import Foundation
import MortiseConformance

// Starts the service, puts the store through the conformance kit, and then lets the service misbehave. With --first-hour
// the kit's first cases have to do.

let service = RemoteService()
let address = try service.start()
let subject = ConformanceSubject("RemoteStore") {
    let name = UUID().uuidString
    return SubjectStorage(open: { RemoteConfiguration(address, store: name) })
}
let level = CommandLine.arguments.contains("--first-hour") ? ConformanceCase.Level.firstHour : .full
let report = ConformanceRun(subject, level: level).report { result in
    if result.status == .passed { return }
    print("  ✗ \(result.caseID)\n\(result.failure?.description ?? "")")
}
print("\(report.subject): \(report.countsLine)")
for finding in report.findings { print("  \(finding)") }
let checks = RemoteFaults(service: service, address: address).run()
for check in checks {
    print("\(check.fault == nil ? "  ✓" : "  ✗") \(check.name)\(check.fault.map { ": \($0)" } ?? "")")
}
let failed = report.failed + report.findings.count + checks.count { $0.fault != nil }
print(
    "\(report.passed + report.refused + checks.count { $0.fault == nil }) passed, \(failed) failed, \(report.skipped) skipped"
)
exit(failed == 0 ? 0 : 1)
#else
print("This sample needs a server library. Run it with: swift run --traits RemoteStore remote-store")
print("0 passed, 0 failed, 1 skipped")
#endif
