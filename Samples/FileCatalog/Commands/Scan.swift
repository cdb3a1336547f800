#if Tool
import ArgumentParser

extension FileCatalogCommand {
    /// Walks the folder, brings the catalog up to date and prints the differences.
    struct Scan: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Brings the catalog up to date and prints what was added, changed and removed.")

        @OptionGroup var options: CatalogOptions
        @OptionGroup var listing: LimitOption

        @Flag(help: "Print one JSON object instead of text; --limit bounds its lists of paths, never its counts.")
        var json = false

        func run() throws {
            let catalog = try Catalog(options)
            let report = try catalog.scan(listing: listing.fetchLimit ?? .max)
            print(json ? try report.json() : report.text())
        }
    }
}
#endif
