import FaultWorkload
import MortiseCore
import MortiseEngine
import MortiseJSONFile
import Testing
import MortiseTestSupport

/// Somebody changes the file of an open store.
struct BehindTheBackCheck {
    var mistake: BrokenFileSystem.Mistake?

    private static func changes() throws -> [(name: String, make: @Sendable (SimulatedFileSystem) throws -> Void)] {
        let other = try Depot.document(of: 4)
        return [
            ("deleted", { try $0.unlink(Depot.path) }),
            (
                "replaced",
                {
                    try $0.install(other, at: "/new")
                    try $0.rename("/new", to: Depot.path)
                }
            ),
            (
                "truncated",
                { disk in
                    try disk.open(Depot.path, mode: .readWrite).truncate(to: 10)
                }
            ),
            (
                "extended",
                { disk in
                    let size = Int64(disk.contents(at: Depot.path)?.count ?? 0)
                    try disk.open(Depot.path, mode: .readWrite).writeAll([10], at: size)
                }
            ),
            ("modified", { try $0.open(Depot.path, mode: .readWrite).writeAll([33], at: 40) }),
        ]
    }

    func run() throws -> Findings {
        var findings = Findings()
        for (name, make) in try Self.changes() {
            // Before the save, and in the middle of it: before the temporary takes the name.
            for isDuring in [false, true] {
                let depot = try Depot(state: 2, breaking: mistake)
                let container = try depot.open()
                let context = ModelContext(container)
                if isDuring {
                    let disk = depot.disk
                    disk.interject(of: .sync) { try? make(disk) }
                    findings.inject()
                } else {
                    try make(depot.disk)
                    findings.inject()
                }
                try Workload.change(context, to: 3)
                let theirs = isDuring ? nil : depot.disk.contents(at: Depot.path)
                let error = thrown { try context.save() }
                let place = "\(name)\(isDuring ? " during the save" : "")"
                guard case .changed? = (error as? FileError)?.reason else {
                    findings.expect(false, "\(place): \(String(describing: error))")
                    continue
                }
                findings.expect(context.hasChanges, "\(place): the context is not dirty")
                if !isDuring {
                    findings.expect(depot.disk.contents(at: Depot.path) == theirs, "\(place): it was overwritten")
                }
                findings.expect(depot.temporaries.isEmpty, "\(place): left a temporary")
                findings.expect(thrown { try context.save() } is FileError, "\(place): forgotten by the next save")
                try container.close()
            }
        }
        return findings
    }

    /// A file appears where there was none when the store was opened.
    func runAppearing() throws -> Findings {
        var findings = Findings()
        for (operation, number) in [(FileError.Operation.info, 1), (.open, 1), (.write, 1), (.sync, 1)] {
            let depot = try Depot(breaking: mistake)
            let container = try depot.open()
            let theirs = Array("theirs".utf8)
            let disk = depot.disk
            disk.interject(at: number, of: operation) {
                try? disk.install(theirs, at: Depot.path)
            }
            findings.inject()
            let error = thrown { try container.advance(to: 1) }
            findings.expect(
                (error as? FileError)?.reason == .alreadyExists, "\(operation): \(String(describing: error))")
            findings.expect(disk.contents(at: Depot.path) == theirs, "\(operation): it was overwritten")
            try container.close()
        }
        return findings
    }

    /// A file has appeared, and whoever looks for it gets an error, once or from then on.
    func runLooking(_ code: FileError.Code) throws -> Findings {
        var findings = Findings()
        for isForAll in [false, true] {
            var depot = try Depot(breaking: mistake)
            depot.history = .none
            let container = try depot.open()
            let theirs = Array("theirs".utf8)
            try depot.disk.install(theirs, at: Depot.path)
            let trace = depot.disk.operationCount
            _ = thrown { try container.advance(to: 1) }
            let looks = depot.disk.trace[trace...].filter { $0.operation == .info }
            let first = looks.firstIndex { $0.path == Depot.path }
            findings.expect(first != nil, "nobody looks")
            // Each look alone; and once all from the first at the file itself.
            for number in isForAll ? [first ?? 0] : Array(looks.indices) {
                depot.disk.inject(.fail(code), at: number + 1, of: .info, times: isForAll ? .max : 1)
                findings.inject()
                let error = thrown { try container.advance(to: 1) }
                depot.disk.removeFaults()
                findings.expect(error is FileError, "look \(number), \(code): \(String(describing: error))")
                findings.expect(
                    depot.disk.contents(at: Depot.path) == theirs, "look \(number), \(code): it was overwritten")
            }
        }
        return findings
    }

    /// The link that a store was opened by leads elsewhere.
    func runLink() throws -> Findings {
        var findings = Findings()
        let depot = try Depot(state: 2, breaking: mistake)
        try depot.disk.installLink(to: "depot.json", at: "/link.json")
        let container = try Workload.open(JSONFileConfiguration(path: "/link.json", in: depot.fileSystem))
        try container.advance(to: 3)
        try depot.disk.unlink("/link.json")
        try depot.disk.installLink(to: "elsewhere.json", at: "/link.json")
        findings.inject()
        let error = thrown { try container.advance(to: 4) } as? FileError
        findings.expect(error?.reason == .changed(.replaced), "not noticed: \(String(describing: error))")
        findings.expect(depot.state() == 3, "state \(String(describing: depot.state()))")
        findings.expect(depot.disk.contents(at: "/elsewhere.json") == nil, "a file was made where the link leads")
        return findings
    }
}

@Suite struct BehindTheBackTests {
    @Test func aChangedFileIsNoticedBeforeTheNextSaveAndNotOverwritten() throws {
        try BehindTheBackCheck().run().verify("F32")
    }

    @Test func aFileThatAppearsMeanwhileIsNotOverwritten() throws {
        try BehindTheBackCheck().runAppearing().verify("F32")
    }

    /// An error in looking for the file was taken for its absence, and somebody's file overwritten.
    @Test(arguments: [FileError.Code.io, .access, .interrupted])
    func anErrorInLookingForAFileIsNotItsAbsence(code: FileError.Code) throws {
        try BehindTheBackCheck().runLooking(code).verify("F32")
    }

    /// A link that was pointed elsewhere was not noticed: saves went to a file that the path no longer leads to.
    @Test func aLinkThatNowLeadsElsewhereIsNoticed() throws {
        try BehindTheBackCheck().runLink().verify("F22", "F32")
    }
}
