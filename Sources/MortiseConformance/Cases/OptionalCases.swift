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
            "values.optionals-set-and-cleared", level: .core,
            requirement: "An optional property can be set, changed and cleared again, each time to stay.",
            hint: "A null in an updated snapshot is read as \"not changed\"."
        ) { c in
            func make() -> OptionalSample { OptionalSample(label: "x") }
            try c.rewrite(["a", nil, "", nil, "b"], of: \OptionalSample.text, "text", make: make)
        },
    ]
}
