import MortiseConformance
import Testing

/// Proof that the kit bites: every faulty store is caught, and the correct one is not.
@Suite struct KillTableTests {
    static let table = KillTable()

    @Test(arguments: StoreFault.all) func everyFaultIsCaught(_ fault: StoreFault) throws {
        let row = try #require(Self.table.rows.first { $0.fault == fault })
        #expect(!row.caughtBy.isEmpty, "\(fault.id): a store that \(fault.summary)")
    }

    @Test func theCorrectStoreRaisesNoAlarm() {
        #expect(Self.table.falseAlarms == [])
    }

    @Test func faultsAndCasesHaveNamesOfTheirOwn() {
        #expect(Set(StoreFault.all.map(\.id)).count == StoreFault.all.count)
        #expect(Set(ConformanceCase.all.map(\.id)).count == ConformanceCase.all.count)
    }

    @Test func tableIsPrinted() {
        print(Self.table.markdown)
        let unproved = Self.table.unproved
        print(
            "\(unproved.count) of \(ConformanceCase.all.count) cases that no fault fails: \(unproved.joined(separator: ", "))"
        )
        #expect(Self.table.markdown.split(separator: "\n").count == StoreFault.all.count + 2)
        #expect(unproved.count < ConformanceCase.all.count / 2)
    }
}
