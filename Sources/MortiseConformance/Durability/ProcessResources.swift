import Foundation

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// What the process uses at present.
enum ProcessResources {
    /// How many open files lead into a folder.
    /// - Throws: `Untried` where the system does not tell.
    static func openFiles(in folder: URL) throws -> Int {
        let files = FileManager.default
        guard let numbers = try? files.contentsOfDirectory(atPath: "/proc/self/fd") else {
            throw Untried(reason: "this system does not list a process's open files")
        }
        let root = folder.resolvingSymlinksInPath().path
        return numbers.count { number in
            (try? files.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(number)"))?.hasPrefix(root) == true
        }
    }

    /// How many threads there are.
    /// - Throws: `Untried` where the system does not tell.
    static func threads() throws -> Int {
        guard let threads = try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task") else {
            throw Untried(reason: "this system does not list a process's threads")
        }
        return threads.count
    }

    /// How many files are open, wherever they are, and how much memory there is; nil where the system does not tell.
    static func used() -> (files: Int, bytes: Int)? {
        guard let files = try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd"),
            let text = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8)
        else { return nil }
        let pages = text.split(separator: " ").compactMap { Int($0) }
        return pages.count > 1 ? (files.count, pages[1] * Int(sysconf(Int32(_SC_PAGESIZE)))) : nil
    }
}
