#if Tool
import ArgumentParser
import Foundation
import Mortise

extension FileCatalogCommand {
    /// Adds up the files of each kind, and the files of each tag.
    struct Totals: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Prints the number of files and bytes of each type, most bytes first.")

        @OptionGroup var options: CatalogOptions
        @OptionGroup var listing: LimitOption

        func run() throws {
            let catalog = try Catalog(options).scannedOnce()
            let totals = try TypeTotals(in: catalog.context)
            let heading = ["type", "extension", "files", "bytes"]
            print(Format.table(heading, totals.rows(limit: listing.fetchLimit), rightAligned: [2, 3]))
            print("")
            print(Format.table(["tag", "files"], try tagRows(in: catalog.context), rightAligned: [1]))
        }

        private func tagRows(in context: ModelContext) throws -> [[String]] {
            let tags = try context.fetch(FetchDescriptor<Tag>(sortBy: [SortDescriptor(\.name)]))
            return tags.map { [$0.name, Format.count($0.files.count)] }
        }
    }
}
#endif
