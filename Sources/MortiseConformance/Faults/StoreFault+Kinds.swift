import Foundation
import MortiseCore

extension StoreFault {
    /// A store that keeps one kind of value wrongly.
    private static func keeping(
        _ id: String, _ summary: String, _ kinds: Set<StorageKind>,
        _ change: @escaping @Sendable (StoredValue) -> StoredValue?
    ) -> StoreFault {
        StoreFault(id, summary) { steps in
            let keep = steps.keep
            steps.keep = { value, slot in
                guard let kind = slot.property.attribute?.kind, kinds.contains(kind) else { return keep(value, slot) }
                return change(value) ?? keep(value, slot)
            }
        }
    }

    private static func reservesSmallest(_ kind: StorageKind, _ smallest: Int64) -> StoreFault {
        keeping("smallest-\(kind.rawValue)", "keeps no smallest \(kind.rawValue), which means nil", [kind]) {
            $0 == .integer(smallest) ? .integer(smallest + 1) : nil
        }
    }

    private static func clamps(_ kind: StorageKind, _ largest: Int64) -> StoreFault {
        keeping("signed-\(kind.rawValue)", "keeps \(kind.rawValue) in as many bits with a sign", [kind]) { value in
            guard case .integer(let number) = value, number > largest else { return nil }
            return .integer(largest)
        }
    }

    /// A store without a null for one kind of value.
    private static func nullless(_ kind: StorageKind, _ name: String, _ zero: StoredValue) -> StoreFault {
        StoreFault("no-null-\(name)", "has no null for \(name), and hands out zero or empty for nil") { steps in
            let keep = steps.keep
            steps.keep = { value, slot in
                value.isNull && slot.property.attribute?.kind == kind && slot.property.isOptional
                    && (kind != .coded || slot.name == name) ? zero : keep(value, slot)
            }
        }
    }

    static let kindFaults: [StoreFault] = [
        reservesSmallest(.int8, -128), reservesSmallest(.int16, -32_768), reservesSmallest(.int32, -2_147_483_648),
        reservesSmallest(.int64, .min), clamps(.uint8, 127), clamps(.uint16, 32_767), clamps(.uint32, 2_147_483_647),
        nullless(.bool, "bool", .bool(false)), nullless(.int64, "int", .integer(0)),
        nullless(.uint64, "uint64", .unsigned(0)), nullless(.float, "float", .float(0)),
        nullless(.double, "double", .double(0)), nullless(.decimal, "decimal", .decimal(0)),
        nullless(.data, "data", .data(Data())),
        nullless(.date, "date", .date(Date(timeIntervalSinceReferenceDate: 0))),
        nullless(.uuid, "uuid", .uuid(UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)))),
        nullless(
            .coded, "place", .object(["name": .string(""), "latitude": .double(0), "tags": .array([]), "note": .null])),
        nullless(.coded, "words", .array([])), nullless(.coded, "scores", .object([:])),
    ]

    /// A store whose conditions see values otherwise than they are kept.
    private static func seeing(
        _ id: String, _ summary: String, _ see: @escaping @Sendable (StoredValue) -> StoredValue?
    ) -> StoreFault {
        StoreFault(id, summary, in: .planning) { $0.seen = { see($0) ?? $0 } }
    }

    static let comparisonFaults: [StoreFault] = [
        seeing("compares-integers-as-doubles", "compares integers as doubles") { value in
            guard case .integer(let number) = value else { return nil }
            return .integer(Int64(exactly: Double(number)) ?? .max)
        },
        seeing("compares-unsigned-as-signed", "compares unsigned integers as signed ones") { value in
            guard case .unsigned(let number) = value else { return nil }
            return .unsigned(number ^ (1 << 63))
        },
        seeing("compares-floats-rounded", "compares floats by two digits") { value in
            guard case .float(let number) = value, number.isFinite else { return nil }
            return .float((number * 3).rounded() / 3)
        },
        seeing("compares-doubles-rounded", "compares doubles by fifteen digits") { value in
            guard case .double(let number) = value, number.isFinite else { return nil }
            return .double(Double(String(format: "%.15g", number)) ?? number)
        },
        seeing("nan-is-a-number", "compares NaN as a very small number") { value in
            guard case .double(let number) = value, number.isNaN else { return nil }
            return .double(-.greatestFiniteMagnitude)
        },
        seeing("compares-bits-of-zero", "compares -0.0 as less than 0.0") { value in
            guard case .double(let number) = value, number == 0, number.sign == .minus else { return nil }
            return .double(-.leastNonzeroMagnitude)
        },
        seeing("compares-decimals-as-doubles", "compares decimals as doubles") { value in
            guard case .decimal(let number) = value, let double = Double(number.description) else { return nil }
            return .decimal(Decimal(string: "\(double)") ?? number)
        },
        seeing("compares-whole-milliseconds", "compares dates by milliseconds") { value in
            guard case .date(let date) = value else { return nil }
            return .date(
                Date(timeIntervalSinceReferenceDate: (date.timeIntervalSinceReferenceDate * 1000).rounded() / 1000))
        },
        seeing("compares-half-a-uuid", "compares the first fifteen bytes of UUIDs") { value in
            guard case .uuid(let uuid) = value else { return nil }
            var bytes = uuid.uuid
            bytes.15 = 0
            return .uuid(UUID(uuid: bytes))
        },
        seeing("compares-beginnings-of-data", "compares the first bytes of data") { value in
            if case .data(let data) = value { .data(data.prefix(16)) } else { nil }
        },
        seeing("compares-urls-in-lower-case", "compares URLs without regard to case") { value in
            guard case .url(let url) = value else { return nil }
            return URL(string: url.absoluteString.lowercased()).map(StoredValue.url)
        },
        seeing("compares-up-to-nul", "compares texts up to a NUL") { value in
            guard case .string(let text) = value else { return nil }
            return .string(String(text.unicodeScalars.prefix { $0 != "\u{0}" }))
        },
        seeing("compares-padded", "compares texts without spaces at their end") { value in
            guard case .string(let text) = value else { return nil }
            return .string(String(text.reversed().drop { $0 == " " }.reversed()))
        },
        seeing("compares-code-units", "compares texts by code units of 16 bits") { value in
            guard case .string(let text) = value, text.unicodeScalars.contains(where: { $0.value > 0xFFFF }) else {
                return nil
            }
            // Surrogates come before the private use area and what follows it.
            let scalars = text.unicodeScalars.map { $0.value > 0xFFFF ? "\u{E000}" : String($0) }
            return .string(scalars.joined())
        },
        seeing("compares-without-case", "compares texts without regard to case") { value in
            if case .string(let text) = value { .string(text.lowercased()) } else { nil }
        },
        seeing("compares-bytes", "compares texts byte by byte") { value in
            guard case .string(let text) = value else { return nil }
            return .string(text.unicodeScalars.map { $0.value > 0x7F ? "\\u\($0.value)" : String($0) }.joined())
        },
        seeing("false-is-null", "compares false as nil") { value in
            if case .bool(false) = value { .null } else { nil }
        },
        seeing("compares-enums-in-32-bits", "compares 64-bit integers in 32 bits") { value in
            guard case .integer(let number) = value else { return nil }
            return .integer(Int64(Int32(truncatingIfNeeded: number)))
        },
    ]

    /// A store that sorts by something else than the values.
    private static func sorting(
        _ id: String, _ summary: String, _ change: @escaping @Sendable (StoredValue) -> StoredValue?
    ) -> StoreFault {
        StoreFault(id, summary, in: .planning) { $0.orderValue = { change($0) ?? $0 } }
    }

    static let orderFaults: [StoreFault] = [
        sorting("sorts-integers-as-text", "sorts integers as text") { value in
            if case .integer(let number) = value { .string("\(number)") } else { nil }
        },
        sorting("sorts-unsigned-as-signed", "sorts unsigned integers as signed ones") { value in
            if case .unsigned(let number) = value { .integer(Int64(bitPattern: number)) } else { nil }
        },
        sorting("sorts-float-bits", "sorts floats by their bits") { value in
            if case .float(let number) = value { .integer(Int64(number.bitPattern)) } else { nil }
        },
        sorting("sorts-rounded-doubles", "sorts doubles by fifteen digits") { value in
            guard case .double(let number) = value, number.isFinite else { return nil }
            return .double(Double(String(format: "%.15g", number)) ?? number)
        },
        sorting("sorts-nan-last", "sorts NaN after every number") { value in
            guard case .double(let number) = value, number.isNaN else { return nil }
            return .double(.infinity)
        },
        sorting("sorts-bits-of-zero", "sorts -0.0 before 0.0") { value in
            guard case .double(let number) = value, number == 0, number.sign == .minus else { return nil }
            return .double(-.leastNonzeroMagnitude)
        },
        sorting("sorts-decimals-as-text", "sorts decimals as text") { value in
            if case .decimal(let number) = value { .string(number.description) } else { nil }
        },
        sorting("sorts-whole-seconds", "sorts dates by whole seconds") { value in
            guard case .date(let date) = value else { return nil }
            return .date(Date(timeIntervalSinceReferenceDate: date.timeIntervalSinceReferenceDate.rounded(.down)))
        },
        sorting("sorts-uuids-from-behind", "sorts UUIDs by their last byte first") { value in
            if case .uuid(let uuid) = value { .integer(Int64(uuid.uuid.15)) } else { nil }
        },
        sorting("sorts-text-as-people-do", "sorts texts without regard to case") { value in
            if case .string(let text) = value { .string(text.lowercased()) } else { nil }
        },
        StoreFault("sorts-by-inner-join", "leaves out records whose sort key leads to nothing", in: .planning) {
            steps in
            steps.orderValue = { $0.isNull ? .string("\u{10FFFF}") : $0 }
        },
        StoreFault("sorts-entities-apart", "sorts the records of each entity by themselves", in: .planning) { steps in
            steps.found = { found, _ in
                found.enumerated().sorted { ($0.element.table, $0.offset) < ($1.element.table, $1.offset) }
                    .map(\.element)
            }
        },
        StoreFault("cuts-before-sorting", "takes the window before it sorts", in: .planning) { steps in
            steps.found = { found, plan in
                guard plan.appliesLimit, !plan.query.order.isEmpty else { return found }
                let rows = Set(found.sorted { $0.row < $1.row }[plan.query.window(of: found.count)])
                return found.filter(rows.contains)
            }
            steps.cut = { query, count in query.order.isEmpty ? query.window(of: count) : 0..<count }
        },
        StoreFault("ties-backwards", "turns ties around in every order", in: .planning) { $0.tieIsForward = false },
        StoreFault("second-key-first", "sorts by the last key first", in: .planning) { steps in
            steps.orderKeys = { $0.reversed() }
        },
        StoreFault("always-upwards", "sorts upwards whatever was asked for", in: .planning) { steps in
            steps.orderKeys = { $0.map { .init($0.expression, stringOrder: $0.stringOrder) } }
        },
    ]
}
