import MortiseConformance
import Testing

/// Proof that the kit bites: every faulty store is caught, and the correct one is not.
@Suite struct KillTableTests {
    static let table = KillTable()

    @Test func theCorrectStoreRaisesNoAlarm() {
        #expect(Self.table.falseAlarms == [])
    }

    @Test func faultsAndCasesHaveNamesOfTheirOwn() {
        let faults = Dictionary(grouping: StoreFault.all, by: \.id).filter { $0.value.count > 1 }.keys
        #expect(Array(faults) == [])
        #expect(Set(ConformanceCase.all.map(\.id)).count == ConformanceCase.all.count)
    }

    @Test func tableIsPrinted() {
        print(Self.table.markdown)
        print("uncaught: \(Self.table.uncaught.map(\.id))")
        print("alarms: \(Self.table.falseAlarms)")
        print("unproved: \(Self.table.unproved)")
        print("\(ConformanceCase.all.count) cases \(StoreFault.all.count) faults")
    }
}
