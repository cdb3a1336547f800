import Foundation
import MortiseCore

extension ConformanceCase {
    /// A case that changes relationships step by step, and reads them in a fresh context after each step, and once more
    /// after reopening.
    private static func steps<Models>(
        _ id: String, _ requirement: String, hint: String, make: @escaping @Sendable (CaseSession) throws -> Models,
        _ steps: [@Sendable (CaseSession, Models) throws -> Void],
        check: @escaping @Sendable (CaseContext, CaseSession, _ step: Int, _ moment: String) throws -> Void
    ) -> ConformanceCase {
        ConformanceCase("relationships.\(id)", level: .core, requirement: requirement, hint: hint) { c in
            let a = try c.session()
            let models = try make(a)
            try a.save()
            try check(c, try c.session(), 0, "in a fresh context")
            for (place, step) in steps.enumerated() {
                try step(a, models)
                try a.save()
                try check(c, try c.session(), place + 1, "after change \(place + 1)")
            }
            guard c.subject.capabilities.contains(.reopening) else { return }
            try c.reopen()
            try check(c, try c.session(), steps.count, "after reopening")
        }
    }

    private static let togetherHint =
        "Relationships are told apart by the entities at their ends, which several share, and not by their names."
    private static let selfHint =
        "Both ends of the relationship are the same entity, and one end is read for the other or for both."

    /// One self relation of nodes a, b, c and d, as a case.
    private static func selfRelation(
        _ id: String, _ requirement: String, _ changes: [@Sendable ([Node]) -> Void], is expected: [[String]],
        _ read: @escaping @Sendable (Node) -> [[Node]]
    ) -> ConformanceCase {
        steps(
            "self-\(id)", requirement, hint: selfHint,
            make: { a in
                let nodes = ["a", "b", "c", "d"].map { Node($0) }
                a.change("insert 4 nodes and relate them") {
                    for node in nodes { a.context.insert(node) }
                    changes[0](nodes)
                }
                return nodes
            },
            changes.dropFirst().map { change in
                { a, nodes in a.change("relate the nodes otherwise") { change(nodes) } }
            }
        ) { c, session, step, moment in
            let found = try session.all(Node.self).map { node in
                read(node).map { $0.map(\.name).joined() }.joined(separator: "|")
            }
            try c.expect(found, is: expected[step], "what the nodes a, b, c and d lead to \(moment):")
        }
    }

    static let wideRelationshipCases: [ConformanceCase] = [
        steps(
            "two-to-the-same-entity",
            "Two relationships between the same two entities are independent of each other, on both sides.",
            hint: togetherHint,
            make: { a -> [Book] in
                let anna = Writer("Anna")
                let ben = Writer("Ben")
                let books = [
                    Book("one", author: anna, editor: ben), Book("two", author: ben), Book("three", editor: anna),
                ]
                a.insert(anna, ben)
                for book in books { a.insert(book) }
                return books
            },
            [
                { a, books in
                    a.change("exchange author and editor of the first book") {
                        (books[0].author, books[0].editor) = (books[0].editor, books[0].author)
                    }
                },
                { a, books in
                    a.change("clear the author of the second book, and the editor of the third") {
                        books[1].author = nil
                        books[2].editor = nil
                    }
                },
            ]
        ) { c, session, step, moment in
            let books = try session.all(Book.self)
            let written = [[["one"], ["two"]], [[], ["one", "two"]], [[], ["one"]]]
            let edited = [[["three"], ["one"]], [["one", "three"], []], [["one"], []]]
            let authors = [["Anna", "Ben", "-"], ["Ben", "Ben", "-"], ["Ben", "-", "-"]]
            let editors = [["Ben", "-", "Anna"], ["Anna", "-", "Anna"], ["Anna", "-", "-"]]
            try c.expect(books.map { $0.author?.name ?? "-" }, is: authors[step], "authors \(moment):")
            try c.expect(books.map { $0.editor?.name ?? "-" }, is: editors[step], "editors \(moment):")
            let writers = try session.all(Writer.self)
            try c.expect(writers.map { $0.written.map(\.title) }, is: written[step], "books written \(moment):")
            try c.expect(writers.map { $0.edited.map(\.title) }, is: edited[step], "books edited \(moment):")
        },
        steps(
            "two-to-many-between-the-same",
            "Two many-to-many relationships between the same two entities keep pairs of their own.",
            hint: togetherHint,
            make: { a -> [Book] in
                let anna = Writer("Anna")
                let ben = Writer("Ben")
                let books = [Book("one"), Book("two")]
                a.insert(anna, ben, books[0], books[1])
                books[0].readers = [anna, ben]
                books[1].reviewers = [anna]
                return books
            },
            [
                { a, books in
                    a.change("take a reader from the first book, and make Anna its reviewer") {
                        books[0].readers.removeAll { $0.name == "Anna" }
                        books[0].reviewers = books[1].reviewers
                    }
                }
            ]
        ) { c, session, step, moment in
            let books = try session.all(Book.self)
            let readers = [[["Anna", "Ben"], []], [["Ben"], []]]
            let reviewers = [[[], ["Anna"]], [["Anna"], ["Anna"]]]
            try c.expect(books.map { $0.readers.map(\.name) }, is: readers[step], "readers \(moment):")
            try c.expect(books.map { $0.reviewers.map(\.name) }, is: reviewers[step], "reviewers \(moment):")
            let writers = try session.all(Writer.self)
            let read = [[["one"], ["one"]], [[], ["one"]]]
            let reviewed = [[["two"], []], [["one", "two"], []]]
            try c.expect(writers.map { $0.read.map(\.title) }, is: read[step], "books read \(moment):")
            try c.expect(writers.map { $0.reviewed.map(\.title) }, is: reviewed[step], "books reviewed \(moment):")
        },
        steps(
            "one-name-in-two-entities",
            "Relationships of the same name in two entities, to one third, are independent of each other.",
            hint:
                "The members of a derived relationship are found by the name of its inverse, in records of any entity.",
            make: { a -> Writer in
                let anna = Writer("Anna")
                a.insert(Writer("Ben"), anna)
                a.insert(Book("book", author: anna), Song("first", author: anna), Song("second"))
                return anna
            },
            [
                { a, anna in
                    try a.change("write the other song in place of the first") {
                        anna.songs = try a.all(Song.self).filter { $0.title == "second" }
                    }
                }
            ]
        ) { c, session, step, moment in
            let anna = try c.require(try session.all(Writer.self).last, "a writer")
            try c.expect(anna.written.map(\.title), is: ["book"], "books written \(moment):")
            try c.expect(anna.songs.map(\.title), is: [["first"], ["second"]][step], "songs written \(moment):")
            try c.expect(
                try session.all(Song.self).map { $0.author?.name ?? "-" }, is: [["Anna", "-"], ["-", "Anna"]][step],
                "authors of the songs \(moment):")
        },
        ConformanceCase(
            "relationships.two-to-the-same-entity-queried", level: .core,
            requirement: "Conditions tell two relationships between the same two entities apart, from both sides.",
            hint: "A join goes by the entities at its ends and not by the relationship."
        ) { c in
            let a = try c.session()
            let anna = Writer("Anna")
            let ben = Writer("Ben")
            try a.store(anna, ben, Book("one", author: anna, editor: ben), Book("two", author: ben, editor: ben))
            let b = try c.session()
            func books(_ predicate: Predicate<Book>) throws -> [String] {
                try b.fetch(FetchDescriptor(predicate: predicate)).map(\.title)
            }
            func writers(_ predicate: Predicate<Writer>) throws -> [String] {
                try b.fetch(FetchDescriptor(predicate: predicate)).map(\.name)
            }
            try c.expect(try books(#Predicate { $0.author?.name == "Ben" }), is: ["two"], "books by Ben:")
            try c.expect(
                try books(#Predicate { $0.editor?.name == "Ben" }), is: ["one", "two"], "books edited by Ben:")
            try c.expect(
                try writers(#Predicate { $0.written.count == 1 }), is: ["Anna", "Ben"], "writers of one book:")
            try c.expect(try writers(#Predicate { $0.edited.count == 2 }), is: ["Ben"], "editors of two books:")
            try c.expect(try writers(#Predicate { $0.edited.isEmpty }), is: ["Anna"], "writers who edited nothing:")
        },
        selfRelation(
            "to-one", "A to-one relationship to the same entity, without inverse, leads where it was set.",
            [
                { n in (n[0].next, n[1].next, n[2].next) = (n[1], n[2], n[2]) },
                { n in (n[0].next, n[1].next, n[3].next) = (nil, n[0], n[1]) },
            ],
            is: [["b", "c", "c", ""], ["", "a", "c", "b"]]
        ) { [[$0.next].compactMap { $0 }] },
        selfRelation(
            "to-one-and-to-many", "A parent of the same entity shows its children, and they their parent.",
            [
                { n in (n[1].parent, n[2].parent, n[3].parent) = (n[0], n[0], n[2]) },
                { n in (n[2].parent, n[3].parent) = (n[3], n[0]) },
                { n in n[0].children = [n[1]] },
            ],
            is: [["|bc", "a|", "a|d", "c|"], ["|bd", "a|", "d|", "a|c"], ["|b", "a|", "d|", "|c"]]
        ) { [[$0.parent].compactMap { $0 }, $0.children] },
        selfRelation(
            "one-to-one", "Two ends of a one-to-one relationship of an entity with itself are told apart.",
            [
                { n in (n[0].twin, n[2].twin) = (n[1], n[2]) }, { n in n[3].twin = n[1] },
                { n in n[1].twinOf = nil },
            ],
            is: [["b|", "|a", "c|c", "|"], ["|", "|d", "c|c", "b|"], ["|", "|", "c|c", "|"]]
        ) { [[$0.twin].compactMap { $0 }, [$0.twinOf].compactMap { $0 }] },
        selfRelation(
            "to-many", "A to-many relationship to the same entity, without inverse, leads one way only.",
            [
                { n in (n[0].links, n[1].links) = ([n[1], n[2]], [n[1]]) },
                { n in (n[0].links, n[3].links) = ([n[2]], [n[0], n[3]]) },
            ],
            is: [["bc", "b", "", ""], ["c", "b", "", "ad"]]
        ) { [$0.links] },
        selfRelation(
            "many-to-many", "A many-to-many relationship of an entity with itself has two sides that are not the same.",
            [
                { n in (n[0].friends, n[1].friends) = ([n[1], n[2]], [n[1]]) },
                { n in n[2].friends = [n[0]] },
                { n in n[1].admirers = [n[3]] },
            ],
            is: [
                ["bc|", "b|ab", "|a", "|"], ["bc|c", "b|ab", "a|a", "|"], ["c|c", "|d", "a|a", "b|"],
            ]
        ) { [$0.friends, $0.admirers] },
        selfRelation(
            "inverse-of-itself",
            "A many-to-many relationship that is its own inverse shows the same from both of a pair.",
            [
                { n in (n[0].mates, n[3].mates) = ([n[1], n[2]], [n[3]]) },
                { n in n[1].mates = [n[2]] },
            ],
            is: [["bc", "a", "a", "d"], ["c", "c", "ab", "d"]]
        ) { [$0.mates] },
        ConformanceCase(
            "relationships.self-many-to-many-queried", level: .core,
            requirement: "Conditions tell the two sides of a many-to-many relationship of an entity with itself apart.",
            hint: selfHint
        ) { c in
            let a = try c.session()
            let nodes = ["a", "b", "c"].map { Node($0) }
            a.change("insert 3 nodes, a being a friend of b and c") {
                for node in nodes { a.context.insert(node) }
                nodes[0].friends = [nodes[1], nodes[2]]
            }
            try a.save()
            let b = try c.session()
            func names(_ predicate: Predicate<Node>) throws -> [String] {
                try b.fetch(FetchDescriptor(predicate: predicate)).map(\.name)
            }
            try c.expect(try names(#Predicate { $0.friends.count == 2 }), is: ["a"], "nodes with two friends:")
            try c.expect(try names(#Predicate { $0.admirers.count == 1 }), is: ["b", "c"], "nodes with one admirer:")
            try c.expect(try names(#Predicate { $0.admirers.isEmpty }), is: ["a"], "nodes without admirer:")
            try c.expect(
                try names(#Predicate { $0.admirers.contains { $0.name == "a" } }), is: ["b", "c"],
                "nodes that a admires:")
        },
        ConformanceCase(
            "relationships.self-deleted", level: .core,
            requirement: "A deleted record is gone from both sides of all relationships of its entity with itself.",
            hint: "References are cleared at one end, or in the records that the deleted one leads to only."
        ) { c in
            let a = try c.session()
            let nodes = ["a", "b", "c"].map { Node($0) }
            a.change("insert 3 nodes, related in every way to the second one") {
                for node in nodes { a.context.insert(node) }
                nodes[0].next = nodes[1]
                nodes[0].parent = nodes[1]
                nodes[1].parent = nodes[2]
                nodes[0].twin = nodes[1]
                nodes[0].links = [nodes[1], nodes[2]]
                nodes[0].friends = [nodes[1]]
                nodes[1].friends = [nodes[2]]
                nodes[1].mates = [nodes[0], nodes[2]]
            }
            try a.save()
            a.delete(nodes[1])
            try a.save()
            func check(_ moment: String) throws {
                let found = try c.session().all(Node.self)
                try c.expect(found.map(\.name), is: ["a", "c"], "nodes \(moment):")
                for node in found {
                    let related: [Node] =
                        [node.next, node.last, node.parent, node.twin, node.twinOf].compactMap { $0 } + node.children
                        + node.friends + node.admirers + node.mates
                    try c.expect(related.map(\.name), is: [], "what \(node.name) leads to \(moment):")
                }
                try c.expect(found.map { $0.links.map(\.name) }, is: [["c"], []], "links \(moment):")
            }
            try check("after a deletion")
            if c.subject.capabilities.contains(.reopening) {
                try c.reopen()
                try check("after reopening")
            }
        },
    ]
}
