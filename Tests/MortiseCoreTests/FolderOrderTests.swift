import Foundation
import Testing

/// The order of the folders of `MortiseCore`: a file names only types of folders before its own.
///
/// What does not hold yet is listed here with its number. A number that falls is lowered with the change that makes it fall.
@Suite struct FolderOrderTests {
    private static let order = [
        "Values", "Schema", "Model", "Query", "Changes", "Store", "Migration", "Observation", "Context",
    ]

    /// The arrows that point to a later folder, with their numbers. A schema is made from model types, and a store's
    /// initializer takes a migration plan whose stages take contexts, as in SwiftData.
    private static let known = ["Schema → Model": 11, "Store → Migration": 1, "Migration → Context": 1]

    /// The most files in a circle, each of which can be reached from every other.
    private static let largestCircle = 12

    /// The arrow that SwiftData's API draws: `MigrationStage` has closures over `ModelContext`, and `DataStore` takes a
    /// plan of such stages. With it every file on the way from a context to a store is in one circle.
    private static let given = (file: "Migration/Migration.swift", names: "Context/ModelContext.swift")

    @Test func filesNameOnlyWhatTheirFoldersMayKnow() throws {
        let sources = try Sources()
        var found: [String: Set<String>] = [:]
        for (file, others) in sources.arrows {
            for other in others {
                let (from, to) = (sources.folder(of: file), sources.folder(of: other))
                let place = try #require(Self.order.firstIndex(of: from), "\(file) lies in no folder of the order")
                let target = try #require(Self.order.firstIndex(of: to), "\(other) lies in no folder of the order")
                if target > place { found["\(from) → \(to)", default: []].insert("\(file) names \(other)") }
            }
        }
        for (arrow, files) in found {
            let count = Self.known[arrow] ?? 0
            #expect(files.count == count, "\(arrow): \(files.sorted().joined(separator: "; "))")
        }
        for arrow in Self.known.keys where found[arrow] == nil {
            Issue.record("\(arrow) is gone: take it from the list")
        }
    }

    /// Members that only a later folder declares, in an extension of a type of an earlier one, and that are used before it: by file and name.
    /// A name that the file's own folder or an earlier one declares as well is not looked at, for the compiler alone knows which is meant.
    private static let knownMembers: [String: String] = [
        "Model/PersistentModel.swift: takeState":
            "what a backing holds until a model takes it is a draft of the context's",
        "Schema/PropertyReading.swift: storedValue": "a scalar's, in Model: schemas are read from property types",
        "Schema/PublishedLayouts.swift: initialize": "that of a pointer",
    ]

    @Test func filesUseOnlyMembersThatTheirFoldersMayKnow() throws {
        let found = try Sources().lateMembers(Self.order)
        for member in found where Self.knownMembers[member.key] == nil {
            Issue.record("\(member.key) is declared in \(member.value.sorted())")
        }
        for known in Self.knownMembers.keys where found[known] == nil {
            Issue.record("\(known) is gone: take it from the list")
        }
    }

    /// What a frequent addition has to name, and the files that may: the rooms of CONTRIBUTING.
    @Test(arguments: [
        (
            "NotificationKey",
            ["Context/Notifications/ModelContext+Notifications.swift", "Context/Notifications/SavedChanges.swift"]
        ),
        (
            ".lookup(let",
            ["Query/Evaluation/QueryEvaluator+Collections.swift", "Query/Expression/QueryExpression.swift"]
        ), (".noAction", ["Schema/DeleteRules/DeleteRule.swift"]),
        ("StoreCapability(rawValue", ["Store/Capabilities/StoreCapability.swift"]),
    ]) func whatIsAddedOftenHasARoom(_ text: String, _ files: [String]) throws {
        let found = try Sources.texts().filter { $0.value.contains(text) }.keys.sorted()
        #expect(found == files)
        let guide = try String(contentsOf: Sources.package.appending(path: "CONTRIBUTING.md"), encoding: .utf8)
        for file in files { #expect(guide.contains(try #require(file.split(separator: "/").last)), "\(file)") }
    }

    /// What else a store can do, it tells by its capabilities.
    @Test func oneFileAsksWhichProtocolsAStoreConformsTo() throws {
        let casts = #/\b(?:as\?|is) any (?:\w+Store|DataStoreBatching|HistoryProviding|HistoryArchive)\b/#
        let found = try Sources.texts().filter { $0.value.contains(casts) }.keys.sorted()
        #expect(found == ["Store/Capabilities/StoreConformances.swift"])
    }

    @Test func noCircleIsLarge() throws {
        let sources = try Sources()
        #expect(sources.arrows[Self.given.file]?.contains(Self.given.names) == true)
        let circle = sources.largestCircle(without: Self.given)
        #expect(circle.count <= Self.largestCircle, "\(circle.sorted().joined(separator: " "))")
    }

    /// The check itself: an arrow that is not allowed, and a circle, are seen.
    @Test func anArrowAndACircleAreSeen() {
        let sources = Sources([
            "Schema/A.swift": "struct A { let b: B }", "Model/B.swift": "struct B { let c: C }\nprivate enum D {}",
            "Model/C.swift": "struct C { let b: B } // A", "Query/D.swift": "enum E {}",
        ])
        #expect(sources.arrows["Schema/A.swift"] == ["Model/B.swift"])
        #expect(sources.arrows["Model/C.swift"] == ["Model/B.swift"])
        #expect(sources.largestCircle().sorted() == ["Model/B.swift", "Model/C.swift"])
    }

    @Test func aMemberThatIsDeclaredLaterIsSeen() {
        let sources = Sources([
            "Values/A.swift": "struct A { let known = 1 }",
            "Query/B.swift": "func b(_ a: A) { a.later(); a.known; a.own; a.hidden } // a.other()",
            "Query/C.swift": "extension A { var own: Int { 1 } }",
            "Context/D.swift": """
            extension A {
                func later() { let inner = 1 }
                var known: Int { 2 }
                var own: Int { 3 }
                func other() {}
                private var hidden: Int { 4 }
            }
            """,
        ])
        #expect(sources.lateMembers(Self.order) == ["Query/B.swift: later": ["Context/D.swift"]])
    }
}

/// The files of a target, and which of them name types that others declare.
private struct Sources {
    /// By the path of a file, the files that it needs.
    let arrows: [String: Set<String>]
    /// By name, the files with an extension that declares such a member, each with the file of the extended type.
    private let extended: [String: [(file: String, type: String)]]
    /// By name, the files that declare anything of that name.
    private let declared: [String: Set<String>]
    /// By file, the members that it uses.
    private let used: [String: Set<String>]

    static let package = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    static func texts() throws -> [String: String] {
        let root = package.appending(path: "Sources/MortiseCore")
        var texts: [String: String] = [:]
        let files = try #require(FileManager.default.enumerator(at: root, includingPropertiesForKeys: nil))
        for case let file as URL in files where file.pathExtension == "swift" {
            let path = String(file.path(percentEncoded: false).dropFirst(root.path(percentEncoded: false).count + 1))
            texts[path] = try String(contentsOf: file, encoding: .utf8)
        }
        try #require(texts.count > 100)
        return texts
    }

    init() throws { self.init(try Self.texts()) }

    init(_ texts: [String: String]) {
        let declaration =
            #/^(?:@\w+(?:\([^)]*\))?\s+)*(?:[\w()]+\s+)*?(?:class|struct|enum|protocol|actor|typealias)\s+(?<name>[A-Z_]\w*)/#
        let anything = #/\b(?:func|var|let|case)\s+`?(?<name>\w+)/#
        let member = #/^\s*(?:@\w+(?:\([^)]*\))?\s+)*(?:[\w()]+\s+)*?(?:func|var|let)\s+`?(?<name>\w+)/#
        var members: [(name: String, file: String, type: String)] = []
        var declared: [String: Set<String>] = [:]
        var used: [String: Set<String>] = [:]
        var owners: [String: Set<String>] = [:]
        var words: [String: Set<String>] = [:]
        for (path, text) in texts {
            let code = text.replacing(#/\/\/[^\n]*/#, with: " ").replacing(#/"(?:\\.|[^"\\\n])*"/#, with: " ")
            var depth = 0
            var extended: String?
            for line in code.split(separator: "\n") {
                if depth == 0, let name = line.firstMatch(of: declaration)?.name {
                    owners[String(name), default: []].insert(path)
                }
                if depth == 0 {
                    extended = line.firstMatch(of: #/\bextension\s+(?<type>[A-Z_]\w*)/#).map { String($0.type) }
                }
                let isPrivate = line.contains("private ")
                for name in line.matches(of: anything).map({ String($0.name) }) where !isPrivate {
                    declared[name, default: []].insert(path)
                }
                if depth == 1, let extended, !isPrivate, let name = line.firstMatch(of: member)?.name {
                    members.append((String(name), path, extended))
                }
                depth += line.count { $0 == "{" } - line.count { $0 == "}" }
            }
            used[path] = Set(code.matches(of: #/\.(?<name>[a-z_]\w*)/#).map { String($0.name) })
            words[path] = Set(code.matches(of: #/\b[A-Z_]\w*/#).map { String($0.output) })
        }
        extended = Dictionary(
            grouping: members.compactMap { member in
                owners[member.type].flatMap { $0.count == 1 ? (member.name, (member.file, $0.first ?? "")) : nil }
            }, by: \.0
        ).mapValues { $0.map(\.1) }
        (self.declared, self.used) = (declared, used)
        arrows = words.mapValues { _ in [] }.merging(
            words.map { path, words in
                (
                    path,
                    Set(
                        words.compactMap { word in
                            owners[word].flatMap { $0.count == 1 && !$0.contains(path) ? $0.first : nil }
                        })
                )
            }, uniquingKeysWith: { $1 })
    }

    /// The members that a file uses and that only later folders declare: by file and name, where extensions declare them.
    func lateMembers(_ order: [String]) -> [String: Set<String>] {
        func place(_ file: String) -> Int { order.firstIndex(of: folder(of: file)) ?? order.count }
        var found: [String: Set<String>] = [:]
        for (name, extensions) in extended {
            let later = extensions.filter { place($0.type) < place($0.file) }.map(\.file)
            guard let first = declared[name]?.map(place).min(), !later.isEmpty else { continue }
            for (file, names) in used where names.contains(name) && place(file) < first {
                found["\(file): \(name)"] = Set(later)
            }
        }
        return found
    }

    func folder(of path: String) -> String { path.split(separator: "/").first.map(String.init) ?? "" }

    /// The most files that can all be reached from each other.
    func largestCircle(without given: (file: String, names: String)? = nil) -> [String] {
        var arrows = arrows
        if let given { arrows[given.file]?.remove(given.names) }
        var reachable: [String: Set<String>] = [:]
        for start in arrows.keys {
            var seen: Set<String> = []
            var pending = Array(arrows[start] ?? [])
            while let next = pending.popLast() {
                if seen.insert(next).inserted { pending += arrows[next] ?? [] }
            }
            reachable[start] = seen
        }
        let circles = arrows.keys.map { start in
            arrows.keys.filter { reachable[start]?.contains($0) == true && reachable[$0]?.contains(start) == true }
        }
        return circles.max { $0.count < $1.count } ?? []
    }
}
