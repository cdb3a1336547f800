import Foundation
import MortiseCore

extension ConformanceCase {
    static let valueCases: [ConformanceCase] = [
        ConformanceCase(
            "values.every-kind", level: .firstHour,
            requirement: "A property of every storage kind comes back as it was saved.",
            hint: "One kind of value is converted to a form that cannot hold it."
        ) { c in
            let a = try c.session()
            let sample = ValueSample()
            Self.fill(sample)
            try a.store(sample)
            try Self.compare(try c.session().only(ValueSample.self), c)
            if c.subject.capabilities.contains(.reopening) {
                try c.reopen()
                try Self.compare(try c.session().only(ValueSample.self), c)
            }
        },
        ConformanceCase(
            "values.dates-to-the-last-bit", level: .firstHour,
            requirement: "A date comes back with the same bits, from the distant past to the distant future.",
            hint: "The date passes through text or whole milliseconds. Keep timeIntervalSinceReferenceDate's 64 bits."
        ) { c in
            let seconds: [Double] = [
                0, 0.1, -0.1, 1.0 / 3, 700_000_000.123_456_7, -978_307_200, 1e-9, .leastNonzeroMagnitude,
                Double(sign: .minus, exponent: 0, significand: 0), 1_000_000_000_000.000_1,
            ]
            let dates = seconds.map { Date(timeIntervalSinceReferenceDate: $0) } + [.distantPast, .distantFuture]
            try c.roundTrip(dates, of: \ValueSample.moment, "moment", make: ValueSample.init)
        },
        ConformanceCase(
            "values.data", level: .core,
            requirement: "Data comes back byte for byte: empty, every byte, and a megabyte.",
            hint: "Bytes are read as text, or a length is kept in too few bits."
        ) { c in
            var large = Data(count: 1 << 20)
            var state: UInt32 = 1
            for index in large.indices {
                state = state &* 1_664_525 &+ 1_013_904_223
                large[index] = UInt8(truncatingIfNeeded: state >> 24)
            }
            let slice = Data(0...255)[100..<200]
            try c.roundTrip(
                [Data(), Data([0]), Data(0...255), Data(repeating: 0, count: 300), slice, large],
                of: \ValueSample.bytes, "bytes", make: ValueSample.init)
        },
        ConformanceCase(
            "values.booleans", level: .core,
            requirement: "true and false come back as such, and can be exchanged by an update.",
            hint: "False is read as the absence of a value."
        ) { c in
            try c.roundTrip([true, false], of: \ValueSample.flag, "flag", make: ValueSample.init)
            try c.rewrite([nil, false, nil, true, false], of: \OptionalSample.flag, "flag") {
                OptionalSample(label: "x")
            }
        },
        ConformanceCase(
            "values.uuids", level: .core, requirement: "UUIDs come back as they were, the extreme ones too.",
            hint: "The bytes are put into another order."
        ) { c in
            let ones = UUID(uuid: (255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255))
            let ordered = UUID(uuid: (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15))
            try c.roundTrip([ones, ordered, UUID()], of: \ValueSample.token, "token", make: ValueSample.init)
        },
        ConformanceCase(
            "values.urls", level: .core,
            requirement: "A URL comes back with the same text: query, fragment, escapes, and international names.",
            hint: "The URL is normalized or turned into a path on its way."
        ) { c in
            let texts = [
                "https://example.com", "https://example.com/", "https://user@example.com:8080/a%20b/?q=1&r=%2F#part",
                "file:///tmp/a%20folder/", "mailto:someone@example.com", "relative/path", "urn:isbn:0451450523",
                "https://example.com/%E2%82%AC", "HTTP://EXAMPLE.COM/Path",
            ]
            try c.roundTrip(
                texts.compactMap { URL(string: $0) }, of: \ValueSample.link, "link", make: ValueSample.init)
        },
        ConformanceCase(
            "values.enums", level: .core,
            requirement: "An enum comes back as the case that was saved, whether its raw value is text or a number.",
            hint: "The raw value is not kept as what it is: as text, or as a 64-bit number."
        ) { c in
            try c.roundTrip(Tint.allCases, of: \ValueSample.tint, "tint", make: ValueSample.init)
            try c.rewrite(Priority.allCases, of: \OptionalSample.priority, "priority") { OptionalSample(label: "x") }
        },
        ConformanceCase(
            "values.codable-structs", level: .core,
            requirement: "A Codable struct comes back whole, with its optionals, arrays and numbers.",
            hint: "The tree of a coded value loses its nulls, or numbers become text."
        ) { c in
            let places = [
                Place(name: "", latitude: 0),
                Place(name: "Tromsø", latitude: 69.649_2, tags: ["north", ""], note: nil),
                Place(name: "\u{0}", latitude: -0.0, tags: [], note: ""),
                Place(name: "x", latitude: .greatestFiniteMagnitude, tags: ["a", "a"], note: "n"),
            ]
            try c.roundTrip(places, of: \ValueSample.place, "place", make: ValueSample.init)
        },
        ConformanceCase(
            "values.arrays-and-dictionaries", level: .core,
            requirement: "Arrays keep their order and duplicates, dictionaries their keys, and both can be empty.",
            hint: "The elements are sorted, made a set, or an empty collection becomes null."
        ) { c in
            try c.roundTrip(
                [[], ["b", "a", "b", ""], (0..<500).map(String.init)], of: \ValueSample.words, "words",
                make: ValueSample.init)
        },
        ConformanceCase(
            "values.dictionaries", level: .core,
            requirement: "Dictionaries keep every key with its value, keys that look like anything included.",
            hint: "A key is read as a path or as a name of the format."
        ) { c in
            try c.roundTrip(
                [[:], ["": 0, "a.b": 1, "$type": 2, "null": 3, "é": 4, "\u{0}": 5, "persistentIdentifier": .max]],
                of: \ValueSample.scores, "scores", make: ValueSample.init)
        },
        ConformanceCase(
            "values.inheritance", level: .core,
            requirement: "A subclass's record comes back as that class, with inherited and own properties.",
            hint: "Records of the subentity are stored or fetched by the superentity's properties only."
        ) { c in
            try c.session().store(Vehicle("V1", wheels: 4), Truck("T1", load: 7.5), Vehicle("V2", wheels: 2))
            let b = try c.session()
            let vehicles = try b.all(Vehicle.self)
            try c.expect(
                vehicles.map(\.plate), is: ["V1", "T1", "V2"], "plates of all vehicles in order of insertion:")
            try c.expect(vehicles.map(\.wheels), is: [4, 6, 2], "wheels of all vehicles:")
            try c.expect(vehicles.map { $0 is Truck }, is: [false, true, false], "which are trucks:")
            try c.expect(try b.all(Truck.self).map(\.load), is: [7.5], "loads of the trucks:")
            try c.expect(try b.count(FetchDescriptor<Vehicle>()), is: 3, "count of vehicles:")
            try c.expect(try b.count(FetchDescriptor<Truck>()), is: 1, "count of trucks:")
        },
    ]

    private static func fill(_ sample: ValueSample) {
        sample.flag = true
        sample.tiny = -8
        sample.small = -16_000
        sample.medium = -32_000_000
        sample.large = -64_000_000_000
        sample.whole = 42
        sample.byte = 200
        sample.word = 60_000
        sample.half = 4_000_000_000
        sample.wide = 18_000_000_000_000_000_000
        sample.single = 1.5
        sample.real = 2.25
        sample.amount = Decimal(string: "19.95") ?? 0
        sample.text = "text"
        sample.bytes = Data([1, 2, 3])
        sample.moment = Date(timeIntervalSinceReferenceDate: 1_000)
        sample.token = UUID(uuid: (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15))
        sample.link = URL(string: "https://example.com/a?b=c") ?? sample.link
        sample.tint = .white
        sample.priority = .high
        sample.place = Place(name: "Oslo", latitude: 59.9, tags: ["a", "b"], note: nil)
        sample.words = ["b", "a"]
        sample.scores = ["x": 1, "y": -2]
    }

    private static func compare(_ found: ValueSample, _ c: CaseContext) throws {
        let expected = ValueSample()
        fill(expected)
        try c.expect(found.flag, is: expected.flag, "Bool:")
        try c.expect(found.tiny, is: expected.tiny, "Int8:")
        try c.expect(found.small, is: expected.small, "Int16:")
        try c.expect(found.medium, is: expected.medium, "Int32:")
        try c.expect(found.large, is: expected.large, "Int64:")
        try c.expect(found.whole, is: expected.whole, "Int:")
        try c.expect(found.byte, is: expected.byte, "UInt8:")
        try c.expect(found.word, is: expected.word, "UInt16:")
        try c.expect(found.half, is: expected.half, "UInt32:")
        try c.expect(found.wide, is: expected.wide, "UInt64:")
        try c.expect(found.single, is: expected.single, "Float:")
        try c.expect(found.real, is: expected.real, "Double:")
        try c.expect(found.amount, is: expected.amount, "Decimal:")
        try c.expect(found.text, is: expected.text, "String:")
        try c.expect(found.bytes, is: expected.bytes, "Data:")
        try c.expect(found.moment, is: expected.moment, "Date:")
        try c.expect(found.token, is: expected.token, "UUID:")
        try c.expect(found.link, is: expected.link, "URL:")
        try c.expect(found.tint, is: expected.tint, "enum of String:")
        try c.expect(found.priority, is: expected.priority, "enum of Int:")
        try c.expect(found.place, is: expected.place, "Codable struct:")
        try c.expect(found.words, is: expected.words, "array:")
        try c.expect(found.scores, is: expected.scores, "dictionary:")
    }
}
