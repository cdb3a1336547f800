import Foundation
import MortiseCore

extension StoreFault {
    private static func planning(
        _ id: String, _ summary: String, _ change: @escaping @Sendable (inout ReferenceSteps) -> Void
    ) -> StoreFault {
        StoreFault(id, summary, in: .planning, change: change)
    }

    /// A store that sees the beginnings of texts.
    private static func seeing(
        _ id: String, _ summary: String, _ change: @escaping @Sendable (String) -> String
    ) -> StoreFault {
        planning(id, summary) { $0.seen = { $0.mappingText(change) } }
    }

    /// A store that takes what it is asked for as shorter, in some conditions.
    private static func asking(
        _ id: String, _ summary: String, _ change: @escaping @Sendable (QueryExpression) -> QueryExpression?
    ) -> StoreFault {
        planning(id, summary) { $0.rewrite = change }
    }

    private static func bytes(_ text: String, _ count: Int) -> String {
        text.utf8.count > count ? String(decoding: text.utf8.prefix(count), as: UTF8.self) : text
    }

    /// The bytes of a text whose pieces were composed one by one, as scalars of which each is a character of its own.
    private static func composed(_ text: String, piece: Int) -> String {
        let scalars = Array(text.unicodeScalars)
        if scalars.count <= piece { return CanonicalText.composed(text) }
        var bytes = String.UnicodeScalarView()
        for start in stride(from: 0, to: scalars.count, by: piece) {
            let part = String(String.UnicodeScalarView(scalars[start..<min(start + piece, scalars.count)]))
            bytes += CanonicalText.composed(part).utf8.compactMap { Unicode.Scalar(0x4E00 + UInt32($0)) }
        }
        return String(bytes)
    }

    static let longTextFaults: [StoreFault] = [
        seeing("compares-255-bytes", "compares the first 255 bytes of a text") { bytes($0, 255) },
        seeing("compares-1024-characters", "compares the first 1,024 characters of a text") {
            String($0.prefix(1_024))
        },
        seeing("compares-8000-bytes", "compares the first 8,000 bytes of a text") { bytes($0, 8_000) },
        seeing("compares-64-kibibytes", "compares the first 65,535 bytes of a text") { bytes($0, 65_535) },
        seeing("compares-4000-code-units", "compares the first 4,000 code units of UTF-16 of a text") { text in
            text.utf16.count > 4_000 ? String(decoding: Array(text.utf16.prefix(4_000)), as: UTF16.self) : text
        },
        seeing("composes-by-pieces", "composes texts by pieces of 1,024 scalars") { composed($0, piece: 1_024) },
        asking("equals-255-characters", "takes a text for the one that it is asked for that begins as it does") {
            part in
            guard case .compare(.equal, let property, .constant(.string(let wanted))) = part, wanted.count > 255 else {
                return nil
            }
            return .startsWith(property, .constant(.string(String(wanted.prefix(255)))))
        },
        asking("lists-255-characters", "takes a text for one of a list that begins as it does") { part in
            guard case .contains(.list(let values), let element) = part else { return nil }
            let texts = values.map { if case .constant(.string(let text)) = $0 { text } else { "" } }
            guard texts.contains(where: { $0.count > 255 }) else { return nil }
            return .or(
                zip(values, texts).map { value, text in
                    text.count > 255
                        ? .startsWith(element, .constant(.string(String(text.prefix(255)))))
                        : .compare(.equal, element, value)
                })
        },
        asking("bounds-of-255-characters", "compares texts with the first 255 characters of a bound") { part in
            guard case .compare(let comparison, let property, .constant(.string(let bound))) = part,
                comparison != .equal, comparison != .notEqual
            else { return nil }
            return .compare(comparison, property, .constant(.string(String(bound.prefix(255)))))
        },
        asking("begins-with-255-characters", "looks for the first 255 characters of a beginning") { part in
            guard case .startsWith(let text, .constant(.string(let beginning))) = part else { return nil }
            return .startsWith(text, .constant(.string(String(beginning.prefix(255)))))
        },
        planning("sorts-1024-characters", "sorts texts by their first 1,024 characters") { steps in
            steps.orderValue = { $0.mappingText { String($0.prefix(1_024)) } }
        },
        planning("sorts-8000-bytes", "sorts texts by their first 8,000 bytes") { steps in
            steps.orderValue = { $0.mappingText { bytes($0, 8_000) } }
        },
        planning("unique-191-characters", "compares the first 191 characters of unique texts") { steps in
            steps.uniqueKey = { $0.mappingText { String($0.prefix(191)) } }
        },
        planning("unique-8000-bytes", "compares the first 8,000 bytes of unique texts") { steps in
            steps.uniqueKey = { $0.mappingText { bytes($0, 8_000) } }
        },
        planning("unique-up-to-2000-characters", "does not compare unique texts that are longer than 2,000 characters")
        {
            steps in
            let numbers = TurnCounter()
            steps.uniqueKey = { value in
                guard case .string(let text) = value, text.count > 2_000 else { return value }
                return .string(text + " \(numbers.advance()) \(UUID())")
            }
        },
        shared("groups-255-characters", "groups texts by their first 255 characters") { steps in
            steps.groupKey = { $0.mappingText { String($0.prefix(255)) } }
        },
        shared("groups-8000-bytes", "groups texts by their first 8,000 bytes") { steps in
            steps.groupKey = { $0.mappingText { bytes($0, 8_000) } }
        },
    ]

    private static let megabyte = 1 << 20

    /// Stores for which a value of some mebibytes is too long.
    static let longValueFaults: [StoreFault] = [
        long("cuts-text-at-16-mebibytes", "keeps 16,777,215 bytes of a text at most") { value in
            guard case .string(let text) = value, text.utf8.count > 16 * megabyte - 1 else { return nil }
            return .string(bytes(text, 16 * megabyte - 1))
        },
        long("cuts-data-at-4-mebibytes", "keeps 4 MiB of data at most") { value in
            guard case .data(let data) = value, data.count > 4 * megabyte else { return nil }
            return .data(data.prefix(4 * megabyte))
        },
        long("length-of-24-bits", "keeps the length of data in 24 bits") { value in
            guard case .data(let data) = value, data.count >= 16 * megabyte else { return nil }
            return .data(data.prefix(data.count & (16 * megabyte - 1)))
        },
        StoreFault(
            "refuses-8-mebibytes", "refuses a text of more than 8 MiB with an error of no class", isOfSize: true
        ) { steps in
            steps.accept = { request in
                let isTooLong = (request.inserted + request.updated).contains { snapshot in
                    snapshot.values.contains { value in
                        if case .string(let text) = value { text.utf8.count > 8 * megabyte } else { false }
                    }
                }
                if isTooLong { throw ReferenceStoreError.refused }
                return request
            }
        },
    ]

    private static func long(
        _ id: String, _ summary: String, _ change: @escaping @Sendable (StoredValue) -> StoredValue?
    ) -> StoreFault {
        StoreFault(id, summary, isOfSize: true) { steps in
            let keep = steps.keep
            steps.keep = { value, slot in change(value) ?? keep(value, slot) }
        }
    }
}
