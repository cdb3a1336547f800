#if Tool
import Foundation
@testable import MortiseCommands
@testable import MortiseCore
import MortiseJSONFile
import Testing

/// The Swift of a query: it is what a person would write, it compiles, and it means the same.
///
/// Each case below is compiled here, and its text in this file is compared with what is generated.
@Suite struct PredicateSourceTests {
    private static let schema = Schema(Memo.self)

    private struct Case {
        let text: String
        let order: String
        let descriptor: FetchDescriptor<Memo>
        /// The line of the case.
        let line: Int

        init(_ text: String, sort order: String = "", line: Int = #line, _ make: () throws -> FetchDescriptor<Memo>)
            throws
        {
            self.text = text
            self.order = order
            self.line = line
            descriptor = try make()
        }
    }

    private static func cases() throws -> [Case] {
        [
            try Case("title == 'a'") {
                let descriptor = FetchDescriptor<Memo>(
                    predicate: #Predicate { memo in
                        memo.title == "a"
                    })
                return descriptor
            },
            try Case("size > 3 and (title != 'b' or not (size <= -2))", sort: "-size, folder.name") {
                let descriptor = FetchDescriptor<Memo>(
                    predicate: #Predicate { memo in
                        (memo.size > 3)
                            && ((memo.title != "b") || !(memo.size <= -2))
                    },
                    sortBy: [SortDescriptor(\Memo.size, order: .reverse), SortDescriptor(\Memo.folder?.name)])
                return descriptor
            },
            try Case("folder.name == 'inbox' and folder != nil and remark == nil") {
                let descriptor = FetchDescriptor<Memo>(
                    predicate: #Predicate { memo in
                        (memo.folder?.name == "inbox")
                            && (memo.folder != nil)
                            && (memo.remark == nil)
                    })
                return descriptor
            },
            try Case("remark > 'k'") {
                let descriptor = FetchDescriptor<Memo>(
                    predicate: #Predicate { memo in
                        memo.remark.flatMap { value in value > "k" } == true
                    })
                return descriptor
            },
            try Case("remark != title") {
                let descriptor = FetchDescriptor<Memo>(
                    predicate: #Predicate { memo in
                        memo.remark.flatMap { value in value != memo.title } != false
                    })
                return descriptor
            },
            try Case("remark contains 'x' and title beginsWith 'a' and title contains[cd] 'É'") {
                let descriptor = FetchDescriptor<Memo>(
                    predicate: #Predicate { memo in
                        (memo.remark.flatMap { value in value.contains("x") } == true)
                            && (memo.title.starts(with: "a"))
                            && (memo.title.localizedStandardContains("É"))
                    })
                return descriptor
            },
            try Case("title matches '^a.c' or remark endsWith '.x'") {
                let descriptor = FetchDescriptor<Memo>(
                    predicate: #Predicate { memo in
                        (memo.title.contains(#/^a.c/#))
                            || (memo.remark.flatMap { value in value.contains(#/\.x\z/#) } == true)
                    })
                return descriptor
            },
            try Case("title in ['a', 'b \"c\"'] and folder.name in ['inbox', 'x']") {
                let values: [String] = ["a", "b \"c\""]
                let descriptor = FetchDescriptor<Memo>(
                    predicate: #Predicate { memo in
                        values.contains(memo.title)
                            && ((memo.folder?.name == "inbox") || (memo.folder?.name == "x"))
                    })
                return descriptor
            },
            try Case("size * 2 - 1 >= title.count and not title.isEmpty") {
                let descriptor = FetchDescriptor<Memo>(
                    predicate: #Predicate { memo in
                        (((memo.size * 2) - 1) >= memo.title.count)
                            && !memo.title.isEmpty
                    })
                return descriptor
            },
            try Case("$id == 7") {
                let id = try PersistentIdentifier.identifier(
                    for: "s", entityName: "Memo", primaryKey: UInt64(7))
                let descriptor = FetchDescriptor<Memo>(
                    predicate: #Predicate { memo in
                        memo.persistentModelID == id
                    })
                return descriptor
            },
        ]
    }

    private func generated(_ text: String, _ order: String, entity: String = "Memo") throws -> String {
        let stored = Self.schema.stored
        let read = PredicateText(schema: stored, storeIdentifier: "s")
        return try PredicateSource.descriptor(
            entity, where: text.isEmpty ? [] : read.conditions(text, entity: entity),
            sortedBy: order.isEmpty ? [] : read.order(order, entity: entity), in: stored)
    }

    private func words(_ text: some StringProtocol) -> String {
        text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }

    @Test func itIsWhatStandsHere() throws {
        let lines = try String(contentsOfFile: #filePath, encoding: .utf8).split(
            separator: "\n", omittingEmptySubsequences: false)
        for one in try Self.cases() {
            let code = lines[one.line...].prefix { !$0.hasSuffix("return descriptor") }
            #expect(try words(generated(one.text, one.order)) == words(code.joined(separator: "\n")), "\(one.text)")
        }
    }

    @Test func itMeansTheSame() throws {
        let folder = MemoFolder(name: "inbox")
        func memo(_ title: String, _ size: Int, _ remark: String?, _ folder: MemoFolder? = nil) -> Memo {
            let memo = Memo(title: title, size: size)
            (memo.remark, memo.folder) = (remark, folder)
            return memo
        }
        let files = try ToolFolder()
        let configuration = JSONFileConfiguration("memos", path: files.path("memos.json"))
        let context = ModelContext(try ModelContainer(for: Self.schema, configurations: [configuration]))
        for (title, size, remark, place) in [
            ("a", 4, nil, nil), ("b", 5, "x.x", folder), ("abc", -2, "kz", nil), ("ABC", 0, "ABC", folder),
            ("aé", 7, "", folder), ("", 1, "l", nil), ("b \"c\"", 9, "b \"c\"", folder), ("c", 3, nil, folder),
            ("aéb", 2, "xy", nil),
        ] as [(String, Int, String?, MemoFolder?)] { context.insert(memo(title, size, remark, place)) }
        try context.save()
        let stored = Self.schema.stored
        // The file is open in this process with other options.
        let copy = files.path("copy.json")
        try FileManager.default.copyItem(atPath: files.path("memos.json"), toPath: copy)
        let store = try OpenStore(JSONFileConfiguration("copy", path: copy), schema: stored, name: "memos")
        let read = PredicateText(schema: stored, storeIdentifier: store.store.identifier)
        // A number is that of a record of another store here, which is found in neither way.
        for one in try Self.cases() where one.text != "$id == 7" {
            let run = try StoreQueryRun(
                StoreQuery("Memo", conjuncts: read.conditions(one.text, entity: "Memo")), in: store)
            let wanted = run.records.map { run.reader.value($0, slot: 0) }
            #expect(!wanted.isEmpty && wanted.count < 9, "\(one.text) tells nothing apart")
            #expect(
                try Set(context.fetch(one.descriptor).map { StoredValue.string($0.title) }) == Set(wanted),
                "\(one.text)")
        }
        try store.close()
    }

    @Test func whatSwiftCannotSayHasAReason() throws {
        let stored = StoredSchema(entities: [
            StoredEntity(
                name: "Thing",
                properties: [
                    StoredProperty(
                        name: "a b", isOptional: false, content: .attribute(StoredAttribute(kind: .string))),
                    StoredProperty(name: "tags", isOptional: true, content: .attribute(StoredAttribute(kind: .coded))),
                    StoredProperty(name: "class", isOptional: false, content: .attribute(StoredAttribute(kind: .date))),
                ]), StoredEntity(name: "no \"name\"", properties: []),
        ])
        let read = PredicateText(schema: stored, storeIdentifier: "s")
        func reason(_ text: String, _ entity: String = "Thing") throws -> String {
            let conditions = text.isEmpty ? [] : try read.conditions(text, entity: entity)
            do throws(PredicateSource.Unwritable) {
                return try PredicateSource.descriptor(entity, where: conditions, sortedBy: [], in: stored)
            } catch { return "! " + error.reason }
        }
        #expect(try reason("`a b` == 'x'").hasPrefix("! a b is no name"))
        #expect(try reason("`a b` ==[c] 'x'").contains("ignores case"))
        #expect(try reason("tags.x == 1").contains("coded value"))
        #expect(try reason("", "no \"name\"").contains("no name"))
        #expect(
            try reason("class > '2026-05-01'").contains("thing.`class` > date")
                && reason("class > '2026-05-01'").hasPrefix(
                    "let date = Date(timeIntervalSinceReferenceDate: 799286400.0)\n")
        )
    }
}
#endif
