// What sources for SwiftData use of Apple's Foundation and what Foundation lacks elsewhere. Should it get these, its own are
// taken.
#if !canImport(Darwin)
public import Foundation

extension URL {
    /// The user's folder for documents, which may not exist.
    @_disfavoredOverload public static var documentsDirectory: URL { folder(.documentDirectory, "Documents") }
    /// The user's folder for what programs keep (`$XDG_DATA_HOME`), which may not exist.
    @_disfavoredOverload public static var applicationSupportDirectory: URL {
        folder(.applicationSupportDirectory, ".local/share")
    }
    /// The user's folder for what programs can make again (`$XDG_CACHE_HOME`), which may not exist.
    @_disfavoredOverload public static var cachesDirectory: URL { folder(.cachesDirectory, ".cache") }
    /// The user's desktop, which may not exist.
    @_disfavoredOverload public static var desktopDirectory: URL { folder(.desktopDirectory, "Desktop") }
    /// The user's folder for downloads, which may not exist.
    @_disfavoredOverload public static var downloadsDirectory: URL { folder(.downloadsDirectory, "Downloads") }
    /// The user's folder for films, which may not exist.
    @_disfavoredOverload public static var moviesDirectory: URL { folder(.moviesDirectory, "Videos") }
    /// The user's folder for music, which may not exist.
    @_disfavoredOverload public static var musicDirectory: URL { folder(.musicDirectory, "Music") }
    /// The user's folder for pictures, which may not exist.
    @_disfavoredOverload public static var picturesDirectory: URL { folder(.picturesDirectory, "Pictures") }

    /// The user's folder of a kind; `name` in the user's home directory if Foundation knows none.
    private static func folder(_ kind: FileManager.SearchPathDirectory, _ name: String) -> URL {
        let known = FileManager.default.urls(for: kind, in: .userDomainMask).first
        let path = (known ?? homeDirectory.appending(path: name)).path(percentEncoded: false)
        // Foundation asks the disk whether a path is a folder's, and this one may not be there yet.
        return URL(filePath: path, directoryHint: .isDirectory)
    }
}

/// Seconds, as Core Foundation names them.
public typealias CFTimeInterval = TimeInterval
/// Seconds since 2001-01-01 00:00:00 UTC, as Core Foundation names them.
public typealias CFAbsoluteTime = CFTimeInterval

/// The seconds since 1 January 2001, by the system's clock.
@_disfavoredOverload
public func CFAbsoluteTimeGetCurrent() -> CFAbsoluteTime { Date.timeIntervalSinceReferenceDate }
#endif
