#if Tool
import ArgumentParser

extension FileCatalogCommand {
    /// Finds files with the same content.
    struct Duplicates: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Prints the files that hold the same bytes, most wasted space first.",
            discussion: """
                Files of the same size are told apart by a hash, which is kept in the catalog, and then compared \
                byte for byte. Empty files do not count as duplicates, nor do several names of one file (hard links).
                """)

        @OptionGroup var options: CatalogOptions
        @OptionGroup var listing: LimitOption

        func run() throws {
            let catalog = try Catalog(options).scannedOnce()
            var search = DuplicateSearch(folder: catalog.folder, context: catalog.context)
            let groups = try search.run(ProgressLine())
            for group in groups.prefix(listing.fetchLimit ?? groups.count) {
                print("\(group.copies.count) files of \(Format.count(group.size, "byte"))")
                for copy in group.copies {
                    print("  " + copy.map { Format.line($0.text) }.joined(separator: "  =  "))
                }
            }
            if let limit = listing.fetchLimit, groups.count > limit {
                print("and \(Format.count(groups.count - limit, "more group"))")
            }
            let wasted = groups.map(\.wasted).reduce(0, +)
            print("\(Format.count(groups.count, "group")) of duplicates; \(Format.size(wasted)) could be freed")
            for problem in search.problems {
                print("not compared: \(Format.line(problem.path.text)): \(problem.reason)")
            }
        }
    }
}
#endif
