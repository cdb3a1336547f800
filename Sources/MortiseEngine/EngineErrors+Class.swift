public import MortiseCore

extension FileError: ClassifiedStoreError {
    /// The class of the error, for exit codes and alarms.
    public var errorClass: StoreErrorClass {
        switch reason {
        case .notFound, .historyWithoutStore: .missing
        case .alreadyExists, .notALockFile: .alreadyExists
        case .notARegularFile, .notADirectory, .linkLoop, .invalidPath, .symbolicLink, .severalNames: .usage
        case .locked, .openUnderAnotherName: .locked
        case .readOnly, .permissionDenied: .denied
        case .changed, .dataWithoutStore, .folderOfAnotherStore: .conflict
        case .closed: .closed
        case .noSpace, .tooManyOpenFiles, .fileTooLarge, .exceedsLimit, .io, .interrupted, .other:
            .failedInputOutput
        }
    }
}

extension StoredSchemaFault: ClassifiedStoreError {
    /// `usage`: no store can have the schema.
    public var errorClass: StoreErrorClass { .usage }
}

extension PackedFault: ClassifiedStoreError {
    /// Where the fault is, and what it is.
    public var description: String {
        "The region at offset \(offset) \(what). \(isDamage ? "Restore the file from a backup." : "Report it.")"
    }
    /// `damaged`.
    public var errorClass: StoreErrorClass { .damaged }
}

extension VersionPacker.PackedTwoStates: ClassifiedStoreError {
    /// What happened and what to do.
    public var description: String { "Regions of the version were rebuilt while it was packed. Pack it again." }
    /// `conflict`.
    public var errorClass: StoreErrorClass { .conflict }
}

extension EngineError: ClassifiedStoreError {
    /// The class of the error, for exit codes and alarms.
    public var errorClass: StoreErrorClass {
        switch self {
        case .unknownEntity: .usage
        case .readOnly: .denied
        case .latched, .noMoreNumbers: .failedInputOutput
        case .closed: .closed
        case .noSuchRecord, .danglingReference, .wrongDestination, .notUnique, .sameDefault, .unfitValue,
            .codedValueTooLarge, .openWithOtherOptions, .schemaMismatch:
            .conflict
        }
    }
}
