import Foundation
import MortiseCore

extension ConformanceCase {
    static let optionalCases: [ConformanceCase] = [
        ConformanceCase(
            "values.nil-is-not-empty", level: .firstHour,
            requirement: "nil comes back as nil; an empty text, array, dictionary or piece of data comes back empty.",
            hint: "The form in which values are kept has one way to write nothing and needs two."
        ) { c in
            let a = try c.session()
            let empty = OptionalSample(label: "empty")
            empty.text = ""
            empty.bytes = Data()
            empty.words = []
            empty.scores = [:]
            try a.store(OptionalSample(label: "nil"), empty)
            func check(_ place: String) throws {
                let found = try c.session().all(OptionalSample.self)
                try c.expect(found.map(\.label), is: ["nil", "empty"], "labels \(place):")
                try c.expect(found.map(\.text), is: [nil, ""], "text \(place):")
                try c.expect(found.map(\.bytes), is: [nil, Data()], "data \(place):")
                try c.expect(found.map(\.words), is: [nil, []], "array \(place):")
                try c.expect(found.map(\.scores), is: [nil, [:]], "dictionary \(place):")
            }
            try check("in a fresh context")
            if c.subject.capabilities.contains(.reopening) {
                try c.reopen()
                try check("after reopening")
            }
        },
        ConformanceCase(
            "values.nil-is-not-zero", level: .core,
            requirement: "nil comes back as nil in a property of every kind, and zero as zero.",
            hint: "A column without null flags keeps nil as 0, false or the reference date."
        ) { c in
            let a = try c.session()
            let zero = OptionalSample(label: "zero")
            zero.flag = false
            zero.whole = 0
            zero.wide = 0
            zero.single = 0
            zero.real = 0
            zero.amount = 0
            zero.moment = Date(timeIntervalSinceReferenceDate: 0)
            zero.priority = .normal
            try a.store(zero, OptionalSample(label: "nil"))
            let found = try c.session().all(OptionalSample.self)
            try c.expect(found.map(\.flag), is: [false, nil], "Bool:")
            try c.expect(found.map(\.whole), is: [0, nil], "Int:")
            try c.expect(found.map(\.wide), is: [0, nil], "UInt64:")
            try c.expect(found.map(\.single), is: [0, nil], "Float:")
            try c.expect(found.map(\.real), is: [0, nil], "Double:")
            try c.expect(found.map(\.amount), is: [0, nil], "Decimal:")
            try c.expect(found.map(\.moment), is: [Date(timeIntervalSinceReferenceDate: 0), nil], "Date:")
            try c.expect(found.map(\.priority), is: [.normal, nil], "enum:")
            try c.expect(found.map(\.token), is: [nil, nil], "UUID:")
            try c.expect(found.map(\.link), is: [nil, nil], "URL:")
            try c.expect(found.map(\.place), is: [nil, nil], "Codable struct:")
        },
        ConformanceCase(
            "values.optionals-set-and-cleared", level: .core,
            requirement: "An optional property can be set, changed and cleared again, each time to stay.",
            hint: "A null in an updated snapshot is taken for \"not changed\"."
        ) { c in
            func make() -> OptionalSample { OptionalSample(label: "x") }
            try c.rewrite(["a", nil, "", nil, "b"], of: \OptionalSample.text, "text", make: make)
        },
        ConformanceCase(
            "values.optional-kinds-cleared", level: .core,
            requirement: "Optional properties of every kind can be cleared in one save.",
            hint: "One kind's null is not written by updates."
        ) { c in
            let a = try c.session()
            let sample = OptionalSample(label: "x")
            sample.whole = 1
            sample.real = 1.5
            sample.amount = 2
            sample.bytes = Data([1])
            sample.moment = Date(timeIntervalSinceReferenceDate: 5)
            sample.token = UUID()
            sample.link = URL(string: "https://example.com")
            sample.tint = .green
            sample.place = Place(name: "p", latitude: 1)
            sample.words = ["a"]
            try a.store(sample)
            a.change("clear all optional properties") {
                sample.whole = nil
                sample.real = nil
                sample.amount = nil
                sample.bytes = nil
                sample.moment = nil
                sample.token = nil
                sample.link = nil
                sample.tint = nil
                sample.place = nil
                sample.words = nil
            }
            try a.save()
            let found = try c.session().only(OptionalSample.self)
            try c.expect(found.whole, is: nil, "Int:")
            try c.expect(found.real, is: nil, "Double:")
            try c.expect(found.amount, is: nil, "Decimal:")
            try c.expect(found.bytes, is: nil, "Data:")
            try c.expect(found.moment, is: nil, "Date:")
            try c.expect(found.token, is: nil, "UUID:")
            try c.expect(found.link, is: nil, "URL:")
            try c.expect(found.tint, is: nil, "enum:")
            try c.expect(found.place, is: nil, "Codable struct:")
            try c.expect(found.words, is: nil, "array:")
        },
    ]
}
