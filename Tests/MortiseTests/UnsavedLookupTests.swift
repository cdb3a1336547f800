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

@Model private final class DatedPart {
    @Attribute(.unique) var number: Int
    var date: Date
    var price: Decimal
    var count = 0
    init(_ number: Int) {
        self.number = number
        date = Date(timeIntervalSinceReferenceDate: Double(number))
        price = Decimal(number) / 100
    }
}

/// Unsaved models are looked up by the values that they have now, however these came about.
@Suite struct UnsavedLookupTests {
    private static let stores = StoreKinds.versioned + ["csv"] + StoreKinds.sqlite

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
            try expect(#Predicate { $0.code == c && $0.number == n }) { $0.code == c && $0.number == n }
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
            let clock = ThreadClock()
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

    // MARK: No look-up goes through all unsaved models

    /// Compares the time of one of `count` steps, of 200 and of 1,600.
    private func expectLinear(_ run: (_ count: Int) throws -> Void) throws {
        func seconds(_ count: Int) throws -> Double {
            try ThreadClock().measure { try run(count) } / .seconds(1) / Double(count)
        }
        let small = try seconds(200)
        let large = try seconds(1_600)
        #expect(large < small * 4, "\(small) s for each of 200, \(large) s for each of 1,600")
    }

    private func dated(_ kind: String, _ folder: Folder) throws -> ModelContainer {
        let container = try ModelContainer(
            for: DatedPart.self, Part.self, Rod.self,
            store: kind == "memory" ? "memory:\(UUID())" : "\(kind):\(folder.path("\(UUID()).\(kind)"))")
        container.verifiesPushDown = false
        return container
    }

    /// Bug: only integers, texts and UUIDs were looked up, all else was compared with each unsaved model.
    @Test func keysOfAllKindsAreLookedUp() throws {
        let folder = try Folder()
        try expectLinear { count in
            let context = ModelContext(try dated("memory", folder))
            for _ in 0..<2 {
                for number in 0..<count {
                    let date = Date(timeIntervalSinceReferenceDate: Double(number))
                    try context.findOrCreate(DatedPart.self, where: \.date, is: date) { DatedPart(number) }.count += 1
                    let price = Decimal(number) / 100
                    let found = try context.fetch(
                        FetchDescriptor<DatedPart>(predicate: #Predicate { $0.price == price }))
                    #expect(found.map(\.number) == [number])
                }
            }
        }
    }

    /// Bug: of the values of several properties only the first was looked up, and all models that had it were gone through.
    @Test(arguments: [true, false]) func ofSeveralKeysTheOneThatFewHaveLeadsToTheModel(_ isFirst: Bool) throws {
        let folder = try Folder()
        try expectLinear { count in
            let context = ModelContext(try dated("memory", folder))
            for _ in 0..<2 {
                for number in 0..<count {
                    let part =
                        isFirst
                        ? try context.findOrCreate(Part.self, where: \.number, \.code, is: number, "a") {
                            Part(number, "a", nil)
                        }
                        : try context.findOrCreate(Part.self, where: \.code, \.number, is: "a", number) {
                            Part(number, "a", nil)
                        }
                    #expect(part.number == number)
                }
            }
            #expect(try context.fetchCount(FetchDescriptor<Part>()) == count)
        }
    }

    /// Bug: on stores without versions, each look-up went through all changed models.
    @Test(arguments: StoreKinds.sqlite) func changedModelsAreLookedUp(_ kind: String) throws {
        let folder = try Folder()
        try expectLinear { count in
            let container = try dated(kind, folder)
            let context = ModelContext(container)
            for number in 0..<count { context.insert(DatedPart(number)) }
            try context.save()
            for number in 0..<count {
                try context.findOrCreate(DatedPart.self, where: \.number, is: number) { DatedPart(number) }.count += 1
            }
            try context.save()
            let all = try ModelContext(container).fetch(FetchDescriptor<DatedPart>())
            #expect(all.count == count && all.allSatisfy { $0.count == 1 })
        }
    }

    /// Bug: one unsaved model was looked for among all those of other types.
    @Test func modelsOfOtherTypesAreNotGoneThrough() throws {
        func seconds(beside others: Int) throws -> Double {
            let context = ModelContext(try dated("memory", try Folder()))
            for number in 0..<others { context.insert(Part(number, "a", nil)) }
            context.insert(DatedPart(0))
            func lookUpAll() throws {
                for number in 1..<100 {
                    let date = Date(timeIntervalSinceReferenceDate: Double(number))
                    #expect(try context.first(DatedPart.self, where: \.date, is: date) == nil)
                    let predicate = #Predicate<DatedPart> { $0.count == number }
                    #expect(try context.fetch(FetchDescriptor(predicate: predicate)).isEmpty)
                }
            }
            // The first look-ups come to data that no cache has yet.
            try lookUpAll()
            return try ThreadClock().measure(lookUpAll) / .seconds(1)
        }
        let few = try seconds(beside: 500)
        let many = try seconds(beside: 16_000)
        #expect(many < few * 4, "\(few) s beside 500, \(many) s beside 16,000")
    }

    /// A changed model shows in its other properties what others have saved since, and is looked up by that.
    @Test(arguments: StoreKinds.versioned + StoreKinds.sqlite)
    func changedModelsAreLookedUpByWhatOthersSave(_ kind: String) throws {
        let folder = try Folder()
        let container = try dated(kind, folder)
        let (context, other) = (ModelContext(container), ModelContext(container))
        for number in 0..<60 { context.insert(DatedPart(number)) }
        try context.save()
        for part in try context.fetch(FetchDescriptor<DatedPart>()) { part.count += 1 }
        for number in 0..<60 {
            let theirs = try #require(try other.first(DatedPart.self, where: \.number, is: number))
            theirs.number = -1 - number
            theirs.price = -theirs.price - 1
            try other.save()
            let (moved, price) = (-1 - number, -Decimal(number) / 100 - 1)
            let found = try context.fetch(FetchDescriptor<DatedPart>(predicate: #Predicate { $0.number == moved }))
            #expect(found.map(\.persistentModelID) == [theirs.persistentModelID] && found.first?.count == 1)
            #expect(try context.first(DatedPart.self, where: \.price, is: price) === found.first)
            #expect(try context.first(DatedPart.self, where: \.number, is: number) == nil)
        }
    }
}
