import MortiseCore

/// Which group each row is in.
///
/// A key that reads one property of the record comes to the same for all rows whose column has the same word there, and is evaluated
/// for the first of them only: dates in months, names of related records, and properties themselves.
struct AggregateGrouping {
    private(set) var groups = AggregateGroups()
    private let keys: [QueryExpression]
    private let evaluator: QueryEvaluator
    /// The only slot that each key reads; nil for other keys.
    private let slots: [Int?]
    /// Where there are several keys, the numbers of each one's values, and of combinations of the first two, three and so on.
    private var values: [AggregateGroups]
    private var combinations: [PairNumbers]

    init(_ keys: [QueryExpression], _ reader: RecordReader) {
        self.keys = keys
        evaluator = QueryEvaluator(reader: reader)
        slots = keys.map(\.onlySlot)
        values = Array(repeating: AggregateGroups(), count: keys.count > 1 ? keys.count : 0)
        combinations = Array(repeating: PairNumbers(), count: max(keys.count - 1, 0))
        if keys.isEmpty { _ = groups.number(of: []) }
    }

    /// The groups of a run's rows, new ones included.
    mutating func numbers(of run: FamilyRows.Run, _ columns: inout AggregateColumns) throws -> [Int] {
        if keys.isEmpty { return Array(repeating: 0, count: run.offsets.count) }
        var numbers = try numbers(ofKey: 0, run, &columns)
        for key in keys.indices.dropFirst() {
            let own = try self.numbers(ofKey: key, run, &columns)
            for place in numbers.indices {
                let (left, right) = (numbers[place], own[place])
                if let known = combinations[key - 1][left, right] {
                    numbers[place] = known
                    continue
                }
                var number = combinations[key - 1].count
                if key == keys.count - 1 {
                    let record = RecordReference(table: columns.number, row: run.first + run.offsets[place])
                    number = groups.number(of: try keys.map { try evaluator.sortKey($0, record) })
                }
                combinations[key - 1].note(number, of: left, right)
                numbers[place] = number
            }
        }
        return numbers
    }

    /// The numbers of one key's values; of an only key those of the groups.
    private mutating func numbers(
        ofKey key: Int, _ run: FamilyRows.Run, _ columns: inout AggregateColumns
    ) throws -> [Int] {
        guard let slot = slots[key], slot < columns.table.plan.columns.count, run.place.entry(slot).form.isWord else {
            return try run.offsets.map { try number(ofKey: key, columns.number, run.first + $0) }
        }
        let entry = run.place.entry(slot)
        var numbers: [Int] = []
        numbers.reserveCapacity(run.offsets.count)
        for offset in run.offsets {
            let word = run.place.isAbsent(entry, offset) ? nil : run.place.word(entry, offset)
            if let known = columns.known[key][word] {
                numbers.append(known)
                continue
            }
            let number = try number(ofKey: key, columns.number, run.first + offset)
            columns.known[key].note(number, of: word)
            numbers.append(number)
        }
        return numbers
    }

    private mutating func number(ofKey key: Int, _ table: Int, _ row: Int) throws -> Int {
        let value = try evaluator.sortKey(keys[key], RecordReference(table: table, row: row))
        return keys.count == 1 ? groups.number(of: [value]) : values[key].number(of: [value])
    }
}

extension QueryExpression {
    /// The only slot of the record in question that the expression reads, if it reads nothing else of it.
    fileprivate var onlySlot: Int? {
        var slots: Set<Int> = []
        var (uses, reads) = (0, 0)
        forEachPart { part in
            switch part {
            case .variable(0): uses += 1
            case .property(.variable(0), let property):
                reads += 1
                slots.insert(property.slot)
            default: break
            }
        }
        return slots.count == 1 && uses == reads ? slots.first : nil
    }
}

/// Numbers of what columns have in a word, and of having nothing there.
struct WordNumbers {
    /// By word, for the smallest ones, which codes and small integers are; less than zero where there is no number.
    private var small: [Int32] = []
    private var others: [UInt64: Int] = [:]
    private var absent: Int?

    private static let (smallest, most) = (UInt64(4_096), 65_536)

    subscript(word: UInt64?) -> Int? {
        guard let word else { return absent }
        if word < UInt64(small.count) {
            let number = small[Int(word)]
            return number < 0 ? nil : Int(number)
        }
        return word < Self.smallest ? nil : others[word]
    }

    /// Keeps a number, unless there are too many to keep.
    mutating func note(_ number: Int, of word: UInt64?) {
        guard let word else {
            absent = number
            return
        }
        if word < Self.smallest, let number = Int32(exactly: number) {
            if word >= UInt64(small.count) { small += repeatElement(-1, count: Int(word) + 1 - small.count) }
            small[Int(word)] = number
        } else if others.count < Self.most {
            others[word] = number
        }
    }
}

/// Numbers of pairs of numbers.
struct PairNumbers {
    /// Row by row, for pairs of small numbers; less than zero where there is no number.
    private var near: [Int32] = []
    private var far: [UInt64: Int] = [:]
    /// How many pairs have a number.
    private(set) var count = 0

    private static let (rows, width) = (1_024, 256)

    subscript(left: Int, right: Int) -> Int? {
        if left < Self.rows, right < Self.width {
            let place = left * Self.width + right
            if place < near.count, near[place] >= 0 { return Int(near[place]) }
            // A number that is too large for there.
            return far.isEmpty ? nil : far[Self.word(left, right)]
        }
        return far[Self.word(left, right)]
    }

    mutating func note(_ number: Int, of left: Int, _ right: Int) {
        count += 1
        if left < Self.rows, right < Self.width, let number = Int32(exactly: number) {
            let missing = (left + 1) * Self.width - near.count
            if missing > 0 { near += repeatElement(-1, count: missing) }
            near[left * Self.width + right] = number
        } else {
            far[Self.word(left, right)] = number
        }
    }

    private static func word(_ left: Int, _ right: Int) -> UInt64 {
        UInt64(truncatingIfNeeded: left) << 32 | UInt64(truncatingIfNeeded: right)
    }
}
