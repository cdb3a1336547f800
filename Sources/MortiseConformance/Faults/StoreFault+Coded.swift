import Foundation
import MortiseCore

extension StoredValue {
    /// A coded value with each of its parts exchanged, the innermost first; a part for which the body has nothing stays.
    fileprivate func rebuilt(_ body: (StoredValue) -> StoredValue?) -> StoredValue {
        let whole: StoredValue =
            switch self {
            case .array(let elements): .array(elements.map { $0.rebuilt(body) })
            case .object(let members): .object(members.mapValues { $0.rebuilt(body) })
            default: self
            }
        return body(whole) ?? whole
    }

    fileprivate var depth: Int {
        switch self {
        case .array(let elements): 1 + (elements.map(\.depth).max() ?? 0)
        case .object(let members): 1 + (members.values.map(\.depth).max() ?? 0)
        default: 0
        }
    }

    /// The value without what is deeper than that.
    fileprivate func cut(below depth: Int) -> StoredValue {
        switch self {
        case .array(let elements): .array(depth > 0 ? elements.map { $0.cut(below: depth - 1) } : [])
        case .object(let members): .object(depth > 0 ? members.mapValues { $0.cut(below: depth - 1) } : [:])
        default: self
        }
    }
}

extension StoreFault {
    /// A store that keeps parts of coded values otherwise.
    private static func coding(
        _ id: String, _ summary: String, _ change: @escaping @Sendable (StoredValue) -> StoredValue?
    ) -> StoreFault {
        whole(id, summary) { $0.rebuilt(change) }
    }

    private static func whole(
        _ id: String, _ summary: String, _ change: @escaping @Sendable (StoredValue) -> StoredValue
    ) -> StoreFault {
        StoreFault(id, summary) { steps in
            let keep = steps.keep
            steps.keep = { value, slot in
                guard slot.property.attribute?.kind == .coded, !value.isNull else { return keep(value, slot) }
                return change(value)
            }
        }
    }

    private static func renaming(
        _ id: String, _ summary: String, _ rename: @escaping @Sendable (String) -> String
    ) -> StoreFault {
        coding(id, summary) { value in
            guard case .object(let members) = value else { return nil }
            return .object(
                Dictionary(members.map { (rename($0.key), $0.value) }, uniquingKeysWith: { first, _ in first }))
        }
    }

    static let codedFaults: [StoreFault] = [
        coding("drops-nils-of-arrays", "keeps no nils in arrays") { value in
            if case .array(let elements) = value { .array(elements.filter { !$0.isNull }) } else { nil }
        },
        coding("drops-nils-of-dictionaries", "keeps no keys whose value is nil") { value in
            if case .object(let members) = value { .object(members.filter { !$0.value.isNull }) } else { nil }
        },
        coding("nils-are-zero", "keeps nil in arrays as 0") { value in
            guard case .array(let elements) = value else { return nil }
            return .array(elements.map { $0.isNull ? .integer(0) : $0 })
        },
        coding("drops-trailing-nils", "keeps no nils at the end of arrays") { value in
            guard case .array(var elements) = value else { return nil }
            while elements.last?.isNull == true { elements.removeLast() }
            return .array(elements)
        },
        coding("drops-empty-arrays", "keeps no empty arrays inside of others") { value in
            guard case .array(let elements) = value else { return nil }
            return .array(elements.filter { $0 != .array([]) })
        },
        coding("drops-empty-objects", "keeps no empty dictionaries inside of others") { value in
            guard case .object(let members) = value else { return nil }
            return .object(members.filter { $0.value != .object([:]) })
        },
        coding("empty-objects-are-arrays", "keeps an empty dictionary as an empty array") { value in
            value == .object([:]) ? .array([]) : nil
        },
        coding("coded-fractions-of-15-digits", "keeps fractions in coded values as text of 15 digits") { value in
            guard case .double(let number) = value else { return nil }
            return .double(Double(String(format: "%.15g", number)) ?? number)
        },
        coding("coded-integers-through-double", "keeps integers in coded values as fractions") { value in
            guard case .integer(let number) = value else { return nil }
            return .integer(Int64(exactly: Double(number)) ?? .max)
        },
        coding("coded-unsigned-as-signed", "keeps unsigned integers in coded values as signed ones") { value in
            if case .unsigned = value { .integer(.max) } else { nil }
        },
        coding("coded-zero-without-sign", "keeps -0.0 in coded values as 0") { value in
            if case .double(let number) = value, number == 0 { .double(0) } else { nil }
        },
        coding("coded-nan-is-nil", "keeps NaN in coded values as null") { $0 == .string("nan") ? .null : nil },
        coding("coded-nan-is-zero", "keeps NaN in coded values as 0") { $0 == .string("nan") ? .double(0) : nil },
        coding("coded-infinity-is-largest", "keeps infinity in coded values as the greatest number") { value in
            switch value {
            case .string("inf"): .double(.greatestFiniteMagnitude)
            case .string("-inf"): .double(-.greatestFiniteMagnitude)
            default: nil
            }
        },
        coding("one-nan-in-coded-values", "keeps every NaN in coded values as the same") { value in
            guard case .string(let text) = value, text.hasPrefix("nan:") else { return nil }
            return .string("nan")
        },
        coding("coded-booleans-are-numbers", "keeps Booleans in coded values as 0 and 1") { value in
            if case .bool(let flag) = value { .integer(flag ? 1 : 0) } else { nil }
        },
        coding("coded-texts-are-numbers", "reads numbers from texts in coded values") { value in
            guard case .string(let text) = value, let number = Int64(text) else { return nil }
            return .integer(number)
        },
        coding("coded-texts-are-nulls", "reads null from texts in coded values") {
            $0 == .string("null") ? .null : nil
        },
        coding("coded-texts-are-booleans", "reads true and false from texts in coded values") { value in
            switch value {
            case .string("true"): .bool(true)
            case .string("false"): .bool(false)
            default: nil
            }
        },
        coding("coded-empty-text-is-null", "keeps an empty text in coded values as null") {
            $0 == .string("") ? .null : nil
        },
        coding("coded-text-is-composed", "keeps text in coded values in composed normal form") { value in
            if case .string(let text) = value { .string(text.precomposedStringWithCanonicalMapping) } else { nil }
        },
        coding("coded-urls-without-base", "keeps the absolute text of URLs in coded values") { value in
            guard case .object(let members) = value, Set(members.keys) == ["relative", "base"],
                case .string(let relative)? = members["relative"], case .string(let base)? = members["base"]
            else { return nil }
            return URL(string: relative, relativeTo: URL(string: base)).map { .string($0.absoluteString) }
        },
        coding("numbered-keys-make-an-array", "keeps a dictionary with keys from 1 upwards as an array") { value in
            guard case .object(let members) = value, !members.isEmpty else { return nil }
            let found = (1...members.count).compactMap { members["\($0)"] }
            return found.count == members.count ? .array(found) : nil
        },
        renaming("keys-in-lower-case", "keeps keys of dictionaries in lower case") { key in
            key.count == 1 ? key.lowercased() : key
        },
        renaming("keys-without-spaces", "keeps keys of dictionaries without spaces at their ends") {
            $0.trimmingCharacters(in: .whitespaces)
        },
        renaming("keys-are-numbers", "keeps keys of dictionaries that are numbers in their shortest form") { key in
            Double(key).flatMap { Int(exactly: $0) }.map(String.init) ?? key
        },
        renaming("keys-end-at-nul", "keeps keys of dictionaries up to a NUL") { key in
            String(key.unicodeScalars.prefix { $0 != "\u{0}" })
        },
        renaming("keys-are-composed", "keeps keys of dictionaries in composed normal form") {
            $0.precomposedStringWithCanonicalMapping
        },
        coding("keys-are-paths", "keeps a key with a point in it as a dictionary in a dictionary") { value in
            guard case .object(let members) = value, let key = members.keys.first(where: { $0.contains(".") }),
                let point = key.firstIndex(of: ".")
            else { return nil }
            var rest = members
            let inner = StoredValue.object([
                String(key[key.index(after: point)...]): rest.removeValue(forKey: key) ?? .null
            ])
            rest[String(key[..<point])] = inner
            return .object(rest)
        },
        coding("drops-keys-with-signs", "keeps no keys of dictionaries that begin with a sign") { value in
            guard case .object(let members) = value else { return nil }
            return .object(
                members.filter { !$0.key.hasPrefix("$") && !$0.key.hasPrefix("@") && !$0.key.hasPrefix("_") })
        },
        coding("pairs-are-sorted", "sorts the elements of an array that looks like keys and values") { value in
            guard case .array(let elements) = value, elements.count >= 4, elements.count % 2 == 0 else { return nil }
            let isPairs = elements.enumerated().allSatisfy { place, element in
                if case .string = element { place % 2 == 0 } else { place % 2 == 1 && !element.isNull }
            }
            return isPairs ? .array(elements.sorted { "\($0)" < "\($1)" }) : nil
        },
        whole("flat-values", "keeps coded values of a depth of 3 at most") { $0.depth > 3 ? $0.cut(below: 3) : $0 },
        StoreFault("compares-coded-values", "does not write a coded value that == holds for the same") { steps in
            let merge = steps.merge
            steps.merge = { old, new, slots in
                let merged = merge(old, new, slots)
                var values = merged.values
                for place in values.indices where ValueSemantics.areEqual(old.values[place], values[place]) {
                    if case .array = values[place] { values[place] = old.values[place] }
                    if case .object = values[place] { values[place] = old.values[place] }
                }
                return DefaultSnapshot(
                    persistentIdentifier: merged.persistentIdentifier, layout: merged.layout, values: values)
            }
        },
        StoreFault("merges-dictionaries", "keeps the keys of a dictionary that an update leaves out") { steps in
            let merge = steps.merge
            steps.merge = { old, new, slots in
                let merged = merge(old, new, slots)
                var values = merged.values
                for place in values.indices {
                    if case .object(let before) = old.values[place], case .object(let after) = values[place] {
                        values[place] = .object(before.merging(after) { _, new in new })
                    }
                }
                return DefaultSnapshot(
                    persistentIdentifier: merged.persistentIdentifier, layout: merged.layout, values: values)
            }
        },
    ]
}
