import Foundation
import MortiseCore

/// Second looks at a storage that another version of the models opens.
extension ConformanceCase {
    static let schemaSecondCases: [ConformanceCase] = [
        ConformanceCase(
            "schema.defaults-in-questions", level: .full, capability: .reopening,
            requirement: "Records from before a new property are found by its default, and sorted and counted by it.",
            hint:
                "The default is filled in when a record is read, and is not there for conditions; or it is another value."
        ) { c in
            try c.under(Schema([MortiseConformance.Badge.self, Receipt.self]), "insert 3 badges, save") { context in
                for number in 1...3 { context.insert(MortiseConformance.Badge(number)) }
                try context.save()
            }
            typealias Badge = Lavish.Required.Badge
            _ = try c.tryUnder(Schema([Badge.self, Receipt.self]), refusingFor: ["Badge"]) { context in
                func expect(_ what: String, _ predicate: Predicate<Badge>) throws {
                    try c.expect(
                        try context.fetchCount(FetchDescriptor(predicate: predicate)), is: 3, "badges by \(what):")
                }
                let (price, day, token): (Decimal, Date, UUID) = (Lavish.price, Lavish.day, Lavish.token)
                let bytes = Data([0, 255, 39])
                let (real, single): (Double, Float) = (0.1, 0.1)
                try expect("a Bool", #Predicate { $0.isNew })
                try expect("a Bool that is false", #Predicate { !$0.isOld })
                try expect("a double", #Predicate { $0.real == real })
                try expect("a float", #Predicate { $0.single == single })
                try expect("a decimal", #Predicate { $0.price == price })
                try expect("a date", #Predicate { $0.day >= day })
                try expect("a UUID", #Predicate { $0.token == token })
                try expect("data", #Predicate { $0.bytes == bytes })
                try expect("a text", #Predicate { $0.quoted != "" && $0.digits == "007" })
                let sorted = FetchDescriptor<Badge>(sortBy: [
                    SortDescriptor(\.real), SortDescriptor(\.day), SortDescriptor(\.number, order: .reverse),
                ])
                try c.expect(
                    try context.fetch(sorted).map(\.number), is: [3, 2, 1], "numbers by the defaults, then downwards:")
            }
        }
    ]
}
