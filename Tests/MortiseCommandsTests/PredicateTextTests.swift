#if Tool
import Foundation
@testable import MortiseCommands
import MortiseCore
import PackageTestSupport
import Testing

/// What the text of a predicate becomes, and what is said of a text that is none.
@Suite struct PredicateTextTests {
    static let reading = PredicateText(schema: TripStore.schema, storeIdentifier: "store")

    private func text(_ predicate: String, _ entity: String = "Trip") throws -> String {
        try Self.reading.conditions(predicate, entity: entity).map { "\($0)" }.joined(separator: "; ")
    }

    @Test(arguments: [
        ("seats > 100", "seats > 100"), ("100 < seats", "100 < seats"),
        ("price > 100 && destination == \"Paris\"", "price > 100; destination == \"Paris\""),
        ("price > 100 and destination = 'Paris'", "price > 100; destination == \"Paris\""),
        ("isPublic", "isPublic"), ("not isPublic", "!isPublic"),
        ("!(isPublic or seats <= 3)", "!(isPublic || (seats <= 3))"),
        ("isPublic == true", "isPublic == true"), ("rating == nil", "rating == nil"),
        ("rating is nil", "rating == nil"),
        ("rating is not nil", "rating != nil"), ("guide is null", "guide == nil"),
        ("seats in [1, 2, -3]", "[1, 2, -3].contains(seats)"), ("seats not in (1)", "![1].contains(seats)"),
        ("seats between 3 and 5 or isPublic", "((seats >= 3) && (seats <= 5)) || isPublic"),
        ("seats between 3 and 5 and isPublic", "seats >= 3; seats <= 5; isPublic"),
        ("name contains \"a\"", "name.contains(\"a\")"), ("name beginsWith \"a\"", "name.starts(with: \"a\")"),
        ("note CONTAINS 'x'", "note.contains(\"x\")"),
        ("note contains ''", "note.flatMap { $1 in $1.contains(\"\") } == true"),
        ("name endsWith \"a.b\"", "name.contains(/a\\.b\\z/)"),
        ("name contains[cd] \"É\"", "name.localizedStandardContains(\"É\")"),
        ("name ==[c] 'x'", "name.caseInsensitiveCompare(\"x\") == 0"),
        ("guide.name == \"Ada\"", "guide.name == \"Ada\""), ("partner.guide.name < 'B'", "partner.guide.name < \"B\""),
        ("any stops (nights > 3)", "stops.contains { $1 in $1.nights > 3 }"),
        ("any stops.nights > 3 and isPublic", "stops.contains { $1 in $1.nights > 3 }; isPublic"),
        ("all stops (nights > 3 or place == 'x')", "stops.allSatisfy { $1 in ($1.nights > 3) || ($1.place == \"x\") }"),
        ("none labels (text == 'sea')", "!labels.contains { $1 in $1.text == \"sea\" }"),
        (
            "any stops (any trip.labels (text == 'sea'))",
            "stops.contains { $1 in $1.trip.labels.contains { $2 in $2.text == \"sea\" } }"
        ),
        ("count stops (nights > 3) >= 2", "stops.filter { $1 in $1.nights > 3 }.count >= 2"),
        ("stops.count > 1 and labels.isEmpty", "stops.count > 1; labels.isEmpty"),
        ("name.count == 3", "name.count == 3"),
        ("seats + seats * 2 > 3", "(seats + (seats * 2)) > 3"), ("(seats + 1) % 2 == 0", "((seats + 1) % 2) == 0"),
        ("-seats < -3", "-seats < -3"), ("self is BusTrip", "$0 is BusTrip"),
        ("partner is not BusTrip", "!(partner is BusTrip)"),
        ("tags contains 't1'", "tags.contains(\"t1\")"), ("tags.x.y == 3", "tags.x.y == 3"),
        ("$id == 7", "[BusTrip/7, Trip/7].contains($0.persistentModelID)"),
        ("guide.$id in [1,2]", "[Guide/1, Guide/2].contains(guide.persistentModelID)"),
        ("`name` == 'and'", "name == \"and\""), ("price == 0.1", "price == 0.1"), ("price == '12.50'", "price == 12.5"),
        ("ticket == 18446744073709551615", "ticket == 18446744073709551615"),
        ("isPublic && seats > 1 || rating > 2", "(isPublic && (seats > 1)) || (rating > 2.0)"),
        ("name == 'a\\n\\u{1F600}\\'\\\\'", "name == \"a\\n😀\\'\\\\\""),
    ]) func becomes(_ predicate: String, _ expected: String) throws {
        #expect(try text(predicate) == expected)
    }

    @Test func literalsTakeTheKindOfTheirProperty() throws {
        func constant(_ predicate: String) throws -> StoredValue {
            let found = try Self.reading.conditions(predicate, entity: "Trip")
            guard case .compare(_, _, .constant(let value))? = found.first else { return .null }
            return value
        }
        #expect(try constant("seats == 3") == .integer(3))
        #expect(try constant("rating == 3") == .double(3))
        #expect(
            try constant("price == 123456789012345678901234567890.12345678")
                == .decimal(Decimal(string: "123456789012345678901234567890.12345678")!))
        #expect(try constant("ticket == 3") == .unsigned(3))
        #expect(try constant("startDate == \"2001-01-01\"") == .date(Date(timeIntervalSinceReferenceDate: 0)))
        #expect(
            try constant("startDate == \"2026-05-01T12:00:00.5+02:00\"")
                == .date(Date(timeIntervalSinceReferenceDate: 799_322_400.5)))
        #expect(try constant("startDate == -1.5e3") == .date(Date(timeIntervalSinceReferenceDate: -1500)))
        #expect(
            try constant("code == '00000000-0000-0000-0000-0000000000FF'")
                == .uuid(UUID(uuidString: "00000000-0000-0000-0000-0000000000FF")!))
        #expect(try constant("cover == '0xCAFE'") == .data(Data([0xCA, 0xFE])))
        #expect(try constant("link == 'https://example.org/1'") == .url(URL(string: "https://example.org/1")!))
    }

    @Test(arguments: [
        ("", 1, "expected a condition, such as"), ("seats >", 8, "expected a property or value, found the end"),
        ("sets > 5", 1, "did you mean \"seats\""),
        ("isPublic and sets > 5", 14, "has no property \"sets\""),
        ("seats > 5 5", 11, "expected \"and\", \"or\" or the end, found"),
        ("seats > 'x'", 9, "cannot compare seats (int16) with"), ("seats > 2.5", 9, "whole numbers only"),
        ("seats > 99999", 9, "-32768 to 32767"),
        ("seats", 1, "expected a condition, but seats is"), ("1 == 1", 1, "expected a property on one side"),
        ("name < seats", 1, "cannot compare name, which is"),
        ("isPublic < true", 1, "no order"), ("rating < nil", 10, "no order"), ("cover < '00'", 1, "no order"),
        ("cover == '0xABC'", 10, "two for each byte"), ("code == 'x'", 9, "a UUID is written"),
        ("startDate > '2026-02-30'", 13, "a date is written"),
        ("startDate > 2026-05-01", 13, "expected a property on one side"),
        ("price == '1,5'", 10, "written as 12.50"),
        ("price == 1234567890123456789012345678901234567891", 10, "38 digits"),
        ("guide == 'Ada'", 10, "guide.$id"), ("stops == nil", 10, "any stops"),
        ("stops.nights > 3", 7, "any stops (nights"),
        ("any guide (name == 'x')", 5, "a to-many relationship"), ("any stops nights > 3", 11, "expected \"(\", found"),
        ("name contains 3", 15, "cannot compare name (string) with"),
        ("seats contains 'x'", 1, "expected text, but seats is"),
        ("name == 'x", 9, "is not closed"), ("name == 'x\\q'", 11, "unknown escape"),
        ("name ^ 'x'", 6, "unexpected \"^\""),
        ("(isPublic", 10, "expected \")\", found"), ("seats in 3", 10, "expected \"[\", found"),
        ("seats in [price]", 11, "a list takes values only"),
        ("seats between 1 5", 17, "joined by \"and\""), ("name is BusTrip", 1, "expected a record, but name is"),
        ("self is Stop", 9, "no record of Trip"),
        ("rating + 1 > 2", 1, "cannot calculate with rating, which may be nil"),
        ("seats > 1 * 2", 9, "expected a property on one side"),
        ("name + 'x' == 'y'", 1, "numbers of one kind"), ("price % 2 == 0", 1, "whole numbers"),
        ("12abc > 3", 1, "invalid number"), ("$x == 3", 1, "unknown name after \"$\""),
        ("$id < 3", 1, "cannot be ordered here"),
        ("$id == 'x'", 8, "number of a record"),
        ("name matches '('", 14, "invalid regular expression"), ("name.first == 'x'", 6, "has no \"first\""),
        ("`name == 3", 1, "backticks"),
        ("-name == 'x'", 2, "only signed numbers can be negated"), ("not", 4, "expected a property or value, found"),
        ("seats == == 3", 10, "expected a property or value, found"),
    ]) func isAnErrorAtItsColumn(_ predicate: String, _ column: Int, _ words: String) {
        #expect {
            _ = try Self.reading.conditions(predicate, entity: "Trip")
        } throws: { error in
            guard let error = error as? PredicateTextError else { return false }
            return error.column == column && error.message.contains(words) && !"\(error)".contains("\n")
        }
    }

    @Test func entitiesThatAreNotThereAreNamed() {
        #expect(throws: UnknownEntity(name: "Trp", known: TripStore.schema.entities.map(\.name))) {
            _ = try Self.reading.conditions("isPublic", entity: "Trp")
        }
        #expect("\(UnknownEntity(name: "Trp", known: ["Guide", "Trip"]))".contains("did you mean \"Trip\""))
    }

    @Test func ordersAreKeysWithDirections() throws {
        let order = try Self.reading.order("-price, guide.name desc, seats asc,+name", entity: "Trip")
        #expect(order.map { "\($0.expression)" } == ["price", "guide.name", "seats", "name"])
        #expect(order.map(\.isAscending) == [false, false, true, true])
        #expect(throws: PredicateTextError.self) { try Self.reading.order("stops", entity: "Trip") }
        #expect(throws: PredicateTextError.self) { try Self.reading.order("price,", entity: "Trip") }
        #expect(throws: PredicateTextError.self) { try Self.reading.order("price name", entity: "Trip") }
    }

    // MARK: Hostile texts

    @Test(arguments: ["(", "not ", "!", "-", "any stops (", "seats + ", "self.", "partner."])
    func endlessRepetitionIsAnErrorAndNotACrash(_ part: String) {
        for count in [63, 64, 65, 1_000, 60_000 / part.utf8.count] {
            let text = String(repeating: part, count: count) + "seats > 3"
            // Whatever it gives, it comes back.
            _ = try? Self.reading.conditions(text, entity: "Trip")
        }
        #expect(throws: PredicateTextError.self) {
            try Self.reading.conditions(String(repeating: "(", count: 5_000) + "isPublic", entity: "Trip")
        }
    }

    @Test func aTextThatIsTooLongIsRefusedUnread() {
        let long = "name == '" + String(repeating: "x", count: 70_000) + "'"
        #expect { _ = try Self.reading.conditions(long, entity: "Trip") } throws: { "\($0)".contains("65536") }
    }

    @Test func manyConditionsAreFlat() throws {
        let text = (0..<3_000).map { "seats != \($0)" }.joined(separator: " and ")
        #expect(try Self.reading.conditions(text, entity: "Trip").count == 3_000)
    }

    @Test func controlCharactersDoNotReachATerminal() {
        #expect {
            _ = try Self.reading.conditions("\u{1B}[31mx > 3", entity: "Trip")
        } throws: { error in
            guard let error = error as? PredicateTextError else { return false }
            return "\(error)".contains("\\u{1b}") && !"\(error)\(error.excerpt)".contains("\u{1B}")
        }
    }

    @Test func randomTextsGiveAResultOrAnError() {
        var generator = SeededGenerator(seed: testSeed())
        let words = [
            "seats", "name", "price", "stops", "guide", "any", "all", "count", "(", ")", "[", "]", "and", "or", "not",
            "==",
            "<", "in", "between", "contains", "is", "nil", "'x'", "\"", "'", "3", "2.5", "-", "+", ".", ",", "$", "id",
            "`",
            "\\", "self", "é", "\u{0}", "tags", "%", "matches", "endsWith", "[cd]",
        ]
        for _ in 0..<20_000 {
            let count = Int(generator.next() % 12)
            let text = (0..<count).map { _ in words[Int(generator.next() % UInt64(words.count))] }.joined(
                separator: " ")
            do {
                _ = try Self.reading.conditions(text, entity: "Trip")
            } catch let error as PredicateTextError {
                #expect(error.column >= 1 && error.column <= text.count + 1, "\(text)")
                _ = error.excerpt
            } catch {
                Issue.record("\(text): \(error)")
            }
        }
    }
}
#endif
