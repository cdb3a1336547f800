public import MortiseCore
public import Foundation

/// A storage that belongs to one run of one case.
public struct SubjectStorage {
    let open: () throws -> any DataStoreConfiguration
    let cleanUp: () throws -> Void
    let crash: (() throws -> Void)?
    let faults: StorageFaults?
    /// The folder in which the storage is at present; nil where the storage is no folder.
    private(set) var folder: (() -> URL)?
    /// Puts the storage into another folder, and nothing into the old one.
    private(set) var move: (() throws -> Void)?

    /// Describes a storage by what the kit can do with it.
    /// - Parameters:
    ///   - open: makes a configuration that opens this storage. Called again to reopen it, after the previous container
    ///     was closed; if the storage lives in its store, it makes a new one.
    ///   - cleanUp: removes the storage, whatever state it is in.
    ///   - crash: leaves the storage as the end of the process does at this moment, with nothing closed; the next
    ///     opening finds that state. Required if the subject claims `durability`.
    ///   - faults: makes operations of the storage fail. Required if the subject claims `faultInjection`.
    public init(
        open: @escaping () throws -> any DataStoreConfiguration, cleanUp: @escaping () throws -> Void = {},
        crash: (() throws -> Void)? = nil, faults: StorageFaults? = nil
    ) {
        self.open = open
        self.crash = crash
        self.faults = faults
        self.cleanUp = cleanUp
    }

    /// Makes a storage in a new temporary folder, which is removed at the end.
    ///
    /// A crash is what the folder holds at that moment: the kit continues with a copy of it while the old store is still
    /// open on the original. A killed process leaves the same.
    /// - Parameters:
    ///   - base: where to make the folder; nil takes the system's temporary folder.
    ///   - configuration: makes the configuration of a store in an existing folder.
    /// - Returns: the storage.
    /// - Throws: what `FileManager` throws.
    public static func folder(
        in base: URL? = nil, _ configuration: @escaping (URL) throws -> any DataStoreConfiguration
    ) throws -> SubjectStorage {
        let root = (base ?? FileManager.default.temporaryDirectory).appending(path: "conformance-\(UUID().uuidString)")
        var place = root.appending(path: "0")
        var copies = 0
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
        func nextPlace() -> URL {
            copies += 1
            return root.appending(path: "\(copies)")
        }
        var storage = SubjectStorage(
            open: { try configuration(place) }, cleanUp: { try FileManager.default.removeItem(at: root) },
            crash: {
                let copy = nextPlace()
                try FileManager.default.copyItem(at: place, to: copy)
                place = copy
            })
        storage.folder = { place }
        storage.move = {
            let other = nextPlace()
            try FileManager.default.moveItem(at: place, to: other)
            place = other
        }
        return storage
    }
}

/// How a storage is made to fail: for subjects whose storage goes through a seam with a double, as Mortise's own file
/// stores do.
///
/// A store whose files go through the seam of `MortiseEngine` has such a double in `SimulatedFileSystem`, which is part of
/// `MortiseTestSupport`.
public struct StorageFaults {
    let operationCount: () -> Int
    let failOperation: (Int?) -> Void
    let crash: (Int) throws -> Void

    /// Describes how the storage is made to fail.
    /// - Parameters:
    ///   - operationCount: returns the number of operations that the storage has done so far.
    ///   - failOperation: makes one operation fail, counted from now; 1 is the next, nil cancels the fault.
    ///   - crash: leaves the storage as a loss of power does right after the operation of that number, counted like
    ///     `operationCount`. The count then starts again.
    public init(
        operationCount: @escaping () -> Int, failOperation: @escaping (Int?) -> Void,
        crash: @escaping (Int) throws -> Void
    ) {
        self.operationCount = operationCount
        self.failOperation = failOperation
        self.crash = crash
    }
}

extension StoreCapability {
    /// The subject can make operations of its storage fail, so that the cases of failing storage can be run. Claimed for
    /// the subject, not by the store.
    public static let faultInjection = StoreCapability(rawValue: "faultInjection")

    /// Every capability that the kit asks for.
    static var asked: [StoreCapability] { all + [.faultInjection] }
}
