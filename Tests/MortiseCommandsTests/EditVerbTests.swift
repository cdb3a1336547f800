#if Tool
import Foundation
import MortiseAppendLog
@testable import MortiseCommands
import MortiseCore
import MortiseJSONFile
import Testing

/// `mortise set` and `mortise delete`: shown first, made with --yes, by the rules of the schema.
@Suite struct EditVerbTests {
    /// Authors with books that go with them, readers who keep a book from going, and shelves that lose what goes.
    private static let schema = StoredSchema(entities: [
        StoredEntity(
            name: "Author",
            properties: [text("name"), toMany("books", "Book", inverse: "author", .cascade)],
            uniquenessConstraints: [["name"]]),
        StoredEntity(
            name: "Book",
            properties: [
                text("title"), number("pages"), text("note", isOptional: true),
                toOne("author", "Author", inverse: "books"),
                toOne("sequel", "Book"), toMany("readers", "Reader", inverse: "book", .deny),
            ]),
        StoredEntity(name: "Reader", properties: [text("name"), toOne("book", "Book", inverse: "readers")]),
        StoredEntity(name: "Shelf", properties: [text("name"), toMany("books", "Book", inverse: nil, .nullify)]),
    ])

    private static func text(_ name: String, isOptional: Bool = false) -> StoredProperty {
        StoredProperty(name: name, isOptional: isOptional, content: .attribute(StoredAttribute(kind: .string)))
    }
    private static func number(_ name: String) -> StoredProperty {
        StoredProperty(name: name, isOptional: false, content: .attribute(StoredAttribute(kind: .int16)))
    }
    private static func toOne(_ name: String, _ destination: String, inverse: String? = nil) -> StoredProperty {
        StoredProperty(
            name: name, isOptional: true,
            content: .relationship(StoredRelationship(destination: destination, isToMany: false, inverse: inverse)))
    }
    private static func toMany(
        _ name: String, _ destination: String, inverse: String?, _ rule: Schema.Relationship.DeleteRule
    ) -> StoredProperty {
        StoredProperty(
            name: name, isOptional: false,
            content: .relationship(
                StoredRelationship(destination: destination, isToMany: true, inverse: inverse, deleteRule: rule)))
    }

    /// Two authors with two books each; one reader has the last book.
    private func library(_ name: String, _ folder: ToolFolder) throws -> String {
        let schema = folder.path("schema.json")
        let lines = [
            #"{"$entity":"Author","$id":1,"name":"Ada"}"#, #"{"$entity":"Author","$id":2,"name":"Bo"}"#,
            #"{"$entity":"Book","$id":3,"title":"One","pages":10,"author":1}"#,
            #"{"$entity":"Book","$id":4,"title":"Two","pages":20,"author":1,"note":"old"}"#,
            #"{"$entity":"Book","$id":5,"title":"Three","pages":30,"author":2}"#,
            #"{"$entity":"Book","$id":6,"title":"Four","pages":40,"author":2}"#,
            #"{"$entity":"Reader","$id":7,"name":"Cy","book":6}"#,
            #"{"$entity":"Shelf","$id":8,"name":"Top","books":[3,4,5]}"#,
        ]
        let file = folder.path("library.jsonl")
        try Data((lines.joined(separator: "\n") + "\n").utf8).write(to: URL(fileURLWithPath: file))
        try Data(SchemaDocument(Self.schema).text().utf8).write(to: URL(fileURLWithPath: schema))
        let run = try ToolRun("import", folder.storeURL(name), file, "--schema", schema)
        #expect(run.status == 0, "\(run.errors)")
        return folder.storeURL(name)
    }

    private func count(_ store: String, _ entity: String) throws -> Int? {
        Int(try ToolRun("fetch", store, entity, "--count").output.dropLast())
    }

    @Test(arguments: ["a.log", "a.json"]) func aChangeIsShownAndMadeOnlyWhenAsked(_ name: String) throws {
        let folder = try ToolFolder()
        let store = try library(name, folder)
        let before = try folder.contents()
        let arguments = ["set", store, "Book", "--where", #"author.name == "Ada""#, "pages=20", "note="]
        let shown = try ToolRun(arguments)
        #expect(shown.status == 0 && shown.output.hasPrefix("2 records updated\n"), "\(shown)")
        #expect(shown.output.contains("pages=10 -> 20") && shown.output.contains("note=old -> nil"), "\(shown.output)")
        #expect(shown.errors.contains("nothing was changed; pass --yes"))
        #expect(try folder.contents() == before)
        let made = try ToolRun(arguments + ["--yes"])
        #expect(made.status == 0 && made.output.hasSuffix("saved as one transaction\n"), "\(made)")
        let pages = try ToolRun("fetch", store, "Book", "--select", "pages,note", "--format", "csv")
        #expect(pages.output == "pages,note\n20,\n20,\n30,\n40,\n", "\(pages.output)")
        let again = try ToolRun(arguments + ["--yes"])
        #expect(again.output.contains("there is nothing to change"), "\(again)")
        #expect(try ToolRun("verify", store).status == 0)
    }

    @Test func aRelationshipWithoutAnInverseIsSetByNumber() throws {
        let folder = try ToolFolder()
        let store = try library("a.log", folder)
        let fetched = try ToolRun("fetch", store, "Book", "--select", "$id", "--format", "csv")
        let numbers = fetched.output.split(separator: "\n").dropFirst()
        let last = try #require(numbers.last)
        let made = try ToolRun("set", store, "Book", "--where", #"title == "One""#, "sequel=\(last)", "--yes")
        #expect(made.status == 0, "\(made.errors)")
        let found = try ToolRun("fetch", store, "Book", "--where", #"sequel.title == "Four""#, "--count")
        #expect(found.output == "1\n")
    }

    @Test(arguments: [
        (["pages=many"], "pages: expected int16, found \"many\""), (["pages=99999"], "its range is"),
        (["pages="], "it is not optional"), (["page=1"], "did you mean \"pages\""),
        (["pages"], "expected property=value"),
        (["pages=1", "pages=2"], "set twice"), (["author=99"], "no Author with the number 99"),
        (["sequel=99"], "no Book with the number 99"),
    ])
    func aValueThatDoesNotFitIsOneLine(_ assignments: [String], _ message: String) throws {
        let folder = try ToolFolder()
        let store = try library("a.log", folder)
        let run = try ToolRun(["set", store, "Book", "--all", "--yes"] + assignments)
        #expect(run.status == 64 && run.errorLines.count == 1, "\(run.errors)")
        #expect(run.errors.contains(message), "\(run.errors)")
    }

    @Test func aUniqueValueThatIsTakenChangesNothing() throws {
        let folder = try ToolFolder()
        let store = try library("a.log", folder)
        let before = try folder.contents()
        let run = try ToolRun("set", store, "Author", "--where", #"name == "Ada""#, "name=Bo", "--yes")
        #expect(run.status == 78 && run.errorLines.count == 1, "\(run)")
        #expect(try folder.contents() == before)
    }

    @Test(arguments: ["a.log", "a.json"]) func aDeletionTakesAlongWhatItsRulesSay(_ name: String) throws {
        let folder = try ToolFolder()
        let store = try library(name, folder)
        let arguments = ["delete", store, "Author", "--where", #"name == "Ada""#]
        let shown = try ToolRun(arguments)
        #expect(shown.output.hasPrefix("3 records deleted\n"), "\(shown)")
        #expect(shown.output.contains("name=Ada") && shown.output.contains("title=Two"))
        #expect(try count(store, "Book") == 4)
        #expect(try ToolRun(arguments + ["--yes"]).status == 0)
        #expect(try count(store, "Book") == 2)
        #expect(try count(store, "Author") == 1)
        let shelf = try ToolRun("fetch", store, "Shelf", "--where", "books.count == 1", "--count")
        #expect(shelf.output == "1\n", "\(shelf)")
        #expect(try ToolRun("verify", store).status == 0)
    }

    @Test func aDeletionThatARuleDeniesIsOneLine() throws {
        let folder = try ToolFolder()
        let store = try library("a.log", folder)
        for options in [[], ["--yes"]] {
            let run = try ToolRun(["delete", store, "Author", "--where", #"name == "Bo""#] + options)
            #expect(run.status == 78 && run.errorLines.count == 1, "\(run)")
            #expect(run.errors.contains("readers"), "\(run.errors)")
        }
        #expect(try count(store, "Book") == 4)
        // With the reader, the book may go.
        #expect(try ToolRun("delete", store, "Reader", "--all", "--yes").status == 0)
        #expect(try ToolRun("delete", store, "Author", "--where", #"name == "Bo""#, "--yes").status == 0)
        #expect(try count(store, "Book") == 2)
    }

    @Test func aSelectionIsNeeded() throws {
        let folder = try ToolFolder()
        let store = try library("a.log", folder)
        let run = try ToolRun("delete", store, "Book", "--yes")
        #expect(run.status == 64 && run.errors.contains("--all"), "\(run.errors)")
        #expect(try count(store, "Book") == 4)
    }
}
#endif
