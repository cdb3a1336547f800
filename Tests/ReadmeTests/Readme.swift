import Foundation

/// README.md, taken apart as far as it makes promises.
///
/// A block of Swift stands under a mark that names the file in which the same text is compiled:
/// `<!-- sample: Tests/ReadmeTests/QuickStart/main.swift -->`. A block of output stands under a mark that names the
/// program which prints it: `<!-- output: ReadmeQuickStart -->`.
///
/// The text is compiled as part of the package, from a second copy, because a test that builds a package of its own
/// needs minutes, the network, and the build folder's lock, which the running tests hold. The copies are held equal.
struct Readme {
    struct Block {
        let language: String
        /// What the mark above says; nil where there is none.
        let mark: String?
        let text: String
        let line: Int
    }

    let blocks: [Block]

    static let package = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// - Throws: what Foundation throws if the file cannot be read.
    init() throws {
        let text = try String(contentsOf: Self.package.appending(path: "README.md"), encoding: .utf8)
        self.init(markdown: text)
    }

    init(markdown: String) {
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
}
