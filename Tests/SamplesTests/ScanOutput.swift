import Foundation

/// What `file-catalog --json` prints, as far as the tests look at it.
struct ScanOutput: Decodable {
    struct Paths: Decodable {
        let count: Int
        let paths: [String]
    }

    struct Problem: Decodable {
        let path: String
        let reason: String
    }

    let isFirst: Bool
    let files: Int
    let folders: Int
    let bytes: Int
    let symbolicLinks: Int
    let specialFiles: Int
    let leftOut: [String]
    let ignored: Int
    let problems: [Problem]
    let keptUnseen: Int
    let addedFiles: Paths
    let changedFiles: Paths
    let removedFiles: Paths
    let addedFolders: Paths
    let removedFolders: Paths

    init(_ outcome: SampleProgram.Outcome) throws {
        self = try JSONDecoder().decode(Self.self, from: Data(outcome.output.utf8))
    }
}
