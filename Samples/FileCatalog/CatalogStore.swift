import Foundation

/// Where catalogs are kept when the command line does not say.
enum CatalogStore {
    /// The scheme of the default store, and the ending of its file's name.
    static let defaultScheme = "log"

    /// The store URL of the catalog of the folder with the absolute path `folder`, in the user's data folder, which is
    /// made if it is missing. Two folders never share one, whatever their names.
    ///
    /// - Throws: what the file system throws if the data folder cannot be made.
    static func defaultURL(forFolder folder: String) throws -> String {
        let data = try FileManager.default.url(
            for: .applicationSupportDirectory, in: .userDomainMask, appropriateFor: nil, create: true)
        let catalogs = data.appending(path: "file-catalog", directoryHint: .isDirectory)
        try FileManager.default.createDirectory(at: catalogs, withIntermediateDirectories: true)
        let name = "\(readablePart(of: folder))-\(hash(of: folder).prefix(16)).\(defaultScheme)"
        return "\(defaultScheme):\(catalogs.appending(path: name).path)"
    }

    /// The letters and digits of the folder's own name.
    private static func readablePart(of folder: String) -> String {
        let name = folder.split(separator: "/").last ?? "root"
        return String(String.UnicodeScalarView(name.unicodeScalars.filter { $0.isASCII && $0.properties.isAlphabetic }))
    }

    private static func hash(of folder: String) -> String {
        var hash = ContentHash()
        withUnsafeTemporaryAllocation(byteCount: max(folder.utf8.count, 1), alignment: 16) { buffer in
            buffer.copyBytes(from: folder.utf8)
            hash.update(with: UnsafeRawBufferPointer(rebasing: buffer[..<folder.utf8.count]))
        }
        return hash.hexadecimal
    }
}
