import Foundation
import Mortise

/// The way of a file into a library, and what it means for the store.
enum LibraryImport {
    /// Imports all of a file into an open library, or nothing of it.
    ///
    /// - Throws: ``LibraryError/holdsData(store:)`` if the library holds data and `replace` is false; what reading and
    ///   saving throw.
    static func run(_ source: ChinookFile, into context: ModelContext, store: String, replace: Bool = false) throws {
        if try !Library.isEmpty(context) {
            guard replace else { throw LibraryError.holdsData(store: Library.shown(store)) }
            try Library.deleteAll(in: context)
        }
        var importer = ChinookImport(into: context)
        try importer.insert(source)
        try context.save()
    }
}

/// Why a store cannot be used.
enum LibraryError: Error, Equatable, CustomStringConvertible {
    case holdsData(store: String)
    case holdsNothing(store: String)
    case wrongAnswers(count: Int)

    var description: String {
        switch self {
        case .holdsData(let store): "the store \(store) holds data already; pass --replace to replace it"
        case .holdsNothing(let store): "the store \(store) holds no library; import one first"
        case .wrongAnswers(let count): "\(count) answers differ from the reference"
        }
    }
}
