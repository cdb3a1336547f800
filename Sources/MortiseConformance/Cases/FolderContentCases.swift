import Foundation
import MortiseCore

// What else happens to a folder from outside: files are emptied, removed and added to, or lie there that nobody knows.

extension ConformanceCase {
    private static func damage(
        _ id: String, _ what: String, _ hint: String,
        where counts: @escaping @Sendable (_ file: URL, _ others: [URL]) throws -> Bool = { _, _ in true },
        _ change: @escaping @Sendable (URL) throws -> Void
    ) -> ConformanceCase {
        ConformanceCase(
            "folder.\(id)", level: .full, capability: .reopening,
            requirement:
                "A file that was \(what) is an error, or the storage is as after one of the saves; nothing is passed over or "
                + "added.",
            hint: hint
        ) { c in try c.damageEachFile(what, where: counts, change) }
    }

    /// A case that has lines of a file other than they were; files without lines stay as they are.
    private static func editing(
        _ id: String, _ what: String, _ hint: String, _ change: @escaping @Sendable ([Data]) -> [Data]
    ) -> ConformanceCase {
        damage(id, what, hint) { file in
            let data = try Data(contentsOf: file)
            var lines = data.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map { Data($0) }
            guard lines.count > 2, lines.last?.isEmpty == true else { return }
            lines.removeLast()
            try Data(change(lines).joined(separator: [UInt8(ascii: "\n")]) + [UInt8(ascii: "\n")]).write(to: file)
        }
    }

    static let folderContentCases: [ConformanceCase] = [
        damage(
            "file-without-content", "cut to no bytes at all",
            "A file of no bytes is taken for one without records, or for a new storage. Only a file that is not there is new."
        ) { file in try Data().write(to: file) },
        damage(
            "file-removed", "removed, while others that hold records are there",
            "A file that is not there is taken for one without records. Keep a list of the files that belong together. A history "
                + "that begins anew has to refuse the tokens of the one before.",
            where: { _, others in
                // What is left of the storage, if anything, shows that it is not a new one.
                try others.contains { file in
                    let data = try Data(contentsOf: file)
                    return ["entry 0.0", "person 0", "team 0"].contains { data.range(of: Data($0.utf8)) != nil }
                }
            }
        ) { file in try FileManager.default.removeItem(at: file) },
        editing(
            "line-added", "given one more line, like its last one with another number",
            "A file that is longer than it was written is read to its end. Compare its length for equality, or keep a checksum."
        ) { lines in lines + [anotherNumber(lines[lines.count - 1])] },
        editing(
            "line-doubled", "given its last line twice",
            "A file that is longer than it was written is read to its end. Compare its length for equality, or keep a checksum."
        ) { lines in lines + lines.suffix(1) },
        editing(
            "line-removed", "given back without a line in its middle",
            "What is left can be read as lines. Keep how many there are, or a length or checksum of the file."
        ) { lines in Array(lines[..<(lines.count / 2)] + lines[(lines.count / 2 + 1)...]) },
        damage(
            "bytes-added", "given bytes of something else at its end",
            "What follows the last record is taken for one, or for a record that was cut off with those before it."
        ) { file in
            try (Data(contentsOf: file) + Data("\n\0more, that nobody wrote here".utf8)).write(to: file)
        },
        ConformanceCase(
            "folder.value-of-no-kind", level: .full, capability: .reopening,
            requirement:
                "A stored value of another kind is an error, and is not handed out as nil or another value.",
            hint:
                "What cannot be read as a number or a date becomes nil. Throw an error that names record and property."
        ) { c in
            try c.exchangeValues()
        },
        ConformanceCase(
            "folder.unknown-files", level: .full, capability: .reopening,
            requirement:
                "Files that the store does not know, such as those that file managers leave, are no damage; they stay where "
                + "they are.",
            hint:
                "Every name in the folder is taken for one of the store's own, or what is unknown is removed. Look for the "
                + "store's own names."
        ) { c in
            let folder = try c.folder()
            try c.addUnknownFiles(to: folder)
            let states = try c.fillFolder()
            try c.expectUnknownFiles(in: folder)
            c.note("the same in each folder within")
            let names = try FileManager.default.subpathsOfDirectory(atPath: folder.path)
            for name in names.sorted() where !name.contains("unknown") {
                let inner = folder.appending(path: name)
                let values = try inner.resourceValues(forKeys: [.isDirectoryKey])
                if values.isDirectory == true { try c.addUnknownFiles(to: inner) }
            }
            try c.expect(try c.foundState(), is: states[states.count - 1], "what is read beside unknown files:")
            try c.session().store(Entry("later"))
            try c.reopen()
            try c.close()
            try c.expect(try c.foundState(), is: states[states.count - 1] + ["later"], "what is read after a save:")
            try c.expectUnknownFiles(in: folder)
        },
        ConformanceCase(
            "folder.names", level: .full, capability: .reopening,
            requirement:
                "A storage in a folder of any name opens, keeps its records there and nowhere else, and opens again.",
            hint:
                "A path is taken for a URL or the other way round: use url.path(percentEncoded: false), and escape what goes "
                + "into a URL."
        ) { c in
            let root = try c.folder().deletingLastPathComponent().appending(path: "names")
            let names = [
                "a b", "50%20x", "100%", "a#b", "a?mode=ro", "a+b", "a&b=c;d", "a'b", "a\"b", "$HOME", "~", "[a]{b}*",
                "a\\b",
                "a:b,c", " a ", "-a", "ü", "u\u{308}", "日本語 🙂", "a\nb", String(repeating: "n", count: 200),
            ]
            for name in names {
                // Within one, so that what is made beside it is seen.
                let outer = root.appending(path: UUID().uuidString)
                let folder = outer.appending(path: name)
                try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
                for round in 1...2 {
                    let container = try c.open(for: Schema([Entry.self]), in: folder)
                    let context = ModelContext(container)
                    let found = try context.fetch(FetchDescriptor<Entry>()).map(\.name)
                    context.insert(Entry("\(round)"))
                    try context.save()
                    try container.close()
                    try c.expect(
                        found, is: round == 1 ? [] : ["1"], "names, in a folder called \(name.debugDescription):")
                }
                let beside = try FileManager.default.contentsOfDirectory(atPath: outer.path)
                try c.expect(
                    beside == [name], "nothing beside a folder called \(name.debugDescription)",
                    found: "\(beside)")
                let within = try FileManager.default.contentsOfDirectory(atPath: folder.path)
                try c.expect(!within.isEmpty, "files in a folder called \(name.debugDescription)", found: "none")
            }
        },
    ]

    /// A line whose first number is another one.
    static func anotherNumber(_ line: Data) -> Data {
        let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
        guard let first = line.firstIndex(where: digits.contains) else { return line }
        return line[..<first] + [UInt8(ascii: "9"), UInt8(ascii: "9")] + line[first...]
    }
}

extension CaseContext {
    private static let unknownNames = [
        ".DS_Store", "._unknown", "unknown.txt", "desktop.ini", "copy of unknown", "unknown 2", "2 unknown", "unknown~",
    ]
    private static let unknownFolder = ".unknown"

    fileprivate func addUnknownFiles(to folder: URL) throws {
        note("put files that nobody knows into \(folder.lastPathComponent)")
        for name in Self.unknownNames { try Data("unknown".utf8).write(to: folder.appending(path: name)) }
        let inner = folder.appending(path: Self.unknownFolder)
        try FileManager.default.createDirectory(at: inner, withIntermediateDirectories: false)
        try Data("unknown".utf8).write(to: inner.appending(path: "unknown"))
    }

    fileprivate func expectUnknownFiles(in folder: URL) throws {
        for name in Self.unknownNames + ["\(Self.unknownFolder)/unknown"] {
            let data = try? Data(contentsOf: folder.appending(path: name))
            try expect(
                data == Data("unknown".utf8), "\(name) as it was put there",
                found: data.map { "\($0.count) bytes" } ?? "no such file")
        }
    }

    /// Exchanges one stored number after the other for as many letters, and reads everything.
    fileprivate func exchangeValues() throws {
        let session = try session()
        let sample = OptionalSample(label: "sample")
        sample.whole = 7_654_321
        sample.wide = 7_654_321
        sample.single = 7_654_321
        sample.real = 7_654_321
        sample.amount = 7_654_321
        sample.moment = Date(timeIntervalSinceReferenceDate: 7_654_321)
        sample.token = UUID(uuidString: "07654321-7654-3210-7654-321076543210")
        session.insert(sample, Entry("entry", rank: 7_654_321, score: 7_654_321))
        try session.save()
        // What comes last may be taken for what was cut off.
        for number in 0..<3 { try session.store(Entry("later \(number)")) }
        func values(_ session: CaseSession) throws -> [String] {
            let found = try session.only(OptionalSample.self)
            let entry = try session.first(Entry.self, #Predicate { $0.name == "entry" })
            let values: [(String, Any?)] = [
                ("whole", found.whole), ("wide", found.wide), ("single", found.single), ("real", found.real),
                ("amount", found.amount), ("moment", found.moment?.timeIntervalSinceReferenceDate),
                ("token", found.token), ("rank", entry.rank), ("score", entry.score),
            ]
            return values.map { "\($0): \($1.map { "\($0)" } ?? "nil")" }
        }
        try expectNoOther(than: "the values that were saved", afterExchanging: "7654321") { try values(self.session()) }
    }

    /// Exchanges each place of a number in the files for letters, and asks the same again: it is an error, or nothing has changed.
    func expectNoOther(
        than description: String, afterExchanging number: String, _ answers: () throws -> [String]
    ) throws {
        let (digits, letters) = (Data(number.utf8), Data("garbage".utf8))
        let wanted = try answers()
        try close()
        var tried = 0
        for file in try files() {
            let whole = try Data(contentsOf: file)
            var start = whole.startIndex
            while let place = whole[start...].range(of: digits) {
                start = place.upperBound
                tried += 1
                note("exchange \(number) for letters at byte \(place.lowerBound) of \(file.lastPathComponent)")
                try (whole[..<place.lowerBound] + letters + whole[place.upperBound...]).write(to: file)
                do {
                    defer {
                        try? close()
                        abandon()
                    }
                    let found = try answers()
                    try close()
                    try expect(
                        found == wanted, "an error, or \(description)",
                        found: "\(found.filter { !wanted.contains($0) })")
                } catch let error as ConformanceFailure {
                    throw error
                } catch {
                    note("→ \(type(of: error))")
                }
                try whole.write(to: file)
            }
        }
        if tried == 0 { throw Untried(reason: "the subject's files hold no number as text") }
        try expect(try answers(), is: wanted, "answers once the files are as they were:")
    }
}
