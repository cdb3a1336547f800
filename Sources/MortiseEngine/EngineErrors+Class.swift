public import MortiseCore

extension FileError: ClassifiedStoreError {
    public var errorClass: StoreErrorClass {
        switch reason {
        case .notFound: .missing
        case .alreadyExists, .notALockFile: .alreadyExists
        case .notARegularFile, .notADirectory, .linkLoop, .invalidPath: .usage
        case .locked: .locked
        case .readOnly, .permissionDenied: .denied
        case .changed: .conflict
        case .noSpace, .tooManyOpenFiles, .fileTooLarge, .exceedsLimit, .io, .interrupted, .closed, .other:
            .failedInputOutput
        }
    }
}

extension EngineError: ClassifiedStoreError {
    public var errorClass: StoreErrorClass {
        switch self {
        case .unknownEntity: .usage
        case .readOnly: .denied
        case .latched, .closed, .noMoreNumbers: .failedInputOutput
        case .noSuchRecord, .danglingReference, .wrongDestination, .notUnique, .unfitValue, .openWithOtherOptions,
            .schemaMismatch:
            .conflict
        }
    }
}
