import CustomStore
import Foundation
import Mortise
import PackageTestSupport
import Testing

@Model private final class Row {
    #Index<Row>([\.date, \.number], [\.kind], [\.amount], [\.single, \.number])
    var number: Int
    var date: Date?
    var kind: String
    var amount: Double
    var single: Float?
    var price: Decimal?
    var key: UUID
    var flag: Bool?
    var group: RowGroup?
    /// Code, which may do anything.
    var isShown: Bool {
        PageHook.action?()
        return true
    }
    init(_ number: Int, _ kind: String) {
        (self.number, self.kind, amount, key) = (number, kind, 0, UUID())
    }
}

@Model private final class RowGroup {
    var name: String?
    var rows: [Row] = []
    init(_ name: String?) { self.name = name }
}

private enum PageHook {
    @TaskLocal static var action: (@Sendable () -> Void)?
}

/// Whether each query of a kind of store reads files or goes to a database.
private func isSlow(_ kind: String) -> Bool { kind == "csv" || StoreKinds.sqlite.contains(kind) }

/// Pages by cursors that a context gives.
@Suite struct CursorPagesTests {
    static let stores = StoreKinds.versioned + ["csv", "plain"] + StoreKinds.sqlite
    private let folder: Folder

    init() throws { folder = try Folder() }

    private func container(_ kind: String, _ name: String = "rows") throws -> ModelContainer {
        if kind == "plain" {
            return try ModelContainer(for: Row.self, RowGroup.self, configurations: PlainConfiguration())
        }
        guard kind == "csv" else {
            return try ModelContainer(
                for: Row.self, RowGroup.self,
                store: kind == "memory" ? "memory:\(UUID())" : "\(kind):\(folder.path("\(name).\(kind)"))")
        }
        try FileManager.default.createDirectory(atPath: folder.path(name), withIntermediateDirectories: true)
        return try ModelContainer(
            for: Row.self, RowGroup.self,
            configurations: CSVConfiguration(folder: URL(fileURLWithPath: folder.path(name))))
    }

    private static let texts = [
        "", "a", "A", "b", "é", "e\u{301}", "q\u{307}\u{323}", "q\u{323}\u{307}", "日本", "z", "🇩🇪", "ab",
    ]

    private func fill(_ container: ModelContainer, _ count: Int, _ random: inout SeededGenerator) throws {
        let context = ModelContext(container)
        let groups = [RowGroup(nil), RowGroup("x"), RowGroup("y")]
        for group in groups { context.insert(group) }
        for number in 0..<count { context.insert(row(number / 2, groups, &random)) }
        try context.save()
    }

    private func row(_ number: Int, _ groups: [RowGroup], _ random: inout SeededGenerator) -> Row {
        let row = Row(number, Self.texts.randomElement(using: &random) ?? "")
        func some(_ most: Int) -> Double {
            [Double.nan, -0.0, 0, .infinity, -.infinity].randomElement(using: &random).flatMap {
                random.chance(5) ? $0 : nil
            } ?? Double(Int.random(in: -most...most, using: &random))
        }
        row.date = random.chance(6) ? nil : Date(timeIntervalSinceReferenceDate: some(6))
        row.amount = some(20)
        row.single = random.chance(5) ? nil : Float(some(5))
        row.price =
            random.chance(5) ? nil : random.chance(6) ? .nan : Decimal(Int.random(in: -5...5, using: &random)) / 4
        row.flag = [nil, true, false].randomElement(using: &random) ?? nil
        row.group = random.chance(3) ? nil : groups.randomElement(using: &random)
        return row
    }

    private func keys(_ random: inout SeededGenerator) -> [SortDescriptor<Row>] {
        func order() -> SortOrder { random.chance(2) ? .forward : .reverse }
        var keys: [SortDescriptor<Row>] = []
        for _ in 0..<Int.random(in: 0...3, using: &random) {
            switch Int.random(in: 0..<9, using: &random) {
            case 0: keys.append(SortDescriptor(\.date, order: order()))
            case 1: keys.append(SortDescriptor(\.kind, comparator: .lexical, order: order()))
            case 2: keys.append(SortDescriptor(\.amount, order: order()))
            case 3: keys.append(SortDescriptor(\.single, order: order()))
            case 4: keys.append(SortDescriptor(\.price, order: order()))
            case 5: keys.append(SortDescriptor(\.key, order: order()))
            case 6: keys.append(SortDescriptor(\.group?.name, order: order()))
            case 7: keys.append(SortDescriptor(\.kind, order: order()))
            default: keys.append(SortDescriptor(\.number, order: order()))
            }
        }
        return keys
    }

    private func predicate(_ random: inout SeededGenerator) -> Predicate<Row>? {
        let number = Int.random(in: 0..<60, using: &random)
        let text = Self.texts.randomElement(using: &random) ?? ""
        switch Int.random(in: 0..<5, using: &random) {
        case 0: return #Predicate { $0.number > number }
        case 1: return #Predicate { $0.kind != text }
        case 2: return #Predicate { $0.amount > 0 || $0.date == nil }
        case 3: return #Predicate { $0.flag == true }
        default: return nil
        }
    }

    /// All pages of a descriptor, forward or backward from the end.
    private func pages(
        _ context: ModelContext, _ descriptor: FetchDescriptor<Row>, _ size: Int
    ) throws -> (forward: [Row], backward: [Row]) {
        var forward: [Row] = []
        var page = try context.page(descriptor, size: size)
        #expect(page.previous == nil)
        while true {
            forward += page.models
            guard let next = page.next else { break }
            #expect(page.models.count == size)
            // As it would come back from a client.
            let text = try PageCursor(string: next.string)
            page = try context.page(
                descriptor, after: try JSONDecoder().decode(PageCursor.self, from: try JSONEncoder().encode(text)),
                size: size)
        }
        var backward: [Row] = Array(page.models.reversed())
        while let previous = page.previous {
            let before = try context.page(descriptor, before: previous, size: size)
            #expect(before.next != nil || before.models.isEmpty)
            backward += before.models.reversed()
            page = before
        }
        return (forward, backward.reversed())
    }

    @Test(arguments: stores) func allPagesTogetherAreTheWholeOrder(_ kind: String) throws {
        let seed = testSeed()
        var random = SeededGenerator(seed: seed)
        let container = try container(kind)
        try fill(container, isSlow(kind) ? 80 : 250, &random)
        let context = ModelContext(container)
        for round in 0..<(isSlow(kind) ? 10 : 40) {
            let descriptor = FetchDescriptor<Row>(predicate: predicate(&random), sortBy: keys(&random))
            let all = try context.fetch(descriptor).map(\.persistentModelID)
            let size = Int.random(in: 1...90, using: &random)
            let found = try pages(context, descriptor, size)
            let text = "seed \(seed), round \(round), size \(size): \(descriptor.sortBy)"
            #expect(found.forward.map(\.persistentModelID) == all, "\(text)")
            #expect(found.backward.map(\.persistentModelID) == all, "\(text), backward")
        }
    }

    /// Every push-down is compared with the framework's own answer.
    @Test(arguments: ["memory", "log"]) func pagesAreTheSameWithoutTheStoresHelp(_ kind: String) throws {
        var random = SeededGenerator(seed: testSeed())
        let container = try container(kind)
        try fill(container, 150, &random)
        container.verifiesPushDown = true
        let context = ModelContext(container)
        for _ in 0..<30 {
            let descriptor = FetchDescriptor<Row>(predicate: predicate(&random), sortBy: keys(&random))
            let all = try context.fetch(descriptor).map(\.persistentModelID)
            let found = try pages(context, descriptor, 20)
            #expect(found.forward.map(\.persistentModelID) == all)
            #expect(found.backward.map(\.persistentModelID) == all)
        }
    }

    /// What changes between two pages moves to where it belongs; nothing else is left out or comes twice.
    @Test(arguments: stores) func pagesGoOnBesideOtherChanges(_ kind: String) throws {
        let seed = testSeed()
        var random = SeededGenerator(seed: seed)
        let container = try container(kind)
        try fill(container, 100, &random)
        for round in 0..<(kind == "memory" ? 20 : 5) {
            let (context, other) = (ModelContext(container), ModelContext(container))
            let descriptor = FetchDescriptor<Row>(sortBy: keys(&random))
            let before = try context.fetchIdentifiers(descriptor)
            var touched: Set<PersistentIdentifier> = []
            var found: [PersistentIdentifier] = []
            var page = try context.page(descriptor, size: 7)
            while true {
                found += page.models.map(\.persistentModelID)
                guard let next = page.next else { break }
                // The one at the place is changed or deleted often.
                for id in [page.models.last?.persistentModelID, before.randomElement(using: &random)].compactMap({ $0 })
                where random.chance(2) {
                    guard let model: Row = try? other.existingModel(for: id) else { continue }
                    touched.insert(id)
                    if random.chance(2) { other.delete(model) } else { model.amount += 3; model.date = nil }
                }
                let new = row(500, [], &random)
                other.insert(new)
                try other.save()
                touched.insert(new.persistentModelID)
                page = try context.page(descriptor, after: next, size: 7)
            }
            #expect(
                found.filter { !touched.contains($0) } == before.filter { !touched.contains($0) },
                "seed \(seed), round \(round): \(descriptor.sortBy)")
        }
    }

    /// A page is asked for in parts. All of them are of one version.
    @Test(arguments: ["memory", "log"]) func aSaveWithinAPageShowsOnTheNext(_ kind: String) throws {
        let container = try container(kind)
        let context = ModelContext(container)
        for number in 0..<6 {
            let row = Row(number, "a")
            row.date = Date(timeIntervalSinceReferenceDate: number < 4 ? 0 : 1)
            context.insert(row)
        }
        try context.save()
        let descriptor = FetchDescriptor<Row>(
            predicate: #Predicate { $0.isShown }, sortBy: [SortDescriptor(\.date), SortDescriptor(\.number)])
        let first = try context.page(descriptor, size: 2)
        let count = Tally()
        let action: @Sendable () -> Void = {
            count.add()
            guard count.count == 1 else { return }
            let other = ModelContext(container)
            for row in (try? other.fetch(FetchDescriptor<Row>())) ?? [] where row.number == 3 {
                row.date = Date(timeIntervalSinceReferenceDate: 2)
            }
            #expect(throws: Never.self) { try other.save() }
        }
        let second = try PageHook.$action.withValue(action) {
            try context.page(descriptor, after: first.next, size: 10)
        }
        #expect(count.count > 0)
        #expect(second.models.map(\.persistentModelID).count == Set(second.models.map(\.persistentModelID)).count)
        #expect(second.models.map(\.number) == [2, 3, 4, 5])
        #expect(try context.page(descriptor, after: first.next, size: 10).models.map(\.number) == [2, 4, 5, 3])
    }

    @Test(arguments: stores) func unsavedModelsHaveTheirPlaces(_ kind: String) throws {
        let seed = testSeed()
        var random = SeededGenerator(seed: seed)
        let container = try container(kind)
        try fill(container, 60, &random)
        let context = ModelContext(container)
        for _ in 0..<30 { context.insert(row(Int.random(in: 0..<30, using: &random), [], &random)) }
        for row in try context.fetch(FetchDescriptor<Row>()).prefix(10) { row.amount = 3 }
        for row in try context.fetch(FetchDescriptor<Row>()).suffix(40).prefix(5) { context.delete(row) }
        for round in 0..<15 {
            let descriptor = FetchDescriptor<Row>(predicate: predicate(&random), sortBy: keys(&random))
            let all = try context.fetch(descriptor).map(\.persistentModelID)
            var found: [PersistentIdentifier] = []
            var page = try context.page(descriptor, size: 8)
            while true {
                found += page.models.map(\.persistentModelID)
                guard let next = page.next else { break }
                page = try context.page(descriptor, after: next, size: 8)
            }
            #expect(found == all, "seed \(seed), round \(round): \(descriptor.sortBy)")
            while let previous = page.previous {
                page = try context.page(descriptor, before: previous, size: 8)
                found.removeLast(0)
            }
            #expect(page.models.map(\.persistentModelID) == Array(all.prefix(page.models.count)))
        }
        // The place of a model that is saved meanwhile stays.
        let descriptor = FetchDescriptor<Row>()
        let count = try context.fetchCount(descriptor)
        let page = try context.page(descriptor, size: count - 5)
        try context.save()
        let rest = try context.page(descriptor, after: page.next, size: 100)
        #expect(rest.models.count == 5 && rest.next == nil)
    }

    /// The rows that are looked at depend on the page alone.
    @Test(arguments: ["memory", "json", "log"]) func costDoesNotDependOnDepth(_ kind: String) throws {
        var random = SeededGenerator(seed: testSeed())
        let container = try container(kind)
        let context = ModelContext(container)
        let rows = isFullSize ? 10_000 : 2_000
        let size = rows / 100
        for number in 0..<rows {
            let row = Row(number, ["a", "b"].randomElement(using: &random) ?? "a")
            row.date = number % 100 == 0 ? nil : Date(timeIntervalSinceReferenceDate: Double(number % (rows / 5 * 2)))
            row.amount = number % 50 == 0 ? .nan : Double(number % (rows / 20))
            context.insert(row)
        }
        try context.save()
        // Nothing that has to look at all rows.
        context.fullScanPolicy = .refuse
        typealias Key = SortDescriptor<Row>
        let (date, latest) = (Key(\.date), Key(\.date, order: .reverse))
        let (number, last) = (Key(\.number), Key(\.number, order: .reverse))
        let orders: [(keys: [Key], sizes: Int)] = [
            ([date, number], 3), ([latest, number], 3), ([date, last], 3), ([latest, last], 3), ([], 3),
            ([Key(\.amount)], 12), ([Key(\.amount, order: .reverse)], 12), ([Key(\.kind)], 3),
        ]
        for (keys, sizes) in orders {
            let limit = sizes * size
            let descriptor = FetchDescriptor<Row>(sortBy: keys)
            var page = try context.page(descriptor, size: size)
            var count = page.models.count
            var (most, parts) = (0, 0)
            var (pages, deepest) = (0, page.next)
            while let next = page.next {
                pages += 1
                if pages % 10 == 0 {
                    let explanation = try context.explainPage(descriptor, after: next, size: size)
                    most = max(most, explanation.reduce(0) { $0 + $1.rowsScanned })
                    parts = max(parts, explanation.count)
                    #expect(explanation.allSatisfy { !$0.isFullScan })
                }
                deepest = next
                page = try context.page(descriptor, after: next, size: size)
                count += page.models.count
            }
            #expect(count == rows && most < limit && parts <= 6, "\(keys): \(most) rows, \(parts) parts")
            if let deepest, keys.count != 1 {
                let back = try context.explainPage(descriptor, before: deepest, size: size)
                let scanned = back.reduce(0) { $0 + $1.rowsScanned }
                #expect(scanned < limit, "\(keys) backward: \(scanned) rows")
            }
        }
    }

    @Test(arguments: stores) func aCursorOfSomethingElseIsRefused(_ kind: String) throws {
        var random = SeededGenerator(seed: testSeed())
        let (container, second) = (try container(kind), try self.container(kind, "other"))
        try fill(container, 30, &random)
        try fill(second, 30, &random)
        let context = ModelContext(container)
        let number = 3
        let descriptor = FetchDescriptor<Row>(
            predicate: #Predicate { $0.number > number }, sortBy: [SortDescriptor(\.date), SortDescriptor(\.number)])
        let cursor = try #require(try context.page(descriptor, size: 4).next)
        func refused(_ expected: PageError, _ body: () throws -> Void) {
            #expect(throws: expected, performing: body)
        }
        var changed = descriptor
        let four = 4
        changed.predicate = #Predicate { $0.number > four }
        refused(.otherPredicate(entity: "Row")) { _ = try context.page(changed, after: cursor, size: 4) }
        changed.predicate = nil
        refused(.otherPredicate(entity: "Row")) { _ = try context.page(changed, after: cursor, size: 4) }
        changed = descriptor
        changed.sortBy = [SortDescriptor(\.date), SortDescriptor(\.number, order: .reverse)]
        refused(.otherOrder(entity: "Row")) { _ = try context.page(changed, after: cursor, size: 4) }
        refused(.otherOrder(entity: "Row")) { _ = try context.page(changed, before: cursor, size: 4) }
        refused(.otherEntity(expected: "RowGroup", found: "Row")) {
            _ = try context.page(FetchDescriptor<RowGroup>(), after: cursor, size: 4)
        }
        refused(.otherStore(entity: "Row")) {
            _ = try ModelContext(second).page(descriptor, after: cursor, size: 4)
        }
        // The limit and the offset are no part of it, and the same predicate may be made again.
        let same = 3
        changed = FetchDescriptor<Row>(predicate: #Predicate { $0.number > same }, sortBy: descriptor.sortBy)
        (changed.fetchLimit, changed.fetchOffset) = (2, 7)
        #expect(
            try context.page(changed, after: cursor, size: 4).models
                == context.page(descriptor, after: cursor, size: 4).models)
        // A captured set is the same one in whatever order it is gone through.
        let set = Set(0..<50)
        var sets = FetchDescriptor<Row>(predicate: #Predicate { set.contains($0.number) })
        let first = try context.page(sets, size: 4)
        let again = Set((0..<50).shuffled() + Array(100..<5_000)).subtracting(100..<5_000)
        sets.predicate = #Predicate { again.contains($0.number) }
        #expect(throws: Never.self) { try context.page(sets, after: first.next, size: 4) }
        #expect((PageError.otherStore(entity: "Row") as any ClassifiedStoreError).errorClass == .usage)
        #expect(PageError.invalidCursor("x").localizedDescription.contains("first page"))
    }

    /// Texts that were cut, changed or made up come to an error or to a page, and never to a trap.
    @Test(arguments: stores) func textsFromAnywhereAreRefusedOrPlacesInTheOrder(_ kind: String) throws {
        let seed = testSeed()
        var random = SeededGenerator(seed: seed)
        let container = try container(kind)
        try fill(container, 30, &random)
        let context = ModelContext(container)
        let descriptor = FetchDescriptor<Row>(
            sortBy: [SortDescriptor(\.date), SortDescriptor(\.kind), SortDescriptor(\.single)])
        let string = try #require(try context.page(descriptor, size: 4).next).string
        func ends(_ text: String) {
            do {
                let cursor = try PageCursor(string: text)
                _ = try context.page(descriptor, after: cursor, size: 3)
                _ = try context.page(descriptor, before: cursor, size: 3)
            } catch {
                #expect(error is PageError, "seed \(seed): \(error)")
            }
        }
        for length in stride(from: 0, to: string.utf8.count, by: kind == "memory" ? 1 : 9) {
            let text = String(string.prefix(length))
            #expect(throws: PageError.self) { try PageCursor(string: text) }
        }
        for text in ["", "=", "é", "AAAA", String(repeating: "A", count: 1 << 21), "W10", "bnVsbA", "e30"] {
            #expect(throws: PageError.self) { try PageCursor(string: text) }
        }
        #expect(throws: PageError.self) { try JSONDecoder().decode(PageCursor.self, from: Data("\"x\"".utf8)) }
        // The text inside, changed.
        let standard = string.replacing("-", with: "+").replacing("_", with: "/")
        let padding = String(repeating: "=", count: (4 - string.utf8.count % 4) % 4)
        let inner = try #require(Data(base64Encoded: standard + padding))
        for _ in 0..<(isSlow(kind) ? 60 : 300) {
            var bytes = [UInt8](inner)
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                let place = Int.random(in: 0..<bytes.count, using: &random)
                switch Int.random(in: 0..<3, using: &random) {
                case 0: bytes[place] = UInt8.random(in: 0...127, using: &random)
                case 1: bytes.remove(at: place)
                default: bytes.insert(contentsOf: "0n\"-9e".utf8, at: place)
                }
            }
            ends(
                Data(bytes).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")
                    .replacing("=", with: ""))
        }
        // Keys of another kind, or too many of them.
        var text = String(decoding: inner, as: UTF8.self)
        text.replace(#/"keys":\[[^\]]*\]/#, with: #""keys":["sx","i1","g1"]"#)
        ends(Data(text.utf8).base64EncodedString().replacing("=", with: ""))
        text.replace(#/"keys":\[[^\]]*\]/#, with: #""keys":["sx","sx","n"]"#)
        ends(Data(text.utf8).base64EncodedString().replacing("=", with: ""))
        text.replace(#/"keys":\[[^\]]*\]/#, with: #""keys":[]"#)
        ends(Data(text.utf8).base64EncodedString().replacing("=", with: ""))
    }

    @Test func pagesHaveAtLeastOneModelAndEndWithoutACursor() throws {
        let container = try container("memory")
        let context = ModelContext(container)
        let empty = try context.page(FetchDescriptor<Row>(), size: 10)
        #expect(empty.models.isEmpty && empty.next == nil && empty.previous == nil)
        for number in 0..<4 { context.insert(Row(number, "a")) }
        try context.save()
        let descriptor = FetchDescriptor<Row>(sortBy: [SortDescriptor(\.number, order: .reverse)])
        let first = try context.page(descriptor, size: 0)
        #expect(first.models.map(\.number) == [3])
        let exact = try context.page(descriptor, after: first.next, size: 3)
        #expect(exact.models.map(\.number) == [2, 1, 0] && exact.next == nil && exact.previous != nil)
        let whole = try context.page(descriptor, size: .max)
        #expect(whole.models.count == 4 && whole.next == nil)
        let cursor = try #require(first.next)
        try context.delete(model: Row.self)
        #expect(try context.page(descriptor, after: cursor, size: 3).models.isEmpty)
        #expect(try context.page(descriptor, before: cursor, size: 3).models.isEmpty)
        let code = FetchDescriptor<Row>(sortBy: [SortDescriptor(\.kind.count)])
        #expect(throws: PageError.self) { try context.page(code, size: 3) }
    }
}
