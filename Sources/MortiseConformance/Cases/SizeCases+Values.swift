import Foundation
import MortiseCore

extension ConformanceCase {
    // MARK: Bytes in one value

    /// Text whose characters of several bytes lie across every power of two.
    private static func longText(_ seed: Int, mebibytes: Int = 3) -> String {
        let part = "text \(seed) é 日本 \u{1F600} e\u{301}|"
        return String(repeating: part, count: (mebibytes << 20) / part.utf8.count) + "end \(seed)"
    }

    private static func longData(_ seed: UInt8, mebibytes: Int = 3) -> Data {
        let block = Data((0..<4_093).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ Int(seed)) })
        var data = Data(capacity: mebibytes << 20 + 8_192)
        while data.count < mebibytes << 20 { data.append(block) }
        data.append(seed)
        return data
    }

    /// A value of each size is inserted, exchanged for another and made short by updates, and compared as bytes each time.
    private static func long<Value>(
        _ c: CaseContext, _ values: [Value], of property: ReferenceWritableKeyPath<ValueSample, Value>,
        _ bytes: (Value) -> Data
    ) throws {
        func expect(_ found: Value, _ place: Int, _ what: String) throws {
            try expectBytes(bytes(found), bytes(values[place]), "value \(place), \(what)", c)
        }
        let a = try c.session()
        let sample = ValueSample()
        sample[keyPath: property] = values[0]
        try a.store(sample)
        try expect(sample[keyPath: property], 0, "in the context that saved it")
        try checkAlsoReopened(c) {
            try expect(try $0.only(ValueSample.self)[keyPath: property], 0, "in a fresh context")
        }
        for place in values.indices.dropFirst() {
            let b = try c.session()
            let found = try b.only(ValueSample.self)
            b.change("exchange the value for value \(place)") { found[keyPath: property] = values[place] }
            try b.save()
            try expect(try c.session().only(ValueSample.self)[keyPath: property], place, "after the update")
        }
    }

    private static func expectBytes(_ found: Data, _ expected: Data, _ what: String, _ c: CaseContext) throws {
        if found == expected { return }
        let same = zip(found, expected).prefix { $0 == $1 }.count
        throw c.failure(
            expected: "the \(expected.count) bytes of \(what)",
            found: "\(found.count) bytes, the first \(same) of which are the same")
    }

    /// Inserts a value, or the next one if the store says that it has no room for it; what it acknowledges comes back. It is
    /// written and read once: that takes long enough.
    private static func longOrRefused<Value>(
        _ c: CaseContext, _ values: [() -> Value], of property: ReferenceWritableKeyPath<ValueSample, Value>,
        _ bytes: (Value) -> Data
    ) throws {
        for make in values {
            let stored: Data
            do {
                let sample = ValueSample()
                sample[keyPath: property] = make()
                stored = bytes(sample[keyPath: property])
                let a = try c.session()
                a.change("insert a value of \(stored.count) bytes") { a.context.insert(sample) }
                do {
                    try a.save()
                } catch {
                    c.note("→ \(type(of: error))")
                    try c.expect(
                        StoreErrorClass.name(of: error) != nil, "an error with a class, or a save",
                        found: "\(type(of: error)): \(String("\(error)".prefix(400)))",
                        hint: "Let the error conform to ClassifiedStoreError, and say what the store has no room for.")
                    try c.expect(try c.session().count(FetchDescriptor<ValueSample>()), is: 0, "values stored:")
                    continue
                }
            }
            if c.subject.capabilities.contains(.reopening) { try c.reopen() }
            let found = try c.session().only(ValueSample.self)[keyPath: property]
            return try expectBytes(bytes(found), stored, "the value that was acknowledged", c)
        }
    }

    static let valueSizes: [ConformanceCase] = [
        size("text-of-3-mebibytes", "Text of 3 MiB comes back to the last byte.", hint: lengthHint) { c in
            try long(c, [longText(1), longText(2), "short"], of: \ValueSample.text) { Data($0.utf8) }
        },
        size(
            "text-of-17-mebibytes",
            "Text of 17 MiB comes back to the last byte, or is refused with an error that has a class; text of 5 MiB then.",
            hint: lengthHint
        ) { c in
            try longOrRefused(c, [{ longText(1, mebibytes: 17) }, { longText(2, mebibytes: 5) }], of: \.text) {
                Data($0.utf8)
            }
        },
        size(
            "data-of-17-mebibytes",
            "Data of 17 MiB comes back to the last byte, or is refused with an error that has a class; data of 5 MiB then.",
            hint: lengthHint
        ) { c in
            try longOrRefused(c, [{ longData(1, mebibytes: 17) }, { longData(2, mebibytes: 5) }], of: \.bytes) { $0 }
        },
        size("data-of-3-mebibytes", "Data of 3 MiB comes back to the last byte.", hint: lengthHint) { c in
            try long(c, [longData(1), longData(2), Data([7])], of: \ValueSample.bytes) { $0 }
        },
        size(
            "large-coded-values", "An array of 5,000 texts, and a dictionary of 2,000 keys, come back whole.",
            hint: "A coded value has a greatest length, or is cut into portions."
        ) { c in
            let words = (0..<5_000).map { "a word of some length, number \($0)" }
            let scores = Dictionary(uniqueKeysWithValues: (0..<2_000).map { ("key \($0)", $0) })
            let sample = ValueSample()
            (sample.words, sample.scores) = (words, scores)
            try c.session().store(sample)
            try checkAlsoReopened(c) { b in
                let found = try b.only(ValueSample.self)
                try expect(found.words, are: words, "words", c)
                try c.expect(
                    found.scores == scores, "a dictionary of 2,000 keys", found: "\(found.scores.count) others")
            }
        },
    ]
}
