import MortiseCore

/// Which codes of a dictionary pass a test, found out when the first of them is met.
final class CodeSet {
    private let states: UnsafeMutablePointer<UInt8>
    private let count: Int
    private let dictionary: StringDictionary?
    private let holds: (String) -> Bool
    /// The only code that passes, where all have been tested.
    private var only: UInt16?
    private var isComplete = false

    private let costOfOne: Int

    /// Creates the set of codes whose strings pass a test. `cost` is that of testing one string.
    init(_ dictionary: StringDictionary?, cost: Int, _ holds: @escaping (String) -> Bool) {
        self.dictionary = dictionary
        self.holds = holds
        costOfOne = cost
        count = dictionary?.count ?? 0
        states = .allocate(capacity: max(count, 1))
        states.initialize(repeating: 2, count: max(count, 1))
        // Few different strings are tested at once, which spares asking whether one has been.
        if count <= 512 {
            for code in 0..<count { _ = decide(code) }
            isComplete = true
            let passing = (0..<count).filter { states[$0] == 1 }
            if passing.count == 1 { only = UInt16(passing[0]) }
        }
    }

    deinit { states.deallocate() }

    /// As `ColumnTest.cost`. Where not all strings have codes, most have to be read.
    var cost: Int { isComplete && count > 0 ? (only == nil ? 3 : 1) : costOfOne }

    private func decide(_ code: Int) -> Bool {
        let passes = holds(dictionary?[code] ?? "")
        states[code] = passes ? 1 : 0
        return passes
    }

    func narrow(_ rows: SelectedRows, _ place: ChunkPlace, _ entry: ChunkPlace.Entry) {
        let (states, count) = (states, count)
        if let only {
            rows.keep(place, entry, as: UInt16.self) { UInt16(littleEndian: $0) == only }
        } else if isComplete {
            rows.keep(place, entry, as: UInt16.self) { code in
                let code = Int(UInt16(littleEndian: code))
                return code < count && states[code] != 0
            }
        } else {
            rows.keep { offset in
                let code = place.code(entry, offset)
                if code >= count { return false }
                return states[code] == 2 ? decide(code) : states[code] == 1
            }
        }
    }
}
