#if Tool
import ArgumentParser
import Foundation
import Mortise

extension FileCatalogCommand {
    /// Prints the largest files of the catalog.
    struct Largest: ParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Prints the largest files, largest first.")

        @OptionGroup var options: CatalogOptions
        @OptionGroup var listing: LimitOption

        func run() throws {
            let catalog = try Catalog(options).scannedOnce()
            var largest = FetchDescriptor<File>(
                sortBy: [SortDescriptor(\.size, order: .reverse), SortDescriptor(\.path)])
            largest.fetchLimit = listing.fetchLimit
            let rows = try catalog.context.fetch(largest).map { [Format.count($0.size), Format.line($0.path)] }
            print(Format.table(["bytes", "file"], rows, rightAligned: [0]))
        }
    }
}
#endif
