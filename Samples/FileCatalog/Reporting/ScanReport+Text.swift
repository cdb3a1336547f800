extension ScanReport {
    /// The report for a person to read.
    func text() -> String {
        (summary + problemLines + differences).joined(separator: "\n")
    }

    private var summary: [String] {
        var lines = [
            "\(Format.line(folder)): \(Format.count(files, "file")) (\(Format.size(bytes))) "
                + "in \(Format.count(folders, "folder")), this one included"
        ]
        if symbolicLinks > 0 { lines.append("\(Format.count(symbolicLinks, "symbolic link")), not followed") }
        if specialFiles > 0 {
            lines.append("\(Format.count(specialFiles, "special file")) (sockets, pipes, devices), skipped")
        }
        if ignored > 0 {
            lines.append(
                "\(Format.count(ignored, "entry", "entries")) left out (.git, .build, what .gitignore files name); "
                    + "--everything takes them in")
        }
        if !leftOut.isEmpty {
            let names = leftOut.map(Format.line).joined(separator: ", ")
            lines.append("left out, as part of the catalog's own store: \(names)")
        }
        return lines
    }

    private var problemLines: [String] {
        if problems.isEmpty { return [] }
        var lines = ["\(Format.count(problems.count, "entry", "entries")) could not be read:"]
        lines += problems.map { "  ! \(Format.line($0.path)): \($0.reason)" }
        if keptUnseen > 0 {
            lines.append("  \(Format.count(keptUnseen, "entry", "entries")) of the catalog in there kept as known")
        }
        return lines
    }

    private var differences: [String] {
        if isFirst { return ["first scan; the catalog is in \(store)"] }
        let counts = [
            (addedFiles, "file", "added"), (changedFiles, "file", "changed"), (removedFiles, "file", "removed"),
            (addedFolders, "folder", "added"), (removedFolders, "folder", "removed"),
        ]
        let told = counts.filter { $0.0.count > 0 }.map { "\(Format.count($0.0.count, $0.1)) \($0.2)" }
        if told.isEmpty { return ["nothing has changed since the last scan"] }
        return ["since the last scan: " + told.joined(separator: ", ")]
            + lines(addedFolders, "+", "/") + lines(addedFiles, "+") + lines(changedFiles, "~")
            + lines(removedFiles, "-") + lines(removedFolders, "-", "/")
    }

    private func lines(_ paths: Paths, _ sign: String, _ ending: String = "") -> [String] {
        let shown = paths.paths.map { "  \(sign) \(Format.line($0))\(ending)" }
        let rest = paths.count - shown.count
        return rest > 0 ? shown + ["  \(sign) and \(Format.count(rest)) more"] : shown
    }
}
