import MortiseEngine
import Testing

@Suite struct FileErrorTests {
    @Test(arguments: [
        (FileError.Code.noEntry, FileError.Reason.notFound),
        (.exists, .alreadyExists),
        (.isDirectory, .notARegularFile(.directory)),
        (.notDirectory, .notADirectory),
        (.loop, .linkLoop),
        (.nameTooLong, .invalidPath),
        (.noSpace, .noSpace),
        (.quota, .noSpace),
        (.readOnly, .readOnly),
        (.access, .permissionDenied),
        (.notPermitted, .permissionDenied),
        (.processFiles, .tooManyOpenFiles),
        (.systemFiles, .tooManyOpenFiles),
        (.fileTooLarge, .fileTooLarge),
        (.io, .io),
        (.interrupted, .interrupted),
        (.crossDevice, .other),
    ])
    func eachCodeHasItsReason(code: FileError.Code, reason: FileError.Reason) {
        let error = FileError(code: code, operation: .write, path: "/a/store.json")
        #expect(error.reason == reason)
        #expect(error.code == code)
        #expect(error.description.contains("'/a/store.json'"))
        #expect(error.description.contains(code.name))
    }

    @Test func theMessageSaysOperationPathCauseCodeAndRemedy() {
        let error = FileError(code: .noSpace, operation: .write, path: "/data/store.json")
        #expect(
            error.description == """
                cannot write '/data/store.json': the disk is full (ENOSPC, no space left on device); \
                free space or inodes, then reopen the store
                """)
    }

    @Test func aLockedStoreNamesItsHolder() {
        let error = FileError(.locked(holder: 4711), operation: .lock, path: "/data/store.json.lock")
        #expect(error.description.contains("locked by process 4711"))
    }

    @Test func anUnknownCodeKeepsItsNumber() {
        #expect(FileError.Code(rawValue: 9_999).description == "errno 9999, unspecified error")
    }

    @Test func onlyFailedSyncsAndUncertainRenamesLeaveTheOutcomeUnknown() {
        for operation in FileError.Operation.allCases {
            let error = FileError(code: .io, operation: operation, path: "/a")
            #expect(error.outcomeIsUnknown == [.sync, .startWriting, .syncDirectory, .rename].contains(operation))
        }
        #expect(!FileError(code: .noSpace, operation: .rename, path: "/a").outcomeIsUnknown)
    }
}
