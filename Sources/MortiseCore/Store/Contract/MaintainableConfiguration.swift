import Foundation

/// Something that can be done with a store as a whole.
public enum MaintenanceOperation: String, Sendable, Hashable, CaseIterable {
    /// Reading everything and listing what is wrong.
    case verify
    /// Dropping what the configuration does not keep.
    case compact
    /// Writing what can be read of a damaged store into a new one.
    case salvage
    /// Renewing the checksum of a store that people may edit with other programs.
    case reseal
    /// Copying, as of one moment, while others write.
    case backUp = "back up"
    /// Putting a backup in the store's place.
    case restore = "restore"
    /// Telling who has saved what, and when.
    case history = "keep a history"
}

/// A configuration whose store can be looked after as a whole without being opened.
///
/// An adapter lists in `maintenance` what its store can do and has the method for each; the other methods throw
/// `MaintenanceError.unsupported`. A container and the tool ask for what is listed only.
public protocol MaintainableConfiguration: DataStoreConfiguration {
    /// What can be done with the store.
    var maintenance: Set<MaintenanceOperation> { get }

    /// Reads everything and lists what is wrong. Changes nothing and takes no lock.
    /// - Throws: the adapter's errors if the store does not exist or cannot be read at all.
    func verifyStore() throws -> MaintenanceReport

    /// Drops what the store's configuration does not keep; no record changes. A crash at any moment leaves the store as
    /// it was, or compacted.
    /// - Throws: the adapter's errors. The store's records do not change then either.
    func compactStore() throws -> MaintenanceReport

    /// Writes what can be read into a new store at a path where nothing exists. The damaged store does not change.
    /// - Throws: the adapter's errors, also if nothing can be read or something exists at the path.
    func salvageStore(to path: String) throws -> MaintenanceReport

    /// Renews the checksum after checking everything.
    /// - Throws: the first fault found; the store is then unchanged.
    func resealStore() throws -> MaintenanceReport

    /// Writes a copy, which opens as this store does, to a path where nothing exists. What is wrong among the records and does
    /// not keep the store from opening is copied too, and listed as a problem.
    /// - Throws: the adapter's errors, also if something exists at the path.
    func backUpStore(to path: String) throws -> MaintenanceReport

    /// Puts what `backUpStore(to:)` has written in the store's place, while nobody has the store open for writing.
    ///
    /// The backup is read whole, and the new store is written beside the old one, before anything is replaced. A crash at any
    /// moment leaves the store as it was, or as the backup has it; so does an error, but for one whose outcome is unknown. The
    /// backup does not change.
    /// - Parameters:
    ///   - path: where the backup is.
    ///   - replacing: whether a store that exists is replaced. It need not be readable; one that is must have the backup's
    ///     identifier.
    ///   - ready: called once, when everything is ready and nothing is replaced yet. Where it throws, nothing is.
    /// - Returns: how much was restored, and what is wrong with it.
    /// - Throws: `RestoreError`; the adapter's errors for a backup that is damaged, and for a store that is locked; what `ready`
    ///   throws.
    func restoreStore(from path: String, replacing: Bool, whenReady ready: () throws -> Void) throws
        -> MaintenanceReport
}

extension MaintainableConfiguration {
    /// - Throws: `MaintenanceError.unsupported`.
    public func verifyStore() throws -> MaintenanceReport { throw unsupported(.verify) }
    /// - Throws: `MaintenanceError.unsupported`.
    public func compactStore() throws -> MaintenanceReport { throw unsupported(.compact) }
    /// - Throws: `MaintenanceError.unsupported`.
    public func salvageStore(to path: String) throws -> MaintenanceReport { throw unsupported(.salvage) }
    /// - Throws: `MaintenanceError.unsupported`.
    public func resealStore() throws -> MaintenanceReport { throw unsupported(.reseal) }
    /// - Throws: `MaintenanceError.unsupported`.
    public func backUpStore(to path: String) throws -> MaintenanceReport { throw unsupported(.backUp) }
    /// - Throws: `MaintenanceError.unsupported`.
    public func restoreStore(
        from path: String, replacing: Bool, whenReady ready: () throws -> Void
    ) throws -> MaintenanceReport { throw unsupported(.restore) }
}

extension DataStoreConfiguration {
    /// The configuration as one whose store can do this; nil if it cannot.
    public func capable(of operation: MaintenanceOperation) -> (any MaintainableConfiguration)? {
        guard let maintainable = self as? any MaintainableConfiguration, maintainable.maintenance.contains(operation)
        else { return nil }
        return maintainable
    }

    /// The error of what cannot be done with this configuration's store.
    public func unsupported(_ operation: MaintenanceOperation) -> MaintenanceError {
        .unsupported(operation, store: locationOrName)
    }

    /// What a text calls the store.
    var locationOrName: String { (self as? any SelfDescribingConfiguration)?.location ?? name }
}

/// Why a store could not be looked after.
public enum MaintenanceError: Error, Hashable, ClassifiedStoreError {
    /// This kind of store cannot do that. The store is named by its location, or by its configuration's name.
    case unsupported(MaintenanceOperation, store: String)
    /// The folder of a backup, or that of a store that is to be restored, cannot be made.
    case folderNotMade(path: String, fault: FolderFault)

    /// Why a folder cannot be made.
    public enum FolderFault: String, Sendable, Hashable, Codable, CaseIterable {
        /// The user may not write there, or the medium is for reading only.
        case denied
        /// A file is where the folder, or one above it, would be.
        case fileInTheWay
        /// The path is empty, too long, or has characters that no path has.
        case invalidPath
        /// The disk is full, or has failed.
        case failed
    }

    /// What cannot be done, with which store, and the way out.
    public var description: String {
        switch self {
        case .unsupported(let operation, let store):
            "The store \(store) has no way to \(operation.rawValue). \(Self.wayOut(of: operation)) `maintenance` of its "
                + "configuration lists what it can do."
        case .folderNotMade(let path, let fault):
            switch fault {
            case .denied:
                "The folder \(path) cannot be made: the permission is missing. Make it by hand, or give a folder that the user may write to."
            case .fileInTheWay:
                "The folder \(path) cannot be made: a file is in its place, or in that of a folder above it. Give another path."
            case .invalidPath: "The folder \"\(path)\" cannot be made: no folder has such a path. Give another path."
            case .failed: "The folder \(path) cannot be made. Check the disk and its free space."
            }
        }
    }

    private static func wayOut(of operation: MaintenanceOperation) -> String {
        switch operation {
        case .verify: "Fetch its records to see that they can be read."
        case .compact: "It keeps no more than its configuration says."
        case .salvage: "Restore a backup of it, or repair it with its own tools."
        case .reseal: "Only stores that people may edit by hand need that."
        case .history: "Keep its records in a log: log:PATH."
        case .backUp, .restore:
            "Copy its records with `mortise copy`, or keep them in a store with a file: json:PATH or log:PATH."
        }
    }

    /// `unsupported` for what a store cannot do; that of the fault for a folder.
    public var errorClass: StoreErrorClass {
        switch self {
        case .unsupported: .unsupported
        case .folderNotMade(_, .denied): .denied
        case .folderNotMade(_, .fileInTheWay): .alreadyExists
        case .folderNotMade(_, .invalidPath): .usage
        case .folderNotMade(_, .failed): .failedInputOutput
        }
    }
}

extension MaintenanceError.FolderFault {
    /// What Foundation says of a folder that it has not made.
    init(_ error: any Error) {
        let cause = (error as NSError).userInfo[NSUnderlyingErrorKey] as? any Error
        switch (error as? POSIXError ?? cause as? POSIXError)?.code {
        case .EACCES, .EPERM, .EROFS: self = .denied
        case .EEXIST, .ENOTDIR: self = .fileInTheWay
        case .ENAMETOOLONG, .EINVAL, .ENOENT, .ELOOP: self = .invalidPath
        case .some: self = .failed
        case nil:
            switch (error as? CocoaError)?.code {
            case .fileWriteNoPermission, .fileWriteVolumeReadOnly: self = .denied
            case .fileWriteFileExists: self = .fileInTheWay
            case .fileWriteInvalidFileName, .fileNoSuchFile, .fileReadNoSuchFile: self = .invalidPath
            default: self = .failed
            }
        }
    }
}
