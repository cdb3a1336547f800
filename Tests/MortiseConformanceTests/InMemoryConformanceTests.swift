import MortiseConformance
import MortiseInMemory
import Testing

/// The whole kit on the store in memory.
@Suite struct InMemoryConformanceTests {
    static let subject = ConformanceSubject(
        "InMemory",
        capabilities: [.erase, .batchDelete, .uniqueness, .referentialIntegrity, .versions, .closing]
    ) {
        SubjectStorage(open: { InMemoryConfiguration() })
    }

    @Test(arguments: ConformanceCase.all) func conforms(_ conformanceCase: ConformanceCase) throws {
        try Self.subject.check(conformanceCase)
    }
}

/// The whole kit on its own reference store, which has no versions and hands out snapshots.
@Suite struct ReferenceConformanceTests {
    @Test(arguments: ConformanceCase.all) func conforms(_ conformanceCase: ConformanceCase) throws {
        try ConformanceSubject.reference.check(conformanceCase)
    }
}
