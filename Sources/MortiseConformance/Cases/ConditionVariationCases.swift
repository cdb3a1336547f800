import Foundation
import MortiseCore

/// Second looks at conditions, orders and lists whose answer is nearly right where values are long or near to each other.
extension ConformanceCase {
    private static func store(_ c: CaseContext, _ count: Int, _ fill: (ValueSample, Int) -> Void) throws -> CaseSession
    {
        let a = try c.session()
        a.change("insert \(count) samples") {
            for place in 0..<count {
                let sample = ValueSample()
                fill(sample, place)
                sample.words = ["\(place)"]
                a.context.insert(sample)
            }
        }
        try a.save()
        return try c.session()
    }

    private static func expect(
        _ c: CaseContext, _ session: CaseSession, _ places: [Int], _ what: String,
        _ descriptor: FetchDescriptor<ValueSample>
    ) throws {
        try c.expect(
            try session.context.fetch(descriptor).map { $0.words.first ?? "" }, is: places.map { "\($0)" },
            "places of \(what):")
    }

    private static func expect(
        _ c: CaseContext, _ session: CaseSession, _ places: [Int], _ what: String, _ predicate: Predicate<ValueSample>
    ) throws { try expect(c, session, places, what, FetchDescriptor(predicate: predicate)) }

    private static func date(_ seconds: Double) -> Date { Date(timeIntervalSinceReferenceDate: seconds) }

    private static let longHint =
        "Long values are compared by their beginnings. Compare whole values, or leave the condition to the framework."

    static let conditionVariationCases: [ConformanceCase] = [
        ConformanceCase(
            "comparison.none-of-captured", level: .core,
            requirement: "Values that are near those of a captured list are not among them.",
            hint: "The values of a list are rounded, or turned into another kind, on their way."
        ) { c in
            let one = Decimal(string: "12345678901234567890123.1") ?? 0
            let b = try store(c, 3) { sample, place in
                sample.moment = date(700_000_000.1234 + Double(place) / 1e5)
                sample.amount = [one, one + (Decimal(string: "1e-12") ?? 0), 1][place]
                sample.single = [0.1, Float(0.1).nextUp, -0.0][place]
                sample.wide = [.max, UInt64(Int64.max), 1][place]
            }
            let moments = [date(700_000_000.1234)]
            try expect(c, b, [1, 2], "dates outside of the list", #Predicate { !moments.contains($0.moment) })
            let amounts: [Decimal] = [one, Decimal(string: "1.00") ?? 1]
            try expect(c, b, [1], "decimals outside of the list", #Predicate { !amounts.contains($0.amount) })
            let singles: [Float] = [0.1, 0.0]
            try expect(c, b, [1], "floats outside of the list", #Predicate { !singles.contains($0.single) })
            let wides: [UInt64] = [.max, 2]
            try expect(c, b, [1, 2], "unsigned integers outside of the list", #Predicate { !wides.contains($0.wide) })
            try expect(c, b, [0], "the great one alone", #Predicate { wides.contains($0.wide) && $0.single != 7 })
        },
        ConformanceCase(
            "comparison.long-values-differ", level: .core,
            requirement: "Long data and URLs that differ at their ends, or in their bases, are unequal.", hint: longHint
        ) { c in
            let long = Data(repeating: 7, count: 70_000)
            let short = Data(repeating: 7, count: 300)
            let path = "https://example.com/" + String(repeating: "a", count: 3_000)
            let links = [
                URL(string: path + "b"), URL(string: path + "c"), URL(string: "page", relativeTo: URL(string: path)),
                URL(string: "https://example.com/page"),
            ].compactMap(\.self)
            try c.expect(links.count, is: 4, "URLs:")
            let b = try store(c, 4) { sample, place in
                sample.bytes = [long + [1], long + [2], short + [1], short + [2]][place]
                sample.link = links[place]
            }
            let (ofLong, ofShort) = (long + [1], short + [2])
            try expect(c, b, [1, 2, 3], "data other than a long one", #Predicate { $0.bytes != ofLong })
            try expect(c, b, [0, 1, 2], "data other than a short one", #Predicate { $0.bytes != ofShort })
            let (first, based) = (links[0], links[2])
            try expect(c, b, [1, 2, 3], "URLs other than the first", #Predicate { $0.link != first })
            try expect(c, b, [0, 1, 3], "URLs other than the one with a base", #Predicate { $0.link != based })
        },
        ConformanceCase(
            "comparison.constants-on-the-left", level: .core,
            requirement: "A constant on the left of <, <=, > and >= is the lesser or the greater one as it is written.",
            hint: "The operands change places, and the operator stays."
        ) { c in
            let b = try store(c, 3) { sample, place in
                (sample.large, sample.real, sample.text) = (Int64(place), Double(place), "\(place)")
            }
            let (one, half, text): (Int64, Double, String) = (1, 0.5, "1")
            try expect(c, b, [2], "integers that 1 is less than", #Predicate { one < $0.large })
            try expect(c, b, [0, 1], "integers that 1 is not less than", #Predicate { one >= $0.large })
            try expect(c, b, [1, 2], "numbers that 0.5 is less than", #Predicate { half <= $0.real })
            try expect(c, b, [0], "texts that \"1\" is more than", #Predicate { text > $0.text })
        },
        ConformanceCase(
            "order.within-a-second", level: .core,
            requirement: "A window of dates within one second, downwards, begins with the latest.",
            hint: "Whole seconds are sorted."
        ) { c in
            let b = try store(c, 4) { sample, place in sample.moment = date(700_000_000 + [0.5, 0.25, 0.75, 0][place]) }
            var descriptor = FetchDescriptor<ValueSample>(sortBy: [SortDescriptor(\.moment, order: .reverse)])
            descriptor.fetchLimit = 3
            try expect(c, b, [2, 0, 1], "the latest three", descriptor)
        },
        ConformanceCase(
            "order.of-three-keys", level: .core,
            requirement: "A later key decides where all before it are equal, upwards or downwards.",
            hint: "One key is carried out, or one direction for all."
        ) { c in
            let b = try store(c, 5) { sample, place in
                (sample.whole, sample.large, sample.text) = (place / 3, [1, 1, 0, 1, 1][place], "\(place % 2)")
            }
            try expect(
                c, b, [3, 4, 1, 0, 2], "whole downwards, number downwards, text downwards",
                FetchDescriptor(sortBy: [
                    SortDescriptor(\.whole, order: .reverse), SortDescriptor(\.large, order: .reverse),
                    SortDescriptor(\.text, order: .reverse),
                ]))
            try expect(
                c, b, [2, 0, 1, 4, 3], "whole, number and text upwards",
                FetchDescriptor(sortBy: [SortDescriptor(\.whole), SortDescriptor(\.large), SortDescriptor(\.text)]))
        },
        ConformanceCase(
            "text.long-differences", level: .core,
            requirement:
                "Texts that are the same for a long way are unequal, apart in an order, and not among each other.",
            hint: longHint
        ) { c in
            let (long, short) = (String(repeating: "x", count: 9_000), String(repeating: "y", count: 300))
            let texts = [long + "b", long + "a", short + "b", short + "a"]
            let b = try store(c, 4) { sample, place in sample.text = texts[place] }
            let (ofLong, ofShort, listed) = (texts[0], texts[3], [texts[0], texts[3]])
            try expect(c, b, [1, 2, 3], "texts other than a long one", #Predicate { $0.text != ofLong })
            try expect(c, b, [0, 1, 2], "texts other than a short one", #Predicate { $0.text != ofShort })
            try expect(c, b, [1, 2], "texts outside of a list", #Predicate { !listed.contains($0.text) })
            try expect(c, b, [1], "texts below a long one", #Predicate { $0.text < ofLong })
            try expect(c, b, [2, 3], "texts from a short one on", #Predicate { $0.text >= ofShort })
            try expect(c, b, [0, 1, 2], "texts with another beginning", #Predicate { !$0.text.starts(with: ofShort) })
            var descriptor = FetchDescriptor<ValueSample>(sortBy: [SortDescriptor(\.text, order: .reverse)])
            descriptor.fetchLimit = 3
            try expect(c, b, [2, 3, 0], "the last three in order", descriptor)
        },
        ConformanceCase(
            "text.bounds-beside-conditions", level: .core,
            requirement: "Bounds of texts are those of Swift, in a range and beside another condition.",
            hint: "Texts are compared by their bytes, or as a library composes them."
        ) { c in
            let texts = ["e", "e\u{301}", "\u{E9}", "f", "z", "\u{1100}\u{1161}", "\u{AC00}", "\u{F900}", "\u{8C48}"]
            let b = try store(c, texts.count) { sample, place in sample.text = texts[place] }
            for text in texts {
                let below = texts.indices.filter { texts[$0] < text }
                try expect(c, b, below, "texts below \(ExactForm.text(text))", #Predicate { $0.text < text })
                let rest = texts.indices.filter { texts[$0] >= text && texts[$0] != "z" }
                try expect(
                    c, b, rest, "texts from \(ExactForm.text(text)) on, without z",
                    #Predicate { $0.text >= text && $0.text != "z" })
            }
        },
    ]
}
