import Foundation

/// One thing that a walk came across. A folder comes before everything in it.
enum WalkEvent {
    case folder(ExactPath, name: String, parent: ExactPath?)
    case file(ExactPath, name: String, parent: ExactPath, status: FileStatus)
    case symbolicLink
    case special
    /// An entry that belongs to the store and is not part of the catalog.
    case leftOut(ExactPath)
    /// An entry that ``IgnoredNames`` leave out, with all that is in it.
    case ignored
    /// An entry that could not be looked at, or a folder that could not be read; nothing is known about what it holds.
    case problem(ExactPath, reason: String)
}

/// A walk through a directory tree: hidden entries and other file systems included, symbolic links not followed.
///
/// It needs no stack of calls and few open files however deep the tree is. What cannot be read is reported as a
/// ``WalkEvent/problem(_:reason:)`` and does not end the walk.
struct DirectoryWalk {
    /// The folder to walk; a symbolic link here, and only here, is followed.
    let folder: String
    /// The files that are to be left out.
    let storeFiles: StoreFiles?
    /// Whether to leave out nothing else: not `.git` and `.build`, nor what `.gitignore` files name.
    let isOfEverything: Bool

    /// How many folders on the way down are kept open; the way up to the others leads through `..`.
    private static let openFolders = 32

    /// Tells `visit` about every entry, in byte order of their names within a folder.
    ///
    /// - Throws: ``SystemError`` if `folder` cannot be opened, and whatever `visit` throws.
    func run(_ visit: (WalkEvent) throws -> Void) throws {
        let root = try DirectoryHandle(path: FileName.bytes(of: .root, below: folder))
        try visit(.folder(.root, name: folder, parent: nil))
        var levels = [try look(into: root, at: .root, below: nil, visit)]
        while let level = levels.last {
            if let name = level.unvisited.popLast() {
                guard let next = try enter(name, of: level, visit) else { continue }
                levels.append(next)
                if levels.count > Self.openFolders { levels[levels.count - 1 - Self.openFolders].handle = nil }
            } else {
                levels.removeLast()
                if let above = levels.last, above.handle == nil { try goBack(to: above, from: level, visit) }
            }
        }
    }

    /// A folder on the way from the root to where the walk is.
    private final class Level {
        let path: ExactPath
        let identity: FileIdentity
        var handle: DirectoryHandle?
        /// The folders in it that are still to be entered, last one first.
        var unvisited: [[CChar]] = []
        /// What is left out in it.
        var ignoredNames: IgnoredNames?

        init(path: ExactPath, handle: DirectoryHandle) {
            self.path = path
            self.identity = handle.identity
            self.handle = handle
        }
    }

    private func look(
        into handle: DirectoryHandle, at path: ExactPath, below ignoredNames: IgnoredNames?,
        _ visit: (WalkEvent) throws -> Void
    ) throws -> Level {
        let level = Level(path: path, handle: handle)
        level.ignoredNames = ignoredNames
        let names: [[CChar]]
        do { names = try handle.names() } catch let error as SystemError {
            try visit(.problem(path, reason: error.description))
            return level
        }
        if !isOfEverything { try readIgnoredNames(of: level, handle, visit) }
        let start = level.ignoredNames == nil || path == .root ? [] : FileName.bytes(of: path) + [UInt8(ascii: "/")]
        for bytes in names {
            let name = FileName.text(of: bytes)
            let entry = path.appending(name)
            if let storeFiles, storeFiles.contain(name, in: handle.identity) {
                try visit(.leftOut(entry))
                continue
            }
            let status: FileStatus
            do { status = try handle.status(of: bytes) } catch let error as SystemError {
                try visit(.problem(entry, reason: error.description))
                continue
            }
            if !isOfEverything {
                let isFolder = status.kind == .folder
                let whole = start + bytes.dropLast().map(UInt8.init(bitPattern:))
                if IgnoredNames.contain(name, isFolder: isFolder)
                    || level.ignoredNames?.contain(whole, isFolder: isFolder) == true
                {
                    try visit(.ignored)
                    continue
                }
            }
            switch status.kind {
            case .file: try visit(.file(entry, name: name, parent: path, status: status))
            case .folder: level.unvisited.append(bytes)
            case .symbolicLink: try visit(.symbolicLink)
            case .special: try visit(.special)
            }
        }
        level.unvisited.reverse()
        return level
    }

    private func readIgnoredNames(
        of level: Level, _ handle: DirectoryHandle, _ visit: (WalkEvent) throws -> Void
    ) throws {
        let name = IgnoredNames.fileName
        do {
            let bytes = name.utf8.map(CChar.init(bitPattern:)) + [0]
            guard let file = try handle.contents(of: bytes, limit: IgnoredNames.longestFile) else { return }
            level.ignoredNames = IgnoredNames(file: file, in: level.path, above: level.ignoredNames)
        } catch let error as SystemError where error.code != ENOENT {
            try visit(.problem(level.path.appending(name), reason: error.description))
        } catch is SystemError {}
    }

    private func enter(_ bytes: [CChar], of level: Level, _ visit: (WalkEvent) throws -> Void) throws -> Level? {
        let name = FileName.text(of: bytes)
        let path = level.path.appending(name)
        guard let parent = level.handle else { return nil }
        try visit(.folder(path, name: name, parent: level.path))
        let handle: DirectoryHandle
        do { handle = try DirectoryHandle(name: bytes, in: parent) } catch let error as SystemError {
            try visit(.problem(path, reason: error.description))
            return nil
        }
        return try look(into: handle, at: path, below: level.ignoredNames, visit)
    }

    /// Opens `level` again from the folder below it, or by its path if that folder has been moved elsewhere.
    private func goBack(to level: Level, from below: Level, _ visit: (WalkEvent) throws -> Void) throws {
        let parent = below.handle.flatMap { try? DirectoryHandle(name: [0x2E, 0x2E, 0], in: $0) }
        if let parent, parent.identity == level.identity {
            level.handle = parent
        } else {
            let found = try? DirectoryHandle(path: FileName.bytes(of: level.path, below: folder))
            level.handle = found?.identity == level.identity ? found : nil
        }
        if level.handle == nil, !level.unvisited.isEmpty {
            try visit(.problem(level.path, reason: "moved during the scan"))
            level.unvisited = []
        }
    }
}
