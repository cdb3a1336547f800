import CustomStore
import Foundation
import Mortise
import TestSupport
import Testing

private enum Kind: String, Codable, CaseIterable, Sendable { case food, rent, travel }

@Model private final class Budget {
    var name: String
    init(_ name: String) { self.name = name }
}

@Model private final class Expense {
    var date: Date
    var paid: Date?
    var kind: Kind
    var amount: Int
    var rate: Double?
    var budget: Budget?

    init(_ random: inout SeededGenerator, _ budgets: [Budget]) {
        date = Self.date(&random)
        paid = random.chance(3) ? nil : Self.date(&random)
        kind = Kind.allCases.randomElement(using: &random) ?? .food
        amount = random.below(20) - 5
        rate = [nil, 0, -0.0, 1.5, .nan].randomElement(using: &random) ?? nil
        budget = random.chance(4) ? nil : budgets.randomElement(using: &random)
    }

    /// Around the turn of years, and around the days on which clocks are turned.
    private static func date(_ random: inout SeededGenerator) -> Date {
        let starts = [1_767_222_000.0, 1_774_742_400.0, 1_792_886_400.0, -2_208_988_800, 1_700_000_000]
        let start = starts.randomElement(using: &random) ?? 0
        return Date(timeIntervalSince1970: start + Double(random.below(4 * 86_400)) - 2 * 86_400)
    }
}

@Suite struct GroupTests {
    private static let stores = ["memory", "json", "log", "csv"]

    private static func calendar(_ zone: String, firstWeekday: Int = 2) throws -> Calendar {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = try #require(TimeZone(identifier: zone))
        calendar.firstWeekday = firstWeekday
        return calendar
    }

    private func container(_ kind: String, _ folder: Folder) throws -> ModelContainer {
        guard kind == "csv" else {
            let container = try ModelContainer(
                for: Expense.self, Budget.self,
                store: kind == "memory" ? "memory:\(UUID())" : "\(kind):\(folder.path("expenses.\(kind)"))")
            container.verifiesPushDown = false
            return container
        }
        try FileManager.default.createDirectory(atPath: folder.path("expenses"), withIntermediateDirectories: true)
        return try ModelContainer(
            for: Expense.self, Budget.self,
            configurations: CSVConfiguration(folder: URL(fileURLWithPath: folder.path("expenses"))))
    }

    /// A context with saved expenses, and some that are not.
    private func context(_ kind: String, _ folder: Folder, _ random: inout SeededGenerator) throws -> ModelContext {
        let context = ModelContext(try container(kind, folder))
        let budgets = ["a", "b", "b"].map { Budget($0) }
        for budget in budgets { context.insert(budget) }
        for _ in 0..<200 { context.insert(Expense(&random, budgets)) }
        try context.save()
        return context
    }

    @Test(arguments: stores) func severalKeysAreWhatGroupingModelsGives(_ kind: String) throws {
        var random = SeededGenerator(seed: testSeed())
        let folder = try Folder()
        let context = try context(kind, folder, &random)
        for changes in [false, true] {
            if changes {
                let all = try context.fetch(FetchDescriptor<Expense>())
                for expense in all where random.chance(5) { expense.amount += 1 }
                for expense in all where random.chance(9) { context.delete(expense) }
            }
            let all = try context.fetch(FetchDescriptor<Expense>())
            let found = try context.groups(
                FetchDescriptor<Expense>(), by: \.kind, \.budget?.name, computing: .count, .sum(\.amount))
            struct Pair: Hashable {
                let kind: Kind
                let name: String?
            }
            let expected = Dictionary(grouping: all) { Pair(kind: $0.kind, name: $0.budget?.name) }
            #expect(found.count == expected.count)
            for group in found {
                let members = expected[Pair(kind: group.key.0, name: group.key.1)] ?? []
                #expect(group.values.0 == members.count)
                #expect(group.values.1 == members.reduce(0) { $0 + $1.amount })
            }
            let order = found.map { ($0.key.0.rawValue, $0.key.1 ?? "") }
            #expect(order.elementsEqual(order.sorted { $0 < $1 }, by: ==))
        }
    }

    @Test(arguments: stores) func periodsAreThoseOfTheCalendar(_ kind: String) throws {
        var random = SeededGenerator(seed: testSeed())
        let folder = try Folder()
        let context = try context(kind, folder, &random)
        let all = try context.fetch(FetchDescriptor<Expense>())
        for zone in ["Europe/Berlin", "America/New_York", "Asia/Kathmandu", "GMT"] {
            let calendar = try Self.calendar(zone, firstWeekday: zone == "GMT" ? 1 : 2)
            let components: [(CalendarPeriod.Unit, Calendar.Component)] = [
                (.year, .year), (.quarter, .quarter), (.month, .month), (.week, .weekOfYear), (.day, .day), (.hour, .hour),
            ]
            for (unit, component) in components {
                func start(_ date: Date) -> Date? { calendar.dateInterval(of: component, for: date)?.start }
                let found = try context.groups(
                    FetchDescriptor<Expense>(), by: .start(of: unit, \.date, in: calendar), computing: .count)
                let expected = Dictionary(grouping: all) { start($0.date) }.mapValues(\.count)
                #expect(found.map(\.key) == expected.keys.compactMap(\.self).sorted(), "\(zone) \(unit)")
                #expect(found.allSatisfy { expected[$0.key] == $0.values }, "\(zone) \(unit)")
                let paid = try context.groups(
                    FetchDescriptor<Expense>(), by: .start(of: unit, \.paid, in: calendar), computing: .count)
                let ofPaid = Dictionary(grouping: all) { $0.paid.flatMap(start) }.mapValues(\.count)
                #expect(paid.count == ofPaid.count && paid.allSatisfy { ofPaid[$0.key] == $0.values }, "\(zone) \(unit)")
            }
        }
    }

    @Test(arguments: stores) func relatedModelsAndExpressionsAreKeys(_ kind: String) throws {
        var random = SeededGenerator(seed: testSeed())
        let folder = try Folder()
        let context = try context(kind, folder, &random)
        let all = try context.fetch(FetchDescriptor<Expense>())
        let found = try context.groups(FetchDescriptor<Expense>(), by: \.budget, computing: .count)
        let expected = Dictionary(grouping: all) { $0.budget }.mapValues(\.count)
        // Two budgets have one name.
        #expect(found.count == 4 && found.first?.key == nil)
        for group in found { #expect(expected[group.key] == group.values) }
        let signs = try context.groups(
            FetchDescriptor<Expense>(), by: .value(#Expression { $0.amount < 0 }), computing: .count, .maximum(\.amount))
        #expect(signs.map(\.key) == [false, true])
        #expect(signs.last?.values.0 == all.count { $0.amount < 0 })
        let rates = try context.groups(FetchDescriptor<Expense>(), by: \.rate, computing: .count)
        // Nil, NaN, both zeros together, and 1.5.
        #expect(rates.count == 4 && rates.first?.key == nil && rates.dropFirst().first?.key?.isNaN == true)
    }

    @Test func groupsAreChosenOrderedAndCut() throws {
        var random = SeededGenerator(seed: testSeed())
        let context = try context("memory", try Folder(), &random)
        let all = try context.groups(FetchDescriptor<Expense>(), by: \.amount, computing: .count)
        let few = try context.groups(
            FetchDescriptor<Expense>(), by: \.amount, computing: .count, having: { $0.values > 5 },
            sortedBy: { ($0.values, $1.key) > ($1.values, $0.key) }, limit: 3)
        let expected = all.filter { $0.values > 5 }.sorted { ($0.values, $1.key) > ($1.values, $0.key) }.prefix(3)
        #expect(few.map(\.key) == expected.map(\.key))
        // Inside of another expression, where the result of `aggregate(_:by:_:)` ended the compiler.
        print(try context.groups(FetchDescriptor<Expense>(), by: \.kind, computing: .count).count)
        #expect(try context.groups(FetchDescriptor<Expense>(), by: \.kind, computing: .count, limit: -1).isEmpty)
        let explanation = try context.explainGroups(
            FetchDescriptor<Expense>(), by: .start(of: .month, \.date), .property(\.kind), computing: .count)
        #expect(explanation.rowsScanned == 200 && explanation.conjuncts.isEmpty)
    }

    @Test func whatNoGroupCanHaveIsRefused() throws {
        let context = ModelContext(try memory(Expense.self, Budget.self))
        context.insert(Budget("a"))
        try context.save()
        #expect(throws: AggregateError.self) {
            try context.groups(FetchDescriptor<Budget>(), by: \.name.count, \.hasChanges, computing: .count)
        }
    }

    @Test func datesThatNoCalendarKnowsArePeriodsOfTheirOwn() throws {
        let month = CalendarPeriod(.month, in: try Self.calendar("GMT"))
        for seconds in [Double.infinity, -.infinity, 1e300, -1e15] {
            let date = Date(timeIntervalSinceReferenceDate: seconds)
            #expect(month.start(of: date) == date)
        }
        #expect(month.start(of: Date(timeIntervalSinceReferenceDate: .nan)).timeIntervalSinceReferenceDate.isNaN)
        let coded = try JSONDecoder().decode(CalendarPeriod.self, from: JSONEncoder().encode(month))
        #expect(coded == month && coded.start(of: .distantPast) == month.start(of: .distantPast))
        // More periods than are kept.
        let hour = CalendarPeriod(.hour, in: try Self.calendar("GMT"))
        for number in 0..<10_000 {
            let start = Date(timeIntervalSinceReferenceDate: Double(number) * 3_600)
            #expect(hour.start(of: start + 1_800) == start)
        }
    }
}
