import Mortise

/// The number of files and bytes of each kind and extension.
struct TypeTotals {
    private struct FileType: Hashable {
        let kind: String
        let fileExtension: String
    }

    private struct Total {
        var files = 0
        var bytes = 0
    }

    private var totals: [FileType: Total] = [:]
    private var all = Total()

    /// Adds up all files that `context` finds, some thousands at a time.
    init(in context: ModelContext) throws {
        var descriptor = FetchDescriptor<File>()
        descriptor.propertiesToFetch = [\.kind, \.fileExtension, \.size]
        var totals: [FileType: Total] = [:]
        try context.enumerate(descriptor, batchSize: 5_000) { file in
            let type = FileType(kind: file.kind.rawValue, fileExtension: file.fileExtension)
            totals[type, default: Total()].files += 1
            totals[type, default: Total()].bytes += file.size
        }
        self.totals = totals
        for total in totals.values {
            all.files += total.files
            all.bytes += total.bytes
        }
    }

    /// One row a type, most bytes first, then one for all types that did not fit in `limit`, then the sum.
    func rows(limit: Int?) -> [[String]] {
        let sorted = totals.sorted {
            ($1.value.bytes, $1.value.files, $0.key.kind, $0.key.fileExtension)
                < ($0.value.bytes, $0.value.files, $1.key.kind, $1.key.fileExtension)
        }
        let shown = sorted.prefix(limit ?? sorted.count)
        var rows = shown.map { Self.row($0.key.kind, $0.key.fileExtension, $0.value) }
        let rest = sorted.dropFirst(shown.count).map(\.value)
        if !rest.isEmpty {
            let total = Total(files: rest.map(\.files).reduce(0, +), bytes: rest.map(\.bytes).reduce(0, +))
            rows.append(Self.row("\(Format.count(rest.count)) more", "", total))
        }
        rows.append(Self.row("all", "", all))
        return rows
    }

    private static func row(_ type: String, _ fileExtension: String, _ total: Total) -> [String] {
        [type, Format.line(fileExtension), Format.count(total.files), Format.count(total.bytes)]
    }
}
