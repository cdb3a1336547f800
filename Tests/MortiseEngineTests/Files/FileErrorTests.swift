import Foundation
import MortiseEngine
import Testing

@Suite struct FileErrorTests {
    /// The messages are those that a user reads after the system itself refused a call; `PATH` is the temporary folder.
    @Test func whatTheSystemRefusesReadsAsItsCauseAndAWayOut() throws {
        let system = POSIXFileSystem()
        let messages = try withTemporaryDirectory { directory in
            let path = { directory + "/" + $0 }
            try system.put([1], at: path("file"))
            try system.createDirectory(path("folder"), permissions: 0o700)
            try link(path("loop"), to: "loop")
            let calls: [() throws -> Void] = [
                { _ = try system.open(path("missing"), mode: .read) },
                { _ = try system.open(path("file"), mode: .createExclusive(permissions: 0o600)) },
                { try system.rename(path("file"), to: path("folder")) },
                { _ = try system.open(path("file/inside"), mode: .read) },
                { _ = try system.open(path("loop"), mode: .read) },
                { _ = try system.open(path(String(repeating: "n", count: 300)), mode: .read) },
                { try system.open(path("file"), mode: .readWrite).writeAll([1], at: .max - 1) },
                { try system.open(path("file"), mode: .readWrite).truncate(to: -1) },
            ]
            return calls.map { call in
                fileError(call)?.description.replacingOccurrences(of: directory, with: "PATH")
                    .replacingOccurrences(of: String(repeating: "n", count: 300), with: "NAME") ?? "no error"
            }
        }
        #expect(
            messages == [
                "cannot open 'PATH/missing': there is no such file (ENOENT, no such file or directory); check the path",
                "cannot open 'PATH/file': a file already exists there (EEXIST, file exists); "
                    + "choose another name or remove the file",
                "cannot rename 'PATH/folder': it is a directory, not a regular file (EISDIR, is a directory); "
                    + "choose the path of a regular file, or one where nothing exists",
                "cannot open 'PATH/file/inside': a part of the path is not a directory (ENOTDIR, not a directory); "
                    + "check the path",
                "cannot open 'PATH/loop': its symbolic links form a loop (ELOOP, too many symbolic links); "
                    + "repair the symbolic links",
                "cannot open 'PATH/NAME': the path is not valid (ENAMETOOLONG, file name too long); "
                    + "choose a shorter path without NUL characters",
                "cannot write 'PATH/file': the file would exceed a size limit (EFBIG, file too large); "
                    + "raise the limit (ulimit -f) or use a file system for larger files",
                "cannot truncate 'PATH/file': the operating system refused (EINVAL, invalid argument)",
            ])
    }

    @Test func aUserWithoutRightsIsToldToAskForThem() async {
        await #expect(processExitsWith: .success) {
            try withTemporaryDirectory { directory in
                try POSIXFileSystem().put([1], at: directory + "/file")
                precondition(chmod(directory + "/file", 0) == 0)
                // Rights do not bind root.
                if getuid() == 0 { precondition(setegid(65_534) == 0 && seteuid(65_534) == 0) }
                precondition(chmod(directory, 0o755) == 0 || errno == EPERM)
                let error = fileError { _ = try POSIXFileSystem().open(directory + "/file", mode: .read) }
                if getuid() == 0 { precondition(seteuid(0) == 0 && setegid(0) == 0) }
                precondition(
                    error?.description.hasSuffix(
                        "permission denied (EACCES, permission denied); grant this user access to the file and its directory"
                    )
                        == true, "\(String(describing: error))")
            }
        }
    }

    @Test func aProcessWithoutDescriptorsIsToldToCloseFiles() async {
        await #expect(processExitsWith: .success) {
            try withTemporaryDirectory { directory in
                try POSIXFileSystem().put([1], at: directory + "/file")
                var limit = rlimit()
                precondition(getrlimit(openFilesResource, &limit) == 0)
                limit.rlim_cur = 0
                precondition(setrlimit(openFilesResource, &limit) == 0)
                let error = fileError { _ = try POSIXFileSystem().open(directory + "/file", mode: .read) }
                precondition(
                    error?.description.hasSuffix(
                        "too many files are open (EMFILE, too many open files in the process); "
                            + "close files or raise the limit (ulimit -n), then reopen the store")
                        == true, "\(String(describing: error))")
                limit.rlim_cur = limit.rlim_max
                precondition(setrlimit(openFilesResource, &limit) == 0)
            }
        }
    }

    #if os(Linux)
    @Test func aDeviceThatFailsToReadIsNamed() throws {
        // Nothing is mapped at the beginning of a process's memory, and the system says so with EIO.
        let error = fileError {
            _ = try POSIXFileSystem().open("/proc/self/mem", mode: .read).readAll(count: 1, at: 0)
        }
        #expect(
            error?.description == """
                cannot read '/proc/self/mem': the device failed (EIO, input/output error); check the device and its \
                cables, keep a copy of the file, then reopen the store
                """)
    }
    #endif

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

#if canImport(Glibc)
private let openFilesResource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
#else
private let openFilesResource = RLIMIT_NOFILE
#endif
