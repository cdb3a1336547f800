import Foundation

/// Where a store is and what that is on, the same however its path is spelled.
package struct OpenPlace: Hashable, Sendable {
    package let place: StorePlace
    /// Tells file systems apart: objects one by one, values by their type. Nil is the operating system's.
    private let fileSystem: ObjectIdentifier?

    /// - Parameter path: relative to the current folder unless it begins with a slash.
    /// - Throws: as `StorePlace`.
    package init(of path: String, in fileSystem: any FileSystem) throws(FileError) {
        place = try StorePlace(of: Self.absolute(path), in: RepeatingFileSystem(fileSystem))
        let type = type(of: fileSystem)
        if fileSystem is POSIXFileSystem {
            self.fileSystem = nil
        } else {
            self.fileSystem = type is AnyClass ? ObjectIdentifier(fileSystem as AnyObject) : ObjectIdentifier(type)
        }
    }

    package static func absolute(_ path: String) -> String {
        path.hasPrefix("/") ? path : FileManager.default.currentDirectoryPath + "/" + path
    }
}

/// The stores of one kind that are open in this process: a place has one, however often it is opened.
///
/// A place that is being opened or closed makes others of the same place wait, and nobody else: opening may read a large
/// file.
///
/// @unchecked Sendable: what changes is behind the condition's lock.
package final class OpenStores<Store: AnyObject & Sendable, Options: Sendable>: @unchecked Sendable {
    private struct Entry {
        weak var store: Store?
        var options: Options?
        var uses = 0
        /// Whether somebody opens or closes it now.
        var isBusy = true
    }
    private let condition = NSCondition()
    private var entries: [OpenPlace: Entry] = [:]

    package init() {}

    private func locked<R>(_ body: () throws -> R) rethrows -> R {
        condition.lock()
        defer { condition.unlock() }
        return try body()
    }

    /// The store at a place: the one that is open there, or the one that the body opens.
    /// - Parameter areEqual: whether the store may be shared by who opened it with the first options and who asks with the
    ///   second.
    /// - Throws: `EngineError.openWithOtherOptions`; what the body throws.
    package func open(
        _ place: OpenPlace, options: Options, areEqual: (Options, Options) -> Bool, _ body: () throws -> Store
    ) throws -> Store {
        let known: Store? = try locked {
            while entries[place]?.isBusy == true { condition.wait() }
            entries = entries.filter { $0.value.isBusy || $0.value.store != nil }
            if let entry = entries[place], let store = entry.store, let given = entry.options {
                guard areEqual(given, options) else { throw EngineError.openWithOtherOptions(path: place.place.path) }
                entries[place]?.uses += 1
                return store
            }
            entries[place] = Entry()
            return nil
        }
        if let known { return known }
        let result = Result { try body() }
        locked {
            if case .success(let store) = result {
                entries[place] = Entry(store: store, options: options, uses: 1, isBusy: false)
            } else {
                entries[place] = nil
            }
            condition.broadcast()
        }
        return try result.get()
    }

    /// Runs the body, which closes the store, when its last user closes it. Until the body is done nobody opens the place, who
    /// would find it locked by their own process.
    /// - Throws: what the body throws.
    package func close(_ store: Store, _ body: () throws -> Void) throws {
        let place: OpenPlace?? = locked {
            guard let place = entries.first(where: { $0.value.store === store })?.key else { return .some(nil) }
            entries[place]?.uses -= 1
            guard let entry = entries[place], entry.uses <= 0 else { return nil }
            entries[place]?.isBusy = true
            return place
        }
        guard let place else { return }
        defer {
            if let place {
                locked {
                    entries[place] = nil
                    condition.broadcast()
                }
            }
        }
        try body()
    }
}
