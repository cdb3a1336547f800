import Foundation
import MortiseEngine

extension URL {
    /// Makes the folder that a store's file lies in, and those above it.
    /// - Throws: `FileError`, as the stores throw it, and not Foundation's errors.
    func makeFolder() throws(FileError) {
        let files = POSIXFileSystem()
        var missing: [String] = []
        // By the text alone: a step back goes from where a link leads, and `URL` shortens no path that ends in one.
        var folder = PathText.directory(of: path)
        while folder != "/", folder != ".", !FileManager.default.fileExists(atPath: folder) {
            missing.append(folder)
            folder = PathText.directory(of: folder)
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
