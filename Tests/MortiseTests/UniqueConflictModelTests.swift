import Foundation
import Mortise
import PackageTestSupport
import Testing

/// Random imports under random policies, against a model of what they mean in dictionaries.
@Suite struct UniqueConflictModelTests {
    /// What is stored, by number and by name.
    private struct Plain: Equatable {
        struct Bill: Equatable {
            var note: String?
            var branch: String?
            var code: Int?
            var lines: [Int] = []
            var stamp: String?
            var tags: Set<String> = []
            var payer: String?
        }
        var bills: [Int: Bill] = [:]
        var tags: [String: String?] = [:]
        var payers: [String: String?] = [:]
        var loose: [String] = []

        func owners(of bill: Bill, _ number: Int) -> Set<Int> {
            var found: Set<Int> = bills[number] == nil ? [] : [number]
            if let branch = bill.branch, let code = bill.code {
                for (other, stored) in bills where stored.branch == branch && stored.code == code {
                    found.insert(other)
                }
            }
            return found
        }
    }

    /// One newcomer, as it is described to the model and made for the context.
    private struct New {
        var number: Int
        var bill: Plain.Bill
        /// Whether the lines were set at all, and so on; what was not set says nothing.
        var setsLines: Bool
        var setsStamp: Bool
        var setsTags: Bool
        var setsPayer: Bool
        var color: String?
        var policy: UniqueConflictPolicy

        func make() -> Bill {
            let made = Bill(number, bill.note, branch: bill.branch, code: bill.code)
            if setsLines { made.lines = bill.lines.map { BillLine($0) } }
            if setsStamp { made.stamp = bill.stamp.map { BillStamp($0) } }
            if setsTags { made.tags = bill.tags.sorted().map { BillTag($0, color) } }
            if setsPayer { made.payer = bill.payer.map { BillPayer($0, color) } }
            return made
        }
    }

    private func new(_ random: inout SeededGenerator) -> New {
        func pick<T>(_ values: [T], _ random: inout SeededGenerator) -> T {
            values[Int.random(in: 0..<values.count, using: &random)]
        }
        var bill = Plain.Bill()
        bill.note = pick([nil, "x", "y", "z"], &random)
        bill.branch = pick([nil, "n", "s"], &random)
        bill.code = pick([nil, 1, 2, 3], &random)
        let (setsLines, setsStamp, setsTags, setsPayer) = (
            !random.chance(3), !random.chance(3), !random.chance(3), !random.chance(3)
        )
        if setsLines {
            bill.lines = (0..<Int.random(in: 0..<4, using: &random)).map { _ in Int.random(in: 0..<9, using: &random) }
        }
        if setsStamp { bill.stamp = pick([nil, "s", "t"], &random) }
        if setsTags { bill.tags = Set(["a", "b", "c"].filter { _ in random.chance(2) }) }
        if setsPayer { bill.payer = pick([nil, "p", "q"], &random) }
        return New(
            number: Int.random(in: 0..<6, using: &random), bill: bill, setsLines: setsLines, setsStamp: setsStamp,
            setsTags: setsTags, setsPayer: setsPayer, color: pick([nil, "red", "blue"], &random),
            policy: pick(UniqueConflictPolicy.allCases, &random))
    }

    /// Does to the model what a save of the newcomer should do.
    /// - Returns: false if the save has to fail.
    private func apply(_ new: New, _ plain: inout Plain) -> Bool {
        let before = plain
        let owners = plain.owners(of: new.bill, new.number)
        guard owners.count < 2, owners.isEmpty || new.policy != .fail else { return false }
        // What the newcomer brought along is new as well, and follows the same policy.
        for (names, isTag) in [(new.bill.tags, true), (Set([new.bill.payer].compactMap { $0 }), false)] {
            for name in names {
                let known = isTag ? plain.tags[name] != nil : plain.payers[name] != nil
                if known, new.policy == .fail {
                    plain = before
                    return false
                }
                if known, new.policy == .keep { continue }
                if isTag { plain.tags[name] = .some(new.color) } else { plain.payers[name] = .some(new.color) }
            }
        }
        guard let number = owners.first else {
            plain.bills[new.number] = new.bill
            return true
        }
        if new.policy == .keep { return true }
        guard var stored = plain.bills.removeValue(forKey: number) else { return false }
        (stored.note, stored.branch, stored.code) = (new.bill.note, new.bill.branch, new.bill.code)
        let replaces = new.policy == .replace
        if new.setsLines { stored.lines = (replaces ? [] : stored.lines) + new.bill.lines }
        if new.setsTags { stored.tags = replaces ? new.bill.tags : stored.tags.union(new.bill.tags) }
        if new.setsPayer, replaces || new.bill.payer != nil { stored.payer = new.bill.payer }
        if new.setsStamp, replaces || new.bill.stamp != nil {
            // One that is only let go of, and not replaced, stays as a record of its own.
            if !replaces, let old = stored.stamp { plain.loose.append(old) }
            stored.stamp = new.bill.stamp
        }
        plain.bills[new.number] = stored
        return true
    }

    private func text(_ plain: Plain) -> [String] {
        let bills = plain.bills.map { number, bill in
            "\(number) \(bill.note ?? "-") \(bill.lines.sorted()) \(bill.stamp ?? "-") \(bill.tags.sorted()) "
                + (bill.payer ?? "-")
        }
        let lines = plain.bills.flatMap { number, bill in bill.lines.map { "line \($0) \(number)" } }
        let stamps =
            plain.bills.compactMap { number, bill in bill.stamp.map { "stamp \($0) \(number)" } }
            + plain.loose.map { "stamp \($0) -1" }
        let tags = plain.tags.map { name, color in
            "tag \(name) \(color ?? "-") \(plain.bills.filter { $0.value.tags.contains(name) }.keys.sorted())"
        }
        let payers = plain.payers.map { name, color in
            "payer \(name) \(color ?? "-") \(plain.bills.filter { $0.value.payer == name }.keys.sorted())"
        }
        return bills.sorted() + lines.sorted() + stamps.sorted() + tags.sorted() + payers.sorted()
    }

    @Test(arguments: BillStores.all) func randomImportsDoWhatTheirPoliciesSay(_ kind: String) throws {
        let seed = testSeed()
        var random = SeededGenerator(seed: seed)
        let (runs, rounds) = kind == "memory" ? (25, 40) : (8, 25)
        for run in 0..<runs {
            let folder = try Folder()
            let container = try BillStores.container(kind, folder)
            var context = ModelContext(container)
            var plain = Plain()
            var trace: [String] = []
            for round in 0..<rounds {
                if random.chance(4) { context = ModelContext(container) }
                // Several that wait for one save are one after the other.
                var waiting: [(New, Bill)] = []
                var expected = plain
                for _ in 0..<Int.random(in: 1...3, using: &random) {
                    let new = new(&random)
                    var next = expected
                    let isSaved = apply(new, &next)
                    let made = new.make()
                    context.insert(made, onConflict: new.policy)
                    trace.append("\(new)")
                    if isSaved {
                        expected = next
                        waiting.append((new, made))
                        continue
                    }
                    #expect(throws: ModelContextError.self, "seed \(seed), \(run), \(round): \(trace)") {
                        try context.save()
                    }
                    #expect(made.modelContext === context && context.hasChanges)
                    // Nothing of the save before it is lost.
                    withdraw(made, from: context)
                }
                try context.save()
                plain = expected
                let found = try BillStores.contents(container)
                #expect(found == text(plain), "seed \(seed), run \(run), round \(round): \(trace.suffix(4))")
                if found != text(plain) { return }
                for (_, made) in waiting { #expect(made.modelContext == nil || made.modelContext === context) }
                #expect(!context.hasChanges)
            }
            try container.close()
        }
    }

    /// Takes back an insertion with all that it brought along.
    private func withdraw(_ bill: Bill, from context: ModelContext) {
        let (tags, payer) = (bill.tags, bill.payer)
        context.delete(bill)
        for tag in tags where tag.persistentModelID.isTemporary { context.delete(tag) }
        if let payer, payer.persistentModelID.isTemporary { context.delete(payer) }
    }
}
