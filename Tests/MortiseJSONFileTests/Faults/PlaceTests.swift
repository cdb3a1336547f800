import FaultWorkload
import Foundation
import MortiseCore
import MortiseEngine
import MortiseJSONFile
import Testing
import MortiseTestSupport

/// The path leads to something else than a file.
struct LinkCheck {
    var mistake: BrokenFileSystem.Mistake?

    func run() throws -> Findings {
        var findings = Findings()
        for isDangling in [false, true] {
            let depot = try Depot(breaking: mistake)
            try depot.disk.install(.directory, at: "/data")
            if !isDangling {
                try depot.disk.install(try Depot.document(of: 2), at: "/data/real.json", permissions: 0o640)
            }
            try depot.disk.installLink(to: "data/real.json", at: Depot.path)
            findings.inject()
            let first = isDangling ? 1 : 3
            let container = try depot.open()
            let error = thrown { try container.advance(to: first) }
            findings.expect(error == nil, "\(String(describing: error))")
            try container.close()
            findings.expect((try? depot.disk.readLink(Depot.path)) == "data/real.json", "the link was replaced")
            findings.expect(Depot.state(in: depot.disk, at: "/data/real.json") == first, "the target was not replaced")
            let permissions = try? depot.disk.info("/data/real.json", followingLinks: false).permissions
            findings.expect(permissions == (isDangling ? 0o600 : 0o640), "the target's permissions changed")
        }
        return findings
    }
}

/// The permission bits of what a store writes.
struct PermissionCheck {
    var mistake: BrokenFileSystem.Mistake?

    func run() throws -> Findings {
        var findings = Findings()
        func check(_ depot: Depot, _ configuration: JSONFileConfiguration, _ wanted: UInt32, state: Int) throws {
            let container = try Workload.open(configuration)
            findings.inject()
            try container.advance(to: state)
            try container.close()
            let found = try depot.disk.info(Depot.path, followingLinks: true).permissions
            findings.expect(found == wanted, "\(String(found, radix: 8)) instead of \(String(wanted, radix: 8))")
        }
        let depot = try Depot(breaking: mistake)
        try check(depot, depot.configuration(), 0o600, state: 1)
        for wanted in [0o640, 0o664, 0o666, 0o604] as [UInt32] {
            let depot = try Depot(breaking: mistake)
            // The simulated umask is 022: what is asked for is set exactly.
            let asked = JSONFileConfiguration(path: Depot.path, newFilePermissions: wanted, in: depot.fileSystem)
            try check(depot, asked, wanted, state: 1)
        }
        for kept in [0o400, 0o640, 0o644, 0o777] as [UInt32] {
            let depot = try Depot(breaking: mistake)
            try depot.disk.install(try Depot.document(of: 2), at: Depot.path, permissions: kept)
            try check(depot, depot.configuration(), kept, state: 3)
        }
        return findings
    }
}

/// A medium that may only be read.
struct ReadOnlyCheck {
    var mistake: BrokenFileSystem.Mistake?

    func run() throws -> Findings {
        var findings = Findings()
        let depot = try Depot(state: 2, breaking: mistake)
        let writer = try depot.open()
        depot.disk.limits.isReadOnly = true
        findings.inject(2)
        let error = thrown { try writer.advance(to: 3) } as? FileError
        findings.expect(error?.reason == .readOnly, "saving: \(String(describing: error))")
        findings.expect(depot.state() == 2 && depot.temporaries.isEmpty, "it is not as it was")
        try writer.close()
        let opening = thrown { _ = try depot.open() } as? FileError
        findings.expect(opening?.reason == .readOnly, "opening: \(String(describing: opening))")
        let reader = try Workload.open(depot.configuration(allowsSave: false))
        findings.expect(reader.workloadState == 2, "it cannot be read")
        depot.disk.limits.isReadOnly = false
        findings.expect(depot.disk.paths == [Depot.path, Depot.path + ".lock"], "left \(depot.disk.paths)")
        return findings
    }
}

/// At the path is something that is no file.
struct NoFileCheck {
    var kind: FileKind
    var mistake: BrokenFileSystem.Mistake?

    func run() throws -> Findings {
        var findings = Findings()
        let depot = try Depot(breaking: mistake)
        try depot.disk.install(kind, at: Depot.path)
        for allowsSave in [true, false] {
            findings.inject()
            let error = thrown { try Workload.open(depot.configuration(allowsSave: allowsSave)).close() }
            findings.expect(
                (error as? FileError)?.reason == .notARegularFile(kind), "\(kind): \(String(describing: error))")
        }
        let found = try depot.disk.info(Depot.path, followingLinks: false).kind
        findings.expect(found == kind, "\(kind) became \(found)")
        findings.expect(depot.disk.paths == [Depot.path], "\(kind): made \(depot.disk.paths)")
        return findings
    }
}

@Suite struct PlaceTests {
    @Test func aLinkStaysAndWhatItLeadsToIsReplacedOrCreated() throws {
        try LinkCheck().run().verify("F22")
    }

    @Test func newFilesArePrivateUnlessAskedOtherwiseAndOldOnesKeepTheirBits() throws {
        try PermissionCheck().run().verify("F23")
    }

    @Test(.timeLimit(.minutes(15)), arguments: [FileKind.directory, .fifo, .socket, .characterDevice, .blockDevice])
    func whateverIsNoRegularFileIsRefusedAtOnceAndStays(kind: FileKind) throws {
        try NoFileCheck(kind: kind).run().verify("F22")
    }

    @Test(.timeLimit(.minutes(15))) func realPipesDevicesAndFoldersAreRefusedAtOnceToo() throws {
        var findings = Findings()
        try withTemporaryFolder { folder in
            let pipe = folder + "/pipe"
            try #require(mkfifo(pipe, 0o600) == 0)
            for allowsSave in [true, false] {
                for path in [pipe, folder, "/dev/null", "/dev/zero"] {
                    findings.inject()
                    let error = thrown {
                        try Workload.open(JSONFileConfiguration(path: path, allowsSave: allowsSave)).close()
                    }
                    guard case .notARegularFile? = (error as? FileError)?.reason else {
                        findings.expect(false, "\(path): \(String(describing: error))")
                        continue
                    }
                    findings.expect(
                        !FileManager.default.fileExists(atPath: path + ".lock"), "\(path): left a lock file")
                }
            }
        }
        findings.verify("F22")
    }

    @Test func aPathThatIsNoneIsRefusedBeforeAnythingIsMade() throws {
        let long = "/" + String(repeating: "x", count: 5_000)
        for path in ["", "/", "/a/", "/a/..", ".", "/data\u{0}.json", "/\u{0}"] {
            let disk = SimulatedFileSystem(seed: 1)
            let error = thrown { _ = try Workload.open(JSONFileConfiguration("x", path: path, in: disk)) } as? FileError
            #expect(error?.reason == .invalidPath, "\(path.debugDescription)")
            #expect(disk.paths.isEmpty)
        }
        #expect(
            (thrown { _ = try Workload.open(JSONFileConfiguration("x", path: long)) } as? FileError)?.reason
                == .invalidPath)
        let error = thrown { _ = try Workload.open(JSONFileConfiguration(path: "/none/depot.json")) } as? FileError
        #expect(error?.reason == .notFound)
        FaultLedger.add(["F24"], trials: 9)
    }

    @Test func onAReadOnlyMediumTheStoreCanBeReadAndASaveIsATypedError() throws {
        try ReadOnlyCheck().run().verify("F21")
    }
}
