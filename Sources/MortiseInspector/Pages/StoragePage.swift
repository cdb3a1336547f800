#if Inspector
import Foundation
import MortiseCommands
import MortiseCore

/// What the storage has of a record, byte by byte.
struct StoragePage {
    private let frame: Frame
    private let number: Int
    private let entity: String
    private let key: String
    private var store: InspectedStore { frame.site.stores[number] }

    init(_ frame: Frame, _ number: Int, _ entity: String, _ key: String) {
        self.frame = frame
        self.number = number
        self.entity = entity
        self.key = key
    }

    func answer() throws -> InspectorAnswer {
        guard let record = try store.record(entity, key)?.record else {
            throw NoSuchPage(what: "There is no \(entity) with the number \(key).")
        }
        let link = Link.record(number, entity, key)
        let body: HTML
        if let parts = try store.storedParts(of: record) {
            body =
                parts.isEmpty
                ? """
                <p class="lead">The storage has no bytes of this record alone. A checkpoint, for example, keeps values by columns, together \
                with those of other records.</p>
                """
                : "<p class=\"note\">The oldest first, where a file keeps several states of a record.</p>\(parts.map(part))"
        } else {
            body = "<p class=\"lead\">This kind of store does not show its bytes.</p>"
        }
        return frame.page(
            "Storage of \(entity) \(key)", store: number, part: "records",
            side: frame.entities(number, current: record.entityName),
            "<h1>Storage of <a href=\"\(link)\">\(entity) \(key)</a></h1>\(body)")
    }

    private func part(_ part: StoredPart) -> HTML {
        let place: HTML =
            part.offset.map { offset in "\(part.place), byte \(InspectedText.count(Int(clamping: offset)))" }
            ?? "\(part.place)"
        let kind: HTML? = part.kind.isEmpty ? nil : "<span class=\"tag\">\(part.kind)</span> "
        let cut: HTML? =
            part.byteCount > Int64(part.bytes.count)
            ? "<p class=\"note\">the first \(InspectedText.bytes(Int64(part.bytes.count)))</p>" : nil
        let dump: HTML? = part.bytes.isEmpty ? nil : "<pre class=\"hex\">\(Self.lines(of: part.bytes))</pre>"
        return """
            <section class="part"><h2>\(part.name)</h2><p class="meta">\(kind)<span>\(InspectedText.bytes(part.byteCount))</span> \
            <small>\(place)</small></p>\(dump)\(cut)</section>
            """
    }

    /// Sixteen bytes a line: where they are, the bytes, and the letters that they would be.
    private static func lines(of bytes: Data) -> String {
        let bytes = Array(bytes)
        return stride(from: 0, to: bytes.count, by: 16).map { start in
            let line = bytes[start..<min(start + 16, bytes.count)]
            let digits = line.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }
            let left = digits.prefix(8).joined(separator: " ")
            let right = digits.dropFirst(8).joined(separator: " ")
            let letters = line.map { (0x20...0x7E).contains($0) ? String(UnicodeScalar($0)) : "·" }.joined()
            let place = String(start, radix: 16)
            return String(repeating: "0", count: max(0, 4 - place.count)) + place + "  "
                + (left + "  " + right).padding(toLength: 49, withPad: " ", startingAt: 0) + " " + letters
        }.joined(separator: "\n")
    }
}
#endif
