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
}

/// The files of a target, and which of them name types that others declare.
private struct Sources {
    /// By the path of a file, the files that it needs.
    let arrows: [String: Set<String>]

    init() throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "Sources/MortiseCore")
        var texts: [String: String] = [:]
        let files = try #require(FileManager.default.enumerator(at: root, includingPropertiesForKeys: nil))
        for case let file as URL in files where file.pathExtension == "swift" {
            let path = String(file.path(percentEncoded: false).dropFirst(root.path(percentEncoded: false).count + 1))
            texts[path] = try String(contentsOf: file, encoding: .utf8)
        }
        try #require(texts.count > 100)
        self.init(texts)
    }

    init(_ texts: [String: String]) {
        let declaration =
            #/^(?:@\w+(?:\([^)]*\))?\s+)*(?:[\w()]+\s+)*?(?:class|struct|enum|protocol|actor|typealias)\s+(?<name>[A-Z_]\w*)/#
        var owners: [String: Set<String>] = [:]
        var words: [String: Set<String>] = [:]
        for (path, text) in texts {
            let code = text.replacing(#/\/\/[^\n]*/#, with: " ").replacing(#/"(?:\\.|[^"\\\n])*"/#, with: " ")
            var depth = 0
            for line in code.split(separator: "\n") {
                if depth == 0, let name = line.firstMatch(of: declaration)?.name {
                    owners[String(name), default: []].insert(path)
                }
                depth += line.count { $0 == "{" } - line.count { $0 == "}" }
            }
            words[path] = Set(code.matches(of: #/\b[A-Z_]\w*/#).map { String($0.output) })
        }
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
