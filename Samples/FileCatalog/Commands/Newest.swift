#if Tool
import ArgumentParser
import Foundation
import Mortise

extension FileCatalogCommand {
    /// Prints the files that were modified last.
    struct Newest: ParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Prints the files modified last, newest first.")

        @OptionGroup var options: CatalogOptions
        @OptionGroup var listing: LimitOption

        func run() throws {
            let catalog = try Catalog(options).scannedOnce()
            var newest = FetchDescriptor<File>(
                sortBy: [SortDescriptor(\.modified, order: .reverse), SortDescriptor(\.path)])
            newest.fetchLimit = listing.fetchLimit
            let rows = try catalog.context.fetch(newest).map { [Format.date($0.modified), Format.line($0.path)] }
            print(Format.table(["modified (UTC)", "file"], rows))
        }
    }
}
#endif
