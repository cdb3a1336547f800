import CustomStore
import Foundation
import Mortise
import PackageTestSupport
import Testing

@Model private class Part {
    var number: Int
    var code: String
    var token: UUID?
    var weight = 0.0
    init(_ number: Int, _ code: String, _ token: UUID?) {
        (self.number, self.code, self.token) = (number, code, token)
    }
}

@Model private final class Rod: Part {
    var thread: Int
    init(_ number: Int, _ code: String, _ token: UUID?, thread: Int) {
        self.thread = thread
        super.init(number, code, token)
    }
}

/// Unsaved models are looked up by the values that they have now, however these came about.
@Suite struct UnsavedLookupTests {
    private static let stores = ["memory", "json", "log", "csv"]

    private func container(_ kind: String, _ folder: Folder) throws -> ModelContainer {
        if kind == "csv" {
            try FileManager.default.createDirectory(atPath: folder.path("parts"), withIntermediateDirectories: true)
        }
        let container =
            kind == "csv"
            ? try ModelContainer(
                for: Part.self, Rod.self,
                configurations: CSVConfiguration(folder: URL(fileURLWithPath: folder.path("parts"))))
            : try ModelContainer(
                for: Part.self, Rod.self,
                store: kind == "memory" ? "memory:\(UUID())" : "\(kind):\(folder.path("parts.\(kind)"))")
        // Would find by itself what a look-up misses, and end the test there.
        container.verifiesPushDown = false
        return container
    }

    @Test(arguments: stores) func whatIsLookedUpIsWhatThereIs(_ kind: String) throws {
        var random = SeededGenerator(seed: testSeed())
        let folder = try Folder()
        let container = try container(kind, folder)
        let (context, other) = (ModelContext(container), ModelContext(container))
        let tokens = (0..<12).map { _ in UUID() }
        // Composed and decomposed forms of one letter are the same text.
        let codes = ["", "a", "B", "e\u{301}", "\u{e9}", "zz", "10", "🙂"]
        func number() -> Int { Int.random(in: -3..<20, using: &random) }
        func code() -> String { codes.randomElement(using: &random) ?? "" }
        func token() -> UUID? { random.chance(5) ? nil : tokens.randomElement(using: &random) }
        func part() -> Part {
            random.chance(3)
                ? Rod(number(), code(), token(), thread: number()) : Part(number(), code(), token())
        }
        var removed: [Part] = []
        func check() throws {
            let all = try context.fetch(FetchDescriptor<Part>())
            let (n, m, c, t) = (number(), number(), code(), tokens.randomElement(using: &random))
            func expect(_ predicate: Predicate<Part>, _ isIncluded: (Part) -> Bool) throws {
                let found = try context.fetch(FetchDescriptor(predicate: predicate))
                let expected = all.filter(isIncluded)
                #expect(found.map(\.persistentModelID) == expected.map(\.persistentModelID))
                #expect(try context.fetchCount(FetchDescriptor(predicate: predicate)) == expected.count)
            }
            try expect(#Predicate { $0.number == n }) { $0.number == n }
            try expect(#Predicate { $0.code == c }) { $0.code == c }
            try expect(#Predicate { c == $0.code && $0.number > m }) { $0.code == c && $0.number > m }
            try expect(#Predicate { $0.token == t }) { $0.token == t }
            let several = [n, m, 400]
            try expect(#Predicate { several.contains($0.number) }) { several.contains($0.number) }
            let bolts = try context.fetch(FetchDescriptor<Rod>(predicate: #Predicate { $0.thread == n }))
            #expect(
                bolts.map(\.persistentModelID)
                    == all.compactMap { $0 as? Rod }.filter { $0.thread == n }.map(\.persistentModelID))
        }
        for step in 0..<300 {
            let all = try context.fetch(FetchDescriptor<Part>())
            switch Int.random(in: 0..<40, using: &random) {
            case 0: try context.save()
            case 1 where step > 100: context.rollback()
            case 2, 3:
                if let part = all.randomElement(using: &random) {
                    context.delete(part)
                    removed.append(part)
                }
            case 4:
                if let part = removed.popLast() { context.insert(part) }
            case 5:
                if let theirs = try other.fetch(FetchDescriptor<Part>()).randomElement(using: &random) {
                    theirs.number = number()
                    theirs.code = code()
                    try other.save()
                }
            case 6..<20:
                guard let part = all.randomElement(using: &random) else { break }
                switch Int.random(in: 0..<4, using: &random) {
                case 0: part.number = number()
                case 1: part.code = code()
                case 2: part.token = token()
                default: part.weight += 1
                }
            case 20..<24:
                // All get the same value.
                for part in all.prefix(50) { part.number = 7 }
            default: for _ in 0..<3 { context.insert(part()) }
            }
            if step % 3 == 0 { try check() }
        }
        try context.save()
        try check()
    }

    /// Bug: each look-up went through all unsaved models of the type.
    @Test func aLoopOfLookUpsAndInsertionsIsLinear() throws {
        func seconds(_ count: Int) throws -> Double {
            let folder = try Folder()
            let context = ModelContext(try container("memory", folder))
            let clock = ContinuousClock()
            let time = try clock.measure {
                for pass in 0..<2 {
                    for number in 0..<count {
                        let found = try context.fetch(
                            FetchDescriptor<Part>(predicate: #Predicate { $0.number == number }))
                        #expect(found.count == pass)
                        if let part = found.first { part.code = "b" } else { context.insert(Part(number, "a", nil)) }
                    }
                }
            }
            return time / .seconds(1) / Double(count)
        }
        let small = try seconds(500)
        let large = try seconds(5_000)
        #expect(large < small * 4, "\(small) s for each of 500, \(large) s for each of 5,000")
    }
}
