import Foundation
import PackageTestSupport
import Testing

/// Every public declaration says what it promises.
@Suite struct PublicDocumentationTests {
    @Test func everyPublicDeclarationHasADocComment() throws {
        var files = 0
        var sources: [(name: String, text: String)] = []
        for folder in ["Sources", "Adapters"] {
            let root = Document.package.appending(path: folder)
            let names = try #require(FileManager.default.enumerator(atPath: root.path(percentEncoded: false)))
            for case let name as String in names where name.hasSuffix(".swift") && !name.hasPrefix("MortiseMacros/") {
                let source = try String(contentsOf: root.appending(path: name), encoding: .utf8)
                files += 1
                if source.contains("public ") { sources.append(("\(folder)/\(name)", source)) }
            }
        }
        let found: [[String]] = try SourceTools.answer(to: "undocumented", sources.map(\.text))
        try #require(found.count == sources.count)
        for (source, declarations) in zip(sources, found) {
            for declaration in declarations {
                Issue.record("\(source.name):\(declaration) has no doc comment: say what it promises")
            }
        }
        // The folders are where they were.
        #expect(files > 400)
    }

    @Test(arguments: [
        ("public enum E {\n    /// A.\n    case a\n    case b, c\n}", ["4: case b, c"]),
        ("enum E {\n    case a\n    public func f() {}\n}", ["3: public func f() {}"]),
        ("/// P.\npublic protocol P {\n    var a: Int { get }\n    /// F.\n    func f()\n}", ["3: var a: Int { get }"]),
        (
            "/// P.\npublic protocol P {\n    associatedtype A\n    typealias B = A\n    init()\n    subscript(i: Int) -> A { get }\n}",
            ["3: associatedtype A", "4: typealias B = A", "5: init()", "6: subscript(i: Int) -> A { get }"]
        ),
        ("/// P.\npublic protocol P {\n    #if os(Linux)\n    func f()\n    #endif\n}", ["4: func f()"]),
        (
            "/// S.\npublic struct S {\n    enum E { case a }\n    ///\n    public private(set) var a: Int\n}",
            ["5: public private(set) var a: Int"]
        ),
        (
            "extension E {\n    // Not a doc comment.\n    public var a: Int { 0 }\n    var b: Int { 0 }\n}",
            ["3: public var a: Int { 0 }"]
        ),
        (
            "class C: D {\n    public override func f() {}\n    /** G. */\n    public func g() { enum E { case a } }\n}",
            []
        ),
        ("/// E.\n@frozen\npublic enum E {\n    /// A.\n    @available(*, deprecated)\n    case a\n}", []),
    ]) func aDeclarationWithoutOneIsFound(source: String, found: [String]) throws {
        let undocumented: [[String]] = try SourceTools.answer(to: "undocumented", [source])
        #expect(undocumented.first?.filter { !$0.hasPrefix("1: public enum E") } == found)
    }
}
