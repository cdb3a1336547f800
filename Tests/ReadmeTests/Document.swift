import Foundation

/// README.md or a guide, taken apart as far as it makes promises.
///
/// A block of code is under a mark that names what it is compared with:
/// - `<!-- sample: FILE -->`: the whole file, which is compiled;
/// - `<!-- part: FILE -->`: lines of the file that follow each other, all of them indented alike;
/// - `<!-- manifest: FILE -->`: the whole file, a package's manifest, which the package manager reads;
/// - `<!-- output: PROGRAM… -->`: what each of the programs prints;
/// - `<!-- prints: FILE -->`: what a test in the file compares with its result, by `Document.shows(_:)`.
///
/// The text is compiled as part of the package, from a second copy, because a test that builds a package of its own
/// needs minutes, the network, and the build folder's lock, which the running tests hold. The copies are held equal.
struct Document {
    struct Block {
        let language: String
        /// What the mark above says; nil where there is none.
        let mark: String?
        let text: String
        let line: Int
    }

    /// The path within the package.
    let path: String
    let text: String
    let blocks: [Block]

    static let package = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// README.md.
    static var readme: Document { get throws { try Document("README.md") } }

    /// The guide of a name in the catalog of `Mortise`.
    ///
    /// - Throws: what Foundation throws if there is none.
    static func guide(_ name: String) throws -> Document { try Document("Sources/Mortise/Mortise.docc/\(name).md") }

    /// The paths of all pages in the catalogs of the package.
    ///
    /// - Throws: what Foundation throws if a folder cannot be read.
    static func documented() throws -> [String] {
        let sources = package.appending(path: "Sources").resolvingSymlinksInPath().path(percentEncoded: false)
        return try FileManager.default.subpathsOfDirectory(atPath: sources)
            .filter { $0.contains(".docc/") && $0.hasSuffix(".md") }.map { "Sources/\($0)" }.sorted()
    }

    /// - Throws: what Foundation throws if the file cannot be read.
    init(_ path: String) throws {
        self.init(
            markdown: try String(contentsOf: Self.package.appending(path: path), encoding: .utf8), path: path)
    }

    init(markdown: String, path: String = "") {
        self.path = path
        text = markdown
        var blocks: [Block] = []
        var open: (language: String, mark: String?, line: Int, lines: [Substring])?
        var mark: String?
        for (place, line) in markdown.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            if let block = open {
                if line == "```" {
                    let text = block.lines.map { $0 + "\n" }.joined()
                    blocks.append(Block(language: block.language, mark: block.mark, text: text, line: block.line))
                    open = nil
                    mark = nil
                } else {
                    open?.lines.append(line)
                }
            } else if line.hasPrefix("```") {
                open = (String(line.dropFirst(3)), mark, place + 1, [])
            } else if line.hasPrefix("<!-- "), line.hasSuffix(" -->") {
                mark = String(line.dropFirst(5).dropLast(4))
            } else if !line.isEmpty {
                mark = nil
            }
        }
        self.blocks = blocks
    }

    /// The blocks under marks of a kind, by what the mark names.
    func marked(_ kind: String) -> [(name: String, block: Block)] {
        blocks.compactMap { block in
            guard let mark = block.mark, mark.hasPrefix("\(kind): ") else { return nil }
            return (String(mark.dropFirst(kind.count + 2)), block)
        }
    }

    /// Whether a block of the page that is marked as printed has exactly this text.
    func shows(_ output: String) -> Bool {
        marked("prints").contains { $0.block.text == output + "\n" }
    }

    /// Whether a text's lines follow each other in a file, with the same indentation before each.
    static func isPart(_ text: String, of file: String) -> Bool {
        let lines = file.split(separator: "\n", omittingEmptySubsequences: false)
        let part = text.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
        guard let first = part.first, !first.isEmpty, lines.count >= part.count else { return false }
        return (0...lines.count - part.count).contains { start in
            guard lines[start].hasSuffix(first) else { return false }
            let indentation = lines[start].dropLast(first.count)
            return indentation.allSatisfy { $0 == " " }
                && zip(lines[start...], part).allSatisfy { $0 == ($1.isEmpty ? "" : indentation + $1) }
        }
    }
}
