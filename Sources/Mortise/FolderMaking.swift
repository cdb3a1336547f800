import Foundation
import MortiseEngine

extension URL {
    /// Makes the folder that a store's file lies in, and those above it.
    /// - Throws: `FileError`, as the stores throw it, and not Foundation's errors.
    func makeFolder() throws(FileError) {
        let files = POSIXFileSystem()
        var missing: [String] = []
        var folder = deletingLastPathComponent()
        // As it is written: a step back goes from where a link leads. Without the slash at its end, by which a file would not be found to be there.
        while !FileManager.default.fileExists(atPath: folder.path), folder.path != "/" {
            missing.append(folder.path)
            folder = folder.deletingLastPathComponent()
        }
        for path in missing.reversed() {
            do throws(FileError) {
                try files.createDirectory(path, permissions: 0o777)
            } catch  where error.reason == .alreadyExists {
                // Somebody else has made it in the meantime.
                var isFolder: ObjCBool = false
                guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), isFolder.boolValue else {
                    throw error
                }
            }
        }
    }
}
