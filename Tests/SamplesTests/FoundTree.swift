import Foundation

/// The number of files and folders below a folder, as the program `find` counts them.
struct FoundTree: Equatable {
    let files: Int
    let folders: Int

    /// - Throws: an error of Foundation if there is no `find`.
    init(_ folder: String) throws {
        files = try Self.count("f", in: folder)
        folders = try Self.count("d", in: folder)
    }

    /// Counts terminators and not lines, as a name may hold a newline.
    private static func count(_ type: String, in folder: String) throws -> Int {
        let find = Process()
        find.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        find.arguments = ["find", folder, "-type", type, "-print0"]
        let pipe = Pipe()
        find.standardOutput = pipe
        find.standardError = FileHandle.nullDevice
        try find.run()
        let output = try pipe.fileHandleForReading.readToEnd() ?? Data()
        find.waitUntilExit()
        return output.count { $0 == 0 }
    }
}
