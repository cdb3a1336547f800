#if Tool
import Foundation
import Mortise

/// One scan: the walk through the folder, compared with what the catalog holds, and the catalog brought up to date.
///
/// The catalog is fetched once, into dictionaries by path. What is unchanged is not written. Additions and changes are
/// saved in batches as the walk goes on, removals at its end: a scan that is cut short leaves a catalog that is older
/// in places, and the next scan tells the rest.
struct CatalogScan {
    private let context: ModelContext
    private var report: ScanReport
    private var folders: [ExactPath: Folder] = [:]
    private var unseenFolders: Set<ExactPath>
    private var unseenFiles: [ExactPath: File] = [:]
    private var tags: [String: Tag] = [:]
    private var unreadable: Set<ExactPath> = []
    private var unsaved = 0
    private var saved = 0

    /// Reads what `catalog` holds.
    ///
    /// - Throws: what the store throws.
    init(of catalog: Catalog, listing limit: Int) throws {
        context = catalog.context
        for folder in try context.fetch(FetchDescriptor<Folder>()) { folders[ExactPath(folder.path)] = folder }
        for file in try context.fetch(FetchDescriptor<File>()) { unseenFiles[ExactPath(file.path)] = file }
        for tag in try context.fetch(FetchDescriptor<Tag>()) { tags[tag.name] = tag }
        unseenFolders = Set(folders.keys)
        report = ScanReport(
            folder: catalog.rootName, store: catalog.storeName, isFirst: folders.isEmpty, limit: limit)
    }

    /// Walks, updates, saves and reports. To be called once.
    ///
    /// - Throws: ``SystemError`` if the folder itself cannot be opened, and what the store throws.
    mutating func run(_ walk: DirectoryWalk, _ progress: ProgressLine) throws -> ScanReport {
        defer { progress.clear() }
        try walk.run { event in
            record(event)
            if unsaved >= SaveRhythm.batch(afterSaving: saved) {
                progress.show("saving \(Format.count(unsaved, "change"))")
                try save()
            }
            progress.show("\(Format.count(report.files, "file")), \(Format.count(report.folders, "folder"))")
        }
        removeUnseen()
        try save()
        return report
    }

    private mutating func save() throws {
        if context.hasChanges { try context.save() }
        saved += unsaved
        unsaved = 0
    }

    private mutating func record(_ event: WalkEvent) {
        switch event {
        case .folder(let path, let name, let parent):
            record(folder: path, name: name, parent: parent)
        case .file(let path, let name, let parent, let status):
            record(file: path, name: name, parent: parent, status)
        case .symbolicLink:
            report.symbolicLinks += 1
        case .special:
            report.specialFiles += 1
        case .leftOut(let path):
            report.leftOut.append(path.text)
        case .ignored:
            report.ignored += 1
        case .problem(let path, let reason):
            report.problems.append(ScanReport.Problem(path: path.text, reason: reason))
            unreadable.insert(path)
        }
    }

    private mutating func record(folder path: ExactPath, name: String, parent: ExactPath?) {
        report.folders += 1
        if unseenFolders.remove(path) != nil { return }
        let folder = Folder(path: path.text, name: path == .root ? report.folder : name)
        context.insert(folder)
        folder.parent = parent.flatMap { folders[$0] }
        folders[path] = folder
        report.addedFolders.add(path)
        unsaved += 1
    }

    private mutating func record(file path: ExactPath, name: String, parent: ExactPath, _ status: FileStatus) {
        report.files += 1
        report.bytes += status.size
        if let file = unseenFiles.removeValue(forKey: path) {
            if file.size == status.size && file.modified == status.modified { return }
            update(file, to: status)
            report.changedFiles.add(path)
        } else {
            let file = File(path: path.text, name: name, size: status.size, modified: status.modified)
            context.insert(file)
            file.folder = folders[parent]
            file.tags = tags(named: Tag.names(forFileNamed: name, kind: file.kind, size: status.size))
            report.addedFiles.add(path)
        }
        unsaved += 1
    }

    private mutating func update(_ file: File, to status: FileStatus) {
        file.size = status.size
        file.modified = status.modified
        file.contentHash = nil
        let names = Tag.names(forFileNamed: file.name, kind: file.kind, size: status.size)
        if names != Set(file.tags.map(\.name)) { file.tags = tags(named: names) }
    }

    /// The tags with these names, made when they are first needed.
    private mutating func tags(named names: Set<String>) -> [Tag] {
        names.sorted().map { name in
            if let tag = tags[name] { return tag }
            let tag = Tag(name: name)
            context.insert(tag)
            tags[name] = tag
            return tag
        }
    }

    /// Deletes what the walk did not meet, unless it lies where the walk could not look. Files go before folders and
    /// inner folders before outer ones, so that no delete cascades.
    private mutating func removeUnseen() {
        for path in unseenFiles.keys.sorted(by: { $0.text < $1.text }) {
            if path.lies(underAnyOf: unreadable) {
                report.keptUnseen += 1
            } else if let file = unseenFiles[path] {
                context.delete(file)
                report.removedFiles.add(path)
                unsaved += 1
            }
        }
        var removed: [ExactPath] = []
        for path in unseenFolders {
            if path.lies(underAnyOf: unreadable) { report.keptUnseen += 1 } else { removed.append(path) }
        }
        removed.sort { $0.text < $1.text }
        for path in removed { report.removedFolders.add(path) }
        removed.sort { $0.text.utf8.count > $1.text.utf8.count }
        for path in removed {
            if let folder = folders[path] { context.delete(folder) }
            unsaved += 1
        }
    }
}
#endif
