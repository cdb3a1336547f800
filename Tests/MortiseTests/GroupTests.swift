import CustomStore
import Foundation
import Mortise
import PackageTestSupport
import Testing

private enum Kind: String, Codable, CaseIterable, Sendable { case food, rent, travel }

private enum StepName: String, Codable, Sendable { case first, second }

private enum Before {
    @Model final class Step {
        var name: String
        init(_ name: String) { self.name = name }
    }
}

@Model private final class Step {
    var name: StepName
    init(_ name: StepName) { self.name = name }
}

@Model private final class Budget {
    var name: String
    var tags: [String] = []
    var shout: String { name.uppercased() }
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
    private static let stores = StoreKinds.versioned + ["csv"] + StoreKinds.sqlite

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
            // Each answer is compared with that of the framework.
            container.verifiesPushDown = true
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
                (.year, .year), (.quarter, .quarter), (.month, .month), (.week, .weekOfYear), (.day, .day),
                (.hour, .hour),
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
                #expect(
                    paid.count == ofPaid.count && paid.allSatisfy { ofPaid[$0.key] == $0.values }, "\(zone) \(unit)")
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
            FetchDescriptor<Expense>(), by: .expression(#Expression { $0.amount < 0 }), computing: .count,
            .maximum(\.amount))
        #expect(signs.map(\.key) == [false, true])
        #expect(signs.last?.values.0 == all.count { $0.amount < 0 })
        let rates = try context.groups(FetchDescriptor<Expense>(), by: \.rate, computing: .count)
        // Nil, NaN, both zeros together, and 1.5.
        #expect(rates.count == 4 && rates.first?.key == nil && rates.dropFirst().first?.key?.isNaN == true)
    }

    @Test func groupsAreChosenOrderedAndCut() throws {
        var random = SeededGenerator(seed: testSeed())
        let context = try context("memory", try Folder(), &random)
        let all = try context.groups(
            FetchDescriptor<Expense>(), by: \.amount, computing: .count, .maximum(\.rate), .minimum(\.paid))
        let few = try context.groups(
            FetchDescriptor<Expense>(), by: \.amount, computing: .count,
            having: .count > 5 && !(.maximum(\.rate) == nil),
            sortedBy: [.descending(.count), .ascending(.minimum(\.paid))], limit: 3)
        let wanted = all.filter { $0.values.0 > 5 && $0.values.1 != nil }
        let expected = wanted.sorted { a, b in
            if a.values.0 != b.values.0 { return a.values.0 > b.values.0 }
            let (first, second) = (a.values.2, b.values.2)
            if first != second { return first == nil || (second != nil && first! < second!) }
            return a.key < b.key
        }
        #expect(few.map(\.key) == expected.prefix(3).map(\.key))
        #expect(few.allSatisfy { group in all.contains { $0.key == group.key && $0.values.0 == group.values } })
        let either = try context.groups(
            FetchDescriptor<Expense>(), by: \.amount, computing: .count, having: .count <= 5 || .sum(\.amount) < 0)
        #expect(either.map(\.key) == all.filter { $0.values.0 <= 5 || $0.key < 0 }.map(\.key))
        // Inside of another expression, where the result of `aggregate(_:by:_:)` ended the compiler.
        print(try context.groups(FetchDescriptor<Expense>(), by: \.kind, computing: .count).count)
        #expect(try context.groups(FetchDescriptor<Expense>(), by: \.kind, computing: .count, limit: -1).isEmpty)
    }

    /// A database makes groups of values alone, and does not tell what it has looked at.
    @Test(arguments: StoreKinds.versioned + ["csv"]) func theStoreGroupsWhereItCan(_ kind: String) throws {
        var random = SeededGenerator(seed: testSeed())
        let folder = try Folder()
        let context = try context(kind, folder, &random)
        let few = FetchDescriptor<Expense>(predicate: #Predicate { $0.amount < 3 })
        let explanation = try context.explainGroups(
            few, by: .start(of: .month, \.date), .property(\.kind), computing: .count)
        #expect(explanation.conjuncts.map(\.status) == [.pushed])
        // A store that groups returns groups, any other one rows.
        let groups = try context.groups(few, by: .start(of: .month, \.date), .property(\.kind), computing: .count)
        let rows = try context.fetchCount(few)
        #expect(explanation.rowsReturned == (kind == "csv" ? rows : groups.count) && rows > groups.count)
        #expect(try context.explainGroups(few, by: \.kind, \.budget, computing: .count).rowsScanned == 200)
    }

    @Test(arguments: stores) func unsavedModelsAreKeys(_ kind: String) throws {
        var random = SeededGenerator(seed: testSeed())
        let folder = try Folder()
        let context = try context(kind, folder, &random)
        let fresh = Budget("fresh")
        context.insert(fresh)
        let expenses = try context.fetch(FetchDescriptor<Expense>())
        for expense in expenses.prefix(7) { expense.budget = fresh }
        let renamed = try #require(expenses.last { $0.budget != nil && $0.budget !== fresh }?.budget)
        renamed.name = "renamed"
        let byModel = try context.groups(FetchDescriptor<Expense>(), by: \.budget, computing: .count)
        #expect(byModel.last?.key === fresh && byModel.last?.values == 7)
        let byName = try context.groups(FetchDescriptor<Expense>(), by: \.budget?.name, computing: .count)
        #expect(byName.first { $0.key == "renamed" }?.values == expenses.count { $0.budget === renamed })
        var saved = FetchDescriptor<Expense>()
        saved.includePendingChanges = false
        #expect(
            try context.groups(saved, by: \.budget?.name, computing: .count).allSatisfy { $0.key ?? "" != "fresh" })
        context.delete(renamed)
        let left = try context.groups(FetchDescriptor<Expense>(), by: \.budget, computing: .count)
        #expect(left.allSatisfy { $0.key !== renamed } && left.reduce(0) { $0 + $1.values } == 200)
        try context.save()
        #expect(
            try context.groups(FetchDescriptor<Expense>(), by: \.budget, computing: .count).map(\.values)
                == left.map(\.values))
    }

    @Test func whatNoGroupCanHaveIsRefused() throws {
        let context = ModelContext(try memory(Expense.self, Budget.self))
        context.insert(Budget("a"))
        try context.save()
        let all = FetchDescriptor<Budget>()
        #expect(throws: AggregateError.notStored(entity: "Budget", keyPath: #"\Budget.(computed Bool)"#)) {
            try context.groups(all, by: \.hasChanges, computing: .count)
        }
        do {
            _ = try context.groups(all, by: .expression(#Expression { $0.shout.count }), computing: .count)
            Issue.record("grouped by a computed property")
        } catch let error as AggregateError {
            guard case .unusableKey("Budget", "the expression", let reason) = error else { throw error }
            #expect(!reason.contains("0x") && error.errorClass == .usage)
        }
        let list = AggregateError.unusableKey(
            entity: "Budget", key: #"\Budget.tags"#,
            reason: "values of the type Array<String> are not stored as they are")
        #expect(throws: list) { try context.groups(all, by: \.tags, computing: .count) }
    }

    @Test func aGroupWhoseKeyHasNoValueNamesIt() throws {
        let folder = try Folder()
        let path = folder.path("phases.json")
        do {
            let container = try ModelContainer(for: Before.Step.self, store: "json:\(path)")
            let context = ModelContext(container)
            context.insert(Before.Step("gone"))
            try context.save()
            try container.close()
        }
        let container = try ModelContainer(for: Step.self, store: "json:\(path)")
        // Comparing the answer with the rows meets the value first.
        container.verifiesPushDown = false
        let context = ModelContext(container)
        do {
            _ = try context.groups(FetchDescriptor<Step>(), by: \.name, computing: .count)
            Issue.record("grouped by a name that the enum does not have")
        } catch let error as AggregateError {
            guard case .unusableKey("Step", let key, let reason) = error else { throw error }
            #expect(key == #"\Step.name"# && reason == #""gone" is no value of StepName"#)
        }
    }
}
