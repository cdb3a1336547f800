/// What a walk leaves out of one folder and of those below: `.git`, `.build`, and what `.gitignore` files name.
///
/// The files of the walked folder and of those in it count, with the meaning of gitignore(5); those of folders above, of the user
/// and of `.git/info` do not. Unlike in Git, nothing is tracked, so all that a file names is left out.
final class IgnoredNames {
    /// The name of the files that are read.
    static let fileName = ".gitignore"
    /// The longest file that is read.
    static let longestFile = 1 << 20

    private let patterns: [IgnorePattern]
    /// The folder of these patterns: the length of its path, with a slash at its end.
    private let folderLength: Int
    private let above: IgnoredNames?

    /// What the `.gitignore` file with these contents, in the folder at `path`, adds to what `above` says.
    init(file: [UInt8], in path: ExactPath, above: IgnoredNames?) {
        let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]
        let text = file.starts(with: byteOrderMark) ? file.dropFirst(3) : file[...]
        patterns = text.split(separator: UInt8(ascii: "\n")).compactMap { line in
            IgnorePattern(line: line.last == UInt8(ascii: "\r") ? line.dropLast() : line)
        }
        folderLength = path == .root ? 0 : FileName.bytes(of: path).count + 1
        self.above = above
    }

    /// Whether an entry is left out for its name alone.
    static func contain(_ name: String, isFolder: Bool) -> Bool {
        name == ".git" || name == ".build" && isFolder
    }

    /// Whether the patterns leave out the entry with the bytes `path` below the walked folder: the last one about it decides,
    /// of the innermost file that has one.
    func contain(_ path: [UInt8], isFolder: Bool) -> Bool {
        let relative = path[folderLength...]
        if let last = patterns.last(where: { $0.matches(relative, isFolder: isFolder) }) { return !last.takesIn }
        return above?.contain(path, isFolder: isFolder) ?? false
    }
}
