/// What the command line asks for.
struct Options {
    var records: [Int] = []
    var csv: String?
    var only: [String] = []
    var seed: UInt64 = 2_026
    var isSmoke = false
    var figure: String?
    var overview: String?
    /// What a child process of this program is asked to measure of itself.
    var memory: String?

    static let smokeRecords = [1_000]
    static let fullRecords = [10_000, 100_000, 1_000_000]

    static let usage = """
        mortise-bench [--records N]... [--only NAME]... [--csv FILE] [--figure FILE] [--overview FILE] [--seed N]
                      [--smoke]

          --records N   measure with N records; may be given several times (10,000, 100,000 and
                        1,000,000)
          --only NAME   run this row only, or all whose names begin with it, as ledger; may be given
                        several times
          --csv FILE    also write all measurements to a file
          --figure FILE also draw cost per record against the number of records, as SVG
          --overview FILE
                        also draw six rows of it, for README
          --seed N      make other data (2026)
          --smoke       run every way once, check that the results agree, and judge no time

        Rows: \(Row.all.map(\.name).joined(separator: ", "))
        """

    /// - Throws: `UsageError` for anything that is not understood.
    init(_ arguments: [String]) throws {
        var rest = arguments[...]
        while let option = rest.popFirst() {
            switch option {
            case "--records": records.append(try Self.number(option, rest.popFirst()))
            case "--seed": seed = UInt64(try Self.number(option, rest.popFirst()))
            case "--csv": csv = try Self.value(option, rest.popFirst())
            case "--figure": figure = try Self.value(option, rest.popFirst())
            case "--overview": overview = try Self.value(option, rest.popFirst())
            case "--memory": memory = try Self.value(option, rest.popFirst())
            case "--only": only.append(try Self.value(option, rest.popFirst()))
            case "--smoke": isSmoke = true
            default: throw UsageError("\(option) is no option.")
            }
        }
        if records.isEmpty { records = isSmoke ? Self.smokeRecords : Self.fullRecords }
        records = Set(records).sorted()
        if let unknown = only.first(where: { name in !Row.all.contains { $0.isCalled(name) } }) {
            throw UsageError("There is no row called \(unknown).")
        }
    }

    var rows: [Row] { Row.all.filter { row in only.isEmpty || only.contains { row.isCalled($0) } } }

    private static func value(_ option: String, _ value: String?) throws -> String {
        guard let value, !value.hasPrefix("--") else { throw UsageError("\(option) wants a value.") }
        return value
    }

    private static func number(_ option: String, _ text: String?) throws -> Int {
        let text = try value(option, text)
        guard let number = Int(text), number > 0 else {
            throw UsageError("\(option) wants a number greater than 0, not \(text).")
        }
        return number
    }
}

extension Row {
    /// Whether a name asks for the row: its own, or one that is no row's and that its own begins with.
    fileprivate func isCalled(_ name: String) -> Bool {
        self.name == name || (self.name.hasPrefix(name + "-") && !Row.all.contains { $0.name == name })
    }
}

/// A command line that is not understood.
struct UsageError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
