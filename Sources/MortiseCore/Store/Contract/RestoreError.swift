/// Why a backup was not put in a store's place. Nothing has changed then.
public enum RestoreError: Error, Hashable, Sendable {
    /// There is a store, and it was not said that it may be replaced.
    case storeExists(location: String)
    /// The store that is there is another one than the backup's: both are identifiers of stores.
    case otherStore(location: String, found: String, backup: String)
    /// There is no backup of the store where it was looked for.
    case noBackup(store: String, path: String)
    /// The path of the backup leads to the store itself, by a link perhaps.
    case backupIsStore(path: String)
    /// The backup cannot be read whole; the reason is the first fault.
    case damagedBackup(path: String, reason: String)
    /// The container whose stores were to be restored is open.
    case containerIsOpen
    /// The configuration allows reading only.
    case readOnly(store: String)
}

extension RestoreError: ClassifiedStoreError {
    /// What happened and what to do.
    public var description: String {
        switch self {
        case .storeExists(let location):
            "There is a store at \(location), and nothing was restored. Move it away, or pass replacing: true to lose what it has."
        case .otherStore(let location, let found, let backup):
            "The store at \(location) is another one (\(found)) than that of the backup (\(backup)). Check both paths; to put the "
                + "backup there all the same, move the store's files away first."
        case .noBackup(let store, let path):
            "There is no backup of the store \(store) at \(path). Give the folder that ModelContainer.backUp(to:) has written, with "
                + "the configurations that the container had."
        case .backupIsStore(let path):
            "The file at \(path) is that of the store itself, which has all that it has. Give the path of a backup, which "
                + "ModelContainer.backUp(to:) writes into a folder of its own."
        case .damagedBackup(let path, let reason):
            "The backup at \(path) is damaged, and nothing was restored: \(reason) Take another backup, or salvage this one."
        case .containerIsOpen: "The container is open. Close it before its stores are restored."
        case .readOnly(let store):
            "The configuration of the store \(store) allows reading only. Restore it by one that allows saving."
        }
    }

    /// What sort of thing went wrong.
    public var errorClass: StoreErrorClass {
        switch self {
        case .storeExists: .alreadyExists
        case .otherStore: .conflict
        case .noBackup: .missing
        case .damagedBackup: .damaged
        case .containerIsOpen: .locked
        case .readOnly, .backupIsStore: .usage
        }
    }
}
