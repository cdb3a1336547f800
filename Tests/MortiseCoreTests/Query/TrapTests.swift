import Foundation
import MortiseCore
import MortiseInMemory
import Testing

#if compiler(>=6.2)
/// Where Foundation's evaluation has no value for a model, and ends the process or throws, a fetch throws.
@Suite struct TrapTests {
    static var item: Item {
        var values = ItemValues()
        values.size = .max
        values.tiny = .min
        return Item(values)
    }
    static var overflow: Predicate<Item> { #Predicate { $0.size + 1 > 0 } }
    static var smallOverflow: Predicate<Item> { #Predicate { -$0.tiny > 0 } }
    static var divisionByZero: Predicate<Item> { #Predicate { 1 / $0.numbers.count > 0 } }
    static var remainderByZero: Predicate<Item> { #Predicate { 1 % $0.numbers.count > 0 } }
    static var openedNil: Predicate<Item> { #Predicate { $0.rank! > 0 } }
    static var noElement: Predicate<Item> { #Predicate { $0.numbers[0] > 0 } }
    static var noSlice: Predicate<Item> { #Predicate { $0.numbers[0..<1].contains(1) } }
    static var backwardRange: Predicate<Item> { #Predicate { ($0.size...1).contains(1) } }

    static var productOverflow: Predicate<Item> { #Predicate { $0.size * 2 > 0 } }
    static var differenceOverflow: Predicate<Item> { #Predicate { -2 - $0.size > 0 } }
    static var quotientOverflow: Predicate<Item> {
        let divisor: Int8 = -1
        return #Predicate { $0.tiny / divisor > 0 }
    }
    static var remainderOverflow: Predicate<Item> {
        let divisor: Int8 = -1
        return #Predicate { $0.tiny % divisor == 0 }
    }
    static var negativeIndex: Predicate<Item> {
        let index = -1
        return #Predicate { $0.numbers[index] > 0 }
    }
    static var otherType: Predicate<Item> { #Predicate { ($0 as! Special).extra > 0 } }

    /// What a fetch throws, on the pushed path and on the residual one.
    private func thrown(_ predicate: Predicate<Item>) throws -> [QueryEvaluationError] {
        try [InMemoryConfiguration() as any DataStoreConfiguration, PlainConfiguration()].map { configuration in
            let context = ModelContext(
                try ModelContainer(
                    for: Schema([Item.self, Special.self, Box.self]), configurations: [configuration]))
            context.insert(Self.item)
            try context.save()
            return try #require(throws: QueryEvaluationError.self) {
                try context.fetch(FetchDescriptor(predicate: predicate))
            }
        }
    }

    @Test func overflowThrows() async throws {
        await #expect(processExitsWith: .failure) { _ = try TrapTests.overflow.evaluate(TrapTests.item) }
        #expect(
            try thrown(Self.overflow) == Array(repeating: .arithmeticOverflow(expression: "size + 1"), count: 2))
        await #expect(processExitsWith: .failure) { _ = try TrapTests.smallOverflow.evaluate(TrapTests.item) }
        #expect(
            try thrown(Self.smallOverflow) == Array(repeating: .arithmeticOverflow(expression: "-tiny"), count: 2))
    }

    @Test func everyOperatorsOverflowThrows() async throws {
        func isOverflow(_ predicate: Predicate<Item>) throws -> Bool {
            try thrown(predicate).allSatisfy { if case .arithmeticOverflow = $0 { true } else { false } }
        }
        await #expect(processExitsWith: .failure) { _ = try TrapTests.productOverflow.evaluate(TrapTests.item) }
        #expect(try isOverflow(Self.productOverflow))
        await #expect(processExitsWith: .failure) { _ = try TrapTests.differenceOverflow.evaluate(TrapTests.item) }
        #expect(try isOverflow(Self.differenceOverflow))
        await #expect(processExitsWith: .failure) { _ = try TrapTests.quotientOverflow.evaluate(TrapTests.item) }
        #expect(try isOverflow(Self.quotientOverflow))
        await #expect(processExitsWith: .failure) { _ = try TrapTests.remainderOverflow.evaluate(TrapTests.item) }
        #expect(try isOverflow(Self.remainderOverflow))
    }

    @Test func negativeIndexesThrow() async throws {
        await #expect(processExitsWith: .failure) { _ = try TrapTests.negativeIndex.evaluate(TrapTests.item) }
        let missing = QueryEvaluationError.indexOutOfRange(expression: "numbers[-1]", index: -1, count: 0)
        #expect(try thrown(Self.negativeIndex) == [missing, missing])
    }

    @Test func forcedCastsOfOtherModelsThrow() async throws {
        await #expect(processExitsWith: .failure) { _ = try TrapTests.otherType.evaluate(TrapTests.item) }
        #expect(
            try thrown(Self.otherType).allSatisfy { if case .unwrappedNull = $0 { true } else { false } })
    }

    @Test func divisionByZeroThrows() async throws {
        await #expect(processExitsWith: .failure) { _ = try TrapTests.divisionByZero.evaluate(TrapTests.item) }
        #expect(
            try thrown(Self.divisionByZero)
                == Array(repeating: .divisionByZero(expression: "1 / numbers.count"), count: 2))
        await #expect(processExitsWith: .failure) { _ = try TrapTests.remainderByZero.evaluate(TrapTests.item) }
        #expect(
            try thrown(Self.remainderByZero)
                == Array(repeating: .divisionByZero(expression: "1 % numbers.count"), count: 2))
    }

    @Test func openingNilThrows() async throws {
        await #expect(processExitsWith: .failure) { _ = try TrapTests.openedNil.evaluate(TrapTests.item) }
        #expect(try thrown(Self.openedNil) == Array(repeating: .unwrappedNull(expression: "rank!"), count: 2))
    }

    @Test func missingElementsThrow() async throws {
        await #expect(processExitsWith: .failure) { _ = try TrapTests.noElement.evaluate(TrapTests.item) }
        let missing = QueryEvaluationError.indexOutOfRange(expression: "numbers[0]", index: 0, count: 0)
        #expect(try thrown(Self.noElement) == [missing, missing])
        await #expect(processExitsWith: .failure) { _ = try TrapTests.noSlice.evaluate(TrapTests.item) }
        let slice = QueryEvaluationError.indexOutOfRange(expression: "numbers[0..<1]", index: 1, count: 0)
        #expect(try thrown(Self.noSlice) == [slice, slice])
    }

    @Test func backwardRangesThrow() async throws {
        await #expect(processExitsWith: .failure) { _ = try TrapTests.backwardRange.evaluate(TrapTests.item) }
        #expect(try thrown(Self.backwardRange) == Array(repeating: .invalidRange(expression: "size...1"), count: 2))
    }

    /// What guards an expression is evaluated before it, also where the guard is code and the other could be pushed.
    @Test func guardsComeFirst() throws {
        let context = ModelContext(
            try ModelContainer(
                for: Schema([Item.self, Special.self, Box.self]), configurations: [InMemoryConfiguration()]))
        context.insert(Self.item)
        try context.save()
        let byCode = #Predicate<Item> { $0.loud != "" && 1 / $0.numbers.count > 0 }
        #expect(try context.fetch(FetchDescriptor(predicate: byCode)).isEmpty)
        let byBox = #Predicate<Item> { $0.box?.label == "a" && 1 / $0.numbers.count > 0 }
        context.insert(Box(BoxValues()))
        #expect(try context.fetch(FetchDescriptor(predicate: byBox)).isEmpty)
    }
}
#else
@Suite struct TrapTests {
    @Test(.disabled("processes that are expected to end need Swift 6.2 or later"))
    func whatEndsTheProcessInFoundationThrows() {}
}
#endif
