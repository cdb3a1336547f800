import MortiseAppendLog
import MortiseConformance
import Testing

struct LogConformanceTests {
    static let subject = ConformanceSubject(
        "AppendLog",
        capabilities: [
            .reopening, .erase, .batchDelete, .uniqueness, .referentialIntegrity, .versions, .history, .closing,
        ]
    ) {
        let disk = try makeDisk()
        return SubjectStorage { logConfiguration(disk) }
    }

    @Test(arguments: ConformanceCase.all) func theStorePassesEveryCase(conformanceCase: ConformanceCase) throws {
        try Self.subject.check(conformanceCase)
    }
}
