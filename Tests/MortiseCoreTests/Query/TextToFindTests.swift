import Foundation
import MortiseCore
import MortiseEngine
import MortiseInMemory
import Testing

/// Strings are found by their bytes, and are equal as Swift's are.
@Suite struct TextToFindTests {
    private static let long = String(repeating: "a string that no dictionary takes ", count: 20)
    private static let texts =
        [
            "", "a", "A", "ab", "é", "e\u{301}", "e", "\u{301}", "K", "\u{212A}", ";", "\u{37E}", "xéy", "xe\u{301}y",
            "ß",
            "ss", "\u{1F468}\u{200D}\u{1F467}", "i\u{307}", "\r\n", "\n",
        ].flatMap { [$0, long + $0, $0 + long] }

    @Test func bytesAreEqualWhereTheStringsAre() {
        for wanted in Self.texts {
            let text = TextToFind(wanted)
            for other in Self.texts {
                let isEqual = Array(other.utf8).withUnsafeBytes(text.equals)
                #expect(isEqual == (other == wanted), "\(wanted.debugDescription), \(other.debugDescription)")
            }
        }
    }

    /// A carriage return with a line feed is one character, and so is a letter with what combines with it.
    @Test func bytesBeginWithAndHoldWhatTheStringsDo() {
        let more = ["\r", "a\r\nb", "a\r", "ae\u{301}", "ab;", "ABK", "b"]
        for wanted in Self.texts + more {
            let text = TextToFind(wanted)
            for other in Self.texts + more {
                let names: Comment = "\(wanted.debugDescription), \(other.debugDescription)"
                let begins = Array(other.utf8).withUnsafeBytes(text.isBeginning)
                #expect(begins == other.starts(with: wanted), names)
                let holds = Array(other.utf8).withUnsafeBytes(text.isPart)
                #expect(holds == TextSearch.contains(other, wanted), names)
            }
        }
    }

    @Test(arguments: BatchStore.allCases) func aFetchFindsWhatIsEqualHoweverItIsWritten(_ store: BatchStore) throws {
        let container = try store.container([Author.self, Book.self, Shelf.self])
        try ModelContext(container).insert(Shelf.self, from: Self.texts) { try $0.set(\.label, to: $1) }
        let context = ModelContext(container)
        for wanted in Self.texts {
            let equal = Self.texts.filter { $0 == wanted }.count
            let same = FetchDescriptor<Shelf>(predicate: #Predicate { $0.label == wanted })
            #expect(try context.fetchCount(same) == equal, "\(wanted.debugDescription)")
            let others = FetchDescriptor<Shelf>(predicate: #Predicate { $0.label != wanted })
            #expect(try context.fetch(others).count == Self.texts.count - equal, "\(wanted.debugDescription)")
        }
    }

    @Test func aCompiledFilterReadsBytes() throws {
        let container = try BatchStore.engine.container([Author.self, Book.self, Shelf.self])
        try ModelContext(container).insert(Shelf.self, from: Self.texts) { try $0.set(\.label, to: $1) }
        let version = try #require(container.store(InMemoryStore.self)).currentVersion
        let reader = RecordReader(
            schema: container.schema.stored, layouts: container.schema.stored.recordLayouts()
        ) { version.rows(ofEntity: $0) }
        let table = try #require(reader.table(named: "Shelf"))
        let label = QueryExpression.property(.variable(0), QueryProperty(entity: "Shelf", name: "label", slot: 0))
        for wanted in Self.texts {
            let filter = CompiledFilter(
                [.compare(.equal, label, .constant(.string(wanted)))], reader: reader, table: table)
            let found = try Self.texts.indices.filter { try filter.matches(RecordReference(table: table, row: $0)) }
            #expect(found == Self.texts.indices.filter { Self.texts[$0] == wanted }, "\(wanted.debugDescription)")
        }
    }
}
