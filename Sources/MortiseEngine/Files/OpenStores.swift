import Foundation

/// Where a store is and what that is on, the same however its path is spelled.
package struct OpenPlace: Hashable, Sendable {
    package let place: StorePlace
    /// Tells file systems apart: objects one by one, values by their type. Nil is the operating system's.
    private let fileSystem: ObjectIdentifier?

    /// Names the place of a store. `path` is relative to the current folder unless it begins with a slash.
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

/// The stores of one kind that are open in this process: one at each place, however often it is opened, except those that
/// are independent of others.
///
/// Opening or closing at a place blocks other openings of the same place only, because it may read a large file.
///
/// @unchecked Sendable: what changes is behind the condition's lock.
package final class OpenStores<Store: AnyObject & Sendable, Options: Sendable>: @unchecked Sendable {
    private struct Opening {
        weak var store: Store?
        var options: Options
        var uses = 1
    }
    private let condition = NSCondition()
    private var openings: [OpenPlace: [Opening]] = [:]
    /// Where somebody opens or closes a store now.
    private var busy: Set<OpenPlace> = []
    private var waiters: [OpenPlace: Int] = [:]

    package init() {}

    private func locked<R>(_ body: () throws -> R) rethrows -> R {
        condition.lock()
        defer { condition.unlock() }
        return try body()
    }

    private func free(_ place: OpenPlace) {
        busy.remove(place)
        condition.broadcast()
    }

    /// How many threads wait to open a store at a place.
    package func waiting(at place: OpenPlace) -> Int { locked { waiters[place] ?? 0 } }

    /// Returns the store at a place: the one that is open there, or the one that the body opens. Waits while another
    /// thread opens or closes it.
    /// - Parameters:
    ///   - place: where the store is.
    ///   - options: the options asked for.
    ///   - areEqual: whether a store opened with the first options may be shared with a caller that asks for the
    ///     second.
    ///   - areApart: whether stores with these options are independent, though they are at one place.
    ///   - isUsable: whether an open store may have more users; if false, the body opens another one beside it.
    ///   - body: opens the store; not called if one is shared.
    /// - Returns: the store.
    /// - Throws: `EngineError.openWithOtherOptions`; what the body throws.
    package func open(
        _ place: OpenPlace, options: Options, areEqual: (Options, Options) -> Bool,
        areApart: (Options, Options) -> Bool = { _, _ in false }, isUsable: (Store) -> Bool = { _ in true },
        _ body: () throws -> Store
    ) throws -> Store {
        let known: Store? = try locked {
            while busy.contains(place) {
                waiters[place, default: 0] += 1
                condition.wait()
                waiters[place, default: 0] -= 1
            }
            waiters = waiters.filter { $0.value > 0 }
            openings = openings.compactMapValues { list in
                let open = list.filter { $0.store != nil }
                return open.isEmpty ? nil : open
            }
            for (index, opening) in (openings[place] ?? []).enumerated() {
                guard let store = opening.store, !areApart(opening.options, options), isUsable(store) else { continue }
                guard areEqual(opening.options, options) else {
                    throw EngineError.openWithOtherOptions(path: place.place.path)
                }
                openings[place]?[index].uses += 1
                return store
            }
            busy.insert(place)
            return nil
        }
        if let known { return known }
        let result = Result { try body() }
        locked {
            if case .success(let store) = result {
                openings[place, default: []].append(Opening(store: store, options: options))
            }
            free(place)
        }
        return try result.get()
    }

    /// Runs the body, which closes the store, when its last user closes it. Until the body is done the place cannot be
    /// opened, because the opening would find it locked by its own process.
    /// - Throws: what the body throws.
    package func close(_ store: Store, _ body: () throws -> Void) throws {
        var place: OpenPlace?
        let isLast: Bool = locked {
            while let found = openings.first(where: { $0.value.contains { $0.store === store } })?.key {
                // Another store at the place may be opening.
                if busy.contains(found) {
                    condition.wait()
                    continue
                }
                guard let index = openings[found]?.firstIndex(where: { $0.store === store }) else { break }
                openings[found]?[index].uses -= 1
                guard let uses = openings[found]?[index].uses, uses <= 0 else { return false }
                openings[found]?.remove(at: index)
                busy.insert(found)
                place = found
                break
            }
            return true
        }
        guard isLast else { return }
        defer {
            if let place { locked { free(place) } }
        }
        try body()
    }
}
