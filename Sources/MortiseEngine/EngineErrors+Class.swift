public import MortiseCore

extension FileError: ClassifiedStoreError {
    /// The class of the error, for exit codes and alarms.
    public var errorClass: StoreErrorClass {
        switch reason {
        case .notFound: .missing
        case .alreadyExists, .notALockFile: .alreadyExists
        case .notARegularFile, .notADirectory, .linkLoop, .invalidPath, .symbolicLink, .severalNames: .usage
        case .locked, .openUnderAnotherName: .locked
        case .readOnly, .permissionDenied: .denied
        case .changed, .dataWithoutStore, .folderOfAnotherStore: .conflict
        case .noSpace, .tooManyOpenFiles, .fileTooLarge, .exceedsLimit, .io, .interrupted, .closed, .other:
            .failedInputOutput
        }
    }
}

extension EngineError: ClassifiedStoreError {
    /// The class of the error, for exit codes and alarms.
    public var errorClass: StoreErrorClass {
        switch self {
        case .unknownEntity: .usage
        case .readOnly: .denied
        case .latched, .closed, .noMoreNumbers: .failedInputOutput
        case .noSuchRecord, .danglingReference, .wrongDestination, .notUnique, .sameDefault, .unfitValue,
            .codedValueTooLarge, .openWithOtherOptions, .schemaMismatch:
            .conflict
        }
    }
}
