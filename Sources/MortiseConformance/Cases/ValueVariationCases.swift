import Foundation
import MortiseCore

/// Second looks at values that a store may compare, sort or keep in a way that is nearly right.
extension ConformanceCase {
    /// Stores samples that differ in one property, and asks for those that differ from one of the values.
    private static func unequal<Value: Equatable & Sendable>(
        _ id: String, _ requirement: String, hint: String, _ values: [Value], to wanted: Int, finds places: [Int],
        _ property: @escaping @Sendable () -> ReferenceWritableKeyPath<ValueSample, Value>,
        _ predicate: @escaping @Sendable (Value) -> Predicate<ValueSample>
    ) -> ConformanceCase {
        ConformanceCase("comparison.\(id)", level: .core, requirement: requirement, hint: hint) { c in
            try storeSamples(c, values) { $0[keyPath: property()] = $1 }
            let found = try c.session().fetch(FetchDescriptor(predicate: predicate(values[wanted])))
            try c.expect(
                found.map { $0.words.first ?? "" }, is: places.map { "\($0)" }, "places of the values that differ:")
        }
    }

    private static func storeSamples<Value>(
        _ c: CaseContext, _ values: [Value], set: (ValueSample, Value) -> Void
    ) throws {
        let a = try c.session()
        a.change("insert \(values.count) samples") {
            for (place, value) in values.enumerated() {
                let sample = ValueSample()
                set(sample, value)
                sample.words = ["\(place)"]
                a.context.insert(sample)
            }
        }
        try a.save()
    }

    private static let nearHint = "Values that are nearly equal are taken for equal."

    static let valueVariationCases: [ConformanceCase] = [
        unequal(
            "large-integers-differ", "Integers beyond 2^53 that differ by one are unequal.", hint: nearHint,
            [Int64(1) << 53, (1 << 53) + 1, .max - 1, .max], to: 1, finds: [0, 2, 3], { \.large }
        ) { wanted in #Predicate { $0.large != wanted } },
        unequal(
            "floats-differ", "Floats that differ by little are unequal.", hint: nearHint, [Float(0.1), 0.11, 0.25],
            to: 0, finds: [1, 2], { \.single }
        ) { wanted in #Predicate { $0.single != wanted } },
        unequal(
            "dates-differ", "Dates within a millisecond are unequal.", hint: nearHint,
            [0.1, 0.100_000_1, 0.2].map { Date(timeIntervalSinceReferenceDate: $0) }, to: 0, finds: [1, 2], { \.moment }
        ) { wanted in #Predicate { $0.moment != wanted } },
        unequal(
            "data-differs", "Data that differs in its last byte is unequal.", hint: nearHint,
            [Data(repeating: 7, count: 40), Data(repeating: 7, count: 39) + [8], Data(repeating: 7, count: 41)], to: 0,
            finds: [1, 2], { \.bytes }
        ) { wanted in #Predicate { $0.bytes != wanted } },
        unequal(
            "urls-differ", "URLs that differ in case are unequal.", hint: nearHint,
            ["https://example.com/A", "https://example.com/a", "https://EXAMPLE.com/a"].compactMap { URL(string: $0) },
            to: 1, finds: [0, 2], { \.link }
        ) { wanted in #Predicate { $0.link != wanted } },
        unequal(
            "text-with-nul-differs", "Texts that differ behind a NUL are unequal.", hint: nearHint,
            ["a\u{0}b", "a\u{0}c", "a", "a\u{0}"], to: 0, finds: [1, 2, 3], { \.text }
        ) { wanted in #Predicate { $0.text != wanted } },
        unequal(
            "text-with-spaces-differs", "Texts that differ in spaces at their end are unequal.", hint: nearHint,
            ["a", "a ", "a  "], to: 0, finds: [1, 2], { \.text }
        ) { wanted in #Predicate { $0.text != wanted } },
        ConformanceCase(
            "order.windows-of-every-kind", level: .core,
            requirement: "A window of sorted records is cut from the right order, whatever kind of value is the key.",
            hint: "The key is sorted as another kind: as text, as bits, rounded, or with its sign dropped."
        ) { c in
            try storeSamples(c, Array(0..<4)) { sample, place in
                sample.large = [10, -9, 9, .min][place]
                sample.wide = [.max, 2, UInt64(Int64.max) + 1, 1][place]
                sample.single = [-1, 0.5, -2, 1][place]
                sample.real = [0.1 + 0.2, 0.3, -1, .nan][place]
                sample.amount = [10, 9, -3, 100][place]
                sample.moment = Date(timeIntervalSinceReferenceDate: [0.75, 0.25, 0.5, 0][place])
                let (first, last) = [(2, 0), (1, 9), (0, 200), (3, 1)][place] as (UInt8, UInt8)
                sample.token = UUID(uuid: (first, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, last))
            }
            let b = try c.session()
            func check(_ kind: String, _ key: SortDescriptor<ValueSample>, _ places: [Int]) throws {
                var descriptor = FetchDescriptor<ValueSample>(sortBy: [key])
                descriptor.fetchOffset = 1
                descriptor.fetchLimit = 2
                let found = try b.fetch(descriptor).map { $0.words.first ?? "" }
                try c.expect(found, is: places.map { "\($0)" }, "places of the second and third \(kind):")
            }
            try check("integer", SortDescriptor(\ValueSample.large), [1, 2])
            try check("unsigned integer", SortDescriptor(\ValueSample.wide), [1, 2])
            try check("float", SortDescriptor(\ValueSample.single), [0, 1])
            try check("double", SortDescriptor(\ValueSample.real), [2, 1])
            try check("decimal", SortDescriptor(\ValueSample.amount), [1, 0])
            try check("date", SortDescriptor(\ValueSample.moment), [1, 2])
            try check("UUID", SortDescriptor(\ValueSample.token), [1, 0])
        },
        ConformanceCase(
            "limits.smallest-and-largest-together", level: .core,
            requirement:
                "A record with the smallest value of every kind of integer, and one with the largest, keep them.",
            hint: "The number is kept in a narrower type, or the smallest value means nil."
        ) { c in
            try storeSamples(c, [false, true]) { sample, isLargest in
                sample.tiny = isLargest ? .max : .min
                sample.small = isLargest ? .max : .min
                sample.medium = isLargest ? .max : .min
                sample.large = isLargest ? .max : .min
                sample.byte = isLargest ? .max : .min
                sample.word = isLargest ? .max : .min
                sample.half = isLargest ? .max : .min
                sample.wide = isLargest ? .max : .min
            }
            func check(_ moment: String) throws {
                let found = try c.session().all(ValueSample.self)
                try c.expect(found.map(\.tiny), is: [.min, .max], "8 bits \(moment):")
                try c.expect(found.map(\.small), is: [.min, .max], "16 bits \(moment):")
                try c.expect(found.map(\.medium), is: [.min, .max], "32 bits \(moment):")
                try c.expect(found.map(\.large), is: [.min, .max], "64 bits \(moment):")
                try c.expect(found.map(\.byte), is: [.min, .max], "8 bits without sign \(moment):")
                try c.expect(found.map(\.word), is: [.min, .max], "16 bits without sign \(moment):")
                try c.expect(found.map(\.half), is: [.min, .max], "32 bits without sign \(moment):")
                try c.expect(found.map(\.wide), is: [.min, .max], "64 bits without sign \(moment):")
            }
            try check("in a fresh context")
            if c.subject.capabilities.contains(.reopening) {
                try c.reopen()
                try check("after reopening")
            }
        },
        ConformanceCase(
            "optionals.all-at-once", level: .core,
            requirement:
                "nil in every optional property of a record, beside one of zeros, stays nil, and can be asked for.",
            hint: "A kind has no null, and hands out or compares zero or empty for nil."
        ) { c in
            let zeros = OptionalSample(label: "zeros")
            (zeros.flag, zeros.whole, zeros.wide, zeros.single, zeros.real, zeros.amount) = (false, 0, 0, 0, 0, 0)
            (zeros.text, zeros.bytes, zeros.moment) = ("", Data(), Date(timeIntervalSinceReferenceDate: 0))
            zeros.token = UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
            zeros.place = Place(name: "", latitude: 0)
            (zeros.words, zeros.scores) = ([], [:])
            try c.session().store(OptionalSample(label: "nothing"), zeros)
            let b = try c.session()
            let found = try b.all(OptionalSample.self)
            let isNil: [(String, (OptionalSample) -> Bool)] = [
                ("flag", { $0.flag == nil }), ("whole", { $0.whole == nil }), ("wide", { $0.wide == nil }),
                ("single", { $0.single == nil }), ("real", { $0.real == nil }), ("amount", { $0.amount == nil }),
                ("text", { $0.text == nil }), ("bytes", { $0.bytes == nil }), ("moment", { $0.moment == nil }),
                ("token", { $0.token == nil }), ("place", { $0.place == nil }), ("words", { $0.words == nil }),
                ("scores", { $0.scores == nil }),
            ]
            for (name, isNil) in isNil {
                try c.expect(
                    found.map(isNil), is: [true, false], "whether \(name) is nil, first without and then with zero:")
            }
            func labels(_ predicate: Predicate<OptionalSample>) throws -> [String] {
                try b.fetch(FetchDescriptor(predicate: predicate)).map(\.label)
            }
            try c.expect(try labels(#Predicate { $0.wide == nil }), is: ["nothing"], "unsigned integer nil:")
            try c.expect(try labels(#Predicate { $0.single == nil }), is: ["nothing"], "float nil:")
            try c.expect(try labels(#Predicate { $0.amount == nil }), is: ["nothing"], "decimal nil:")
            try c.expect(try labels(#Predicate { $0.moment == nil }), is: ["nothing"], "date nil:")
            try c.expect(try labels(#Predicate { $0.token != nil }), is: ["zeros"], "UUID not nil:")
        },
        ConformanceCase(
            "sort.insertion-after-changes", level: .core,
            requirement:
                "Records that were changed in another order still come in that of insertion, and in every window.",
            hint: "Rows come in the order of their last change."
        ) { c in
            try storeEntries(c)
            let before = try c.session().all(Entry.self).map(\.name)
            let a = try c.session()
            for entry in try a.all(Entry.self).reversed() {
                a.change("score of \(entry.name)") { entry.score += 1 }
                try a.save()
            }
            let b = try c.session()
            try c.expect(try b.all(Entry.self).map(\.name), is: before, "names in the order of insertion:")
            var descriptor = FetchDescriptor<Entry>()
            descriptor.fetchOffset = 2
            descriptor.fetchLimit = 2
            try c.expect(try b.fetch(descriptor).map(\.name), is: Array(before[2..<4]), "third and fourth name:")
        },
    ]
}
