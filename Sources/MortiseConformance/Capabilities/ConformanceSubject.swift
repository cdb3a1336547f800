public import Foundation
public import MortiseCore
import Synchronization

/// A kind of store under test: what an adapter's author writes to have the kit run on it.
///
/// ```swift
/// let subject = ConformanceSubject("CSV folder", capabilities: [.durability, .erase], folder: { folder in
///     CSVConfiguration(folder: folder)
/// })
/// ```
public struct ConformanceSubject: Identifiable, Sendable, CustomStringConvertible {
    /// The subject's name in reports.
    public let name: String
    /// The cases that are not run, each with its reason.
    public let exclusions: [ConformanceExclusion]
    private let makeStorage: @Sendable () throws -> SubjectStorage
    private let claims: Claims
    /// Opens a storage in a folder, for cases that need another process.
    let inFolder: (@Sendable (URL) throws -> any DataStoreConfiguration)?
    /// The kit's program, which opens this subject's storages in other processes. Nil leaves the cases that need one
    /// untried.
    private(set) var program: URL?
    /// How long a case may take. A case that takes longer fails; its thread keeps running, and its storage stays.
    public private(set) var timeLimit: Duration = .seconds(120)

    /// What the store can do: as declared here, or as the store says of itself where nothing is declared.
    public var capabilities: StoreCapabilities { claims.capabilities(of: makeStorage) }

    /// Describes a store that the kit tests.
    /// - Parameters:
    ///   - name: the subject's name in reports.
    ///   - capabilities: what the store can do beyond the minimum, and `faultInjection` if its storage can be made to
    ///     fail. Nil takes what the store declares; if it declares nothing, the kit finds out.
    ///   - exclusions: cases that are not run, each with its reason.
    ///   - storage: makes a new, empty storage; called once for each case.
    public init(
        _ name: String, capabilities: StoreCapabilities? = nil, exclusions: [ConformanceExclusion] = [],
        storage: @escaping @Sendable () throws -> SubjectStorage
    ) {
        self.init(name, Claims(capabilities), exclusions, storage, nil)
    }

    /// Describes a store that keeps its data in a folder. Each case gets a temporary folder, a crash is a copy of it,
    /// and the kit's program can kill processes that save to it.
    /// - Parameters:
    ///   - name: the subject's name in reports.
    ///   - capabilities: what the store can do beyond the minimum; nil takes what the store declares.
    ///   - exclusions: cases that are not run, each with its reason.
    ///   - base: where to make the folders; nil takes the system's temporary folder.
    ///   - folder: makes the configuration of a store in an existing folder.
    public init(
        _ name: String, capabilities: StoreCapabilities? = nil, exclusions: [ConformanceExclusion] = [],
        base: URL? = nil, folder: @escaping @Sendable (URL) throws -> any DataStoreConfiguration
    ) {
        self.init(name, Claims(capabilities), exclusions, { try SubjectStorage.folder(in: base, folder) }, folder)
    }

    private init(
        _ name: String, _ claims: Claims, _ exclusions: [ConformanceExclusion],
        _ storage: @escaping @Sendable () throws -> SubjectStorage,
        _ inFolder: (@Sendable (URL) throws -> any DataStoreConfiguration)?
    ) {
        self.name = name
        self.claims = claims
        self.exclusions = exclusions
        self.makeStorage = storage
        self.inFolder = inFolder
    }

    /// The name.
    public var id: String { name }
    /// The name.
    public var description: String { name }

    func storage() throws -> SubjectStorage { try makeStorage() }

    /// The exclusion of a case; nil if the case is not excluded.
    public func exclusion(of conformanceCase: ConformanceCase) -> ConformanceExclusion? {
        exclusions.first { $0.caseID == conformanceCase.id }
    }

    /// The same subject with other exclusions.
    public func excluding(_ exclusions: [ConformanceExclusion]) -> ConformanceSubject {
        ConformanceSubject(name, claims, exclusions, makeStorage, inFolder).limitingCases(to: timeLimit)
            .startingProcesses(of: program)
    }

    /// The same subject for cases that open a storage in another process, as some do. Without it they are not tried, which
    /// the report says.
    /// - Parameter program: a program that calls `ConformanceProgram.main` with a subject of this name.
    /// - Returns: the subject.
    public func startingProcesses(of program: URL?) -> ConformanceSubject {
        var subject = self
        subject.program = program
        return subject
    }

    /// The same subject, known to claim these capabilities.
    func claiming(_ capabilities: StoreCapabilities) -> ConformanceSubject {
        ConformanceSubject(name, Claims(capabilities), exclusions, makeStorage, inFolder).limitingCases(to: timeLimit)
            .startingProcesses(of: program)
    }

    /// The same subject with another time limit for each case; the default is two minutes. Use a longer one for a
    /// remote store, or a shorter one to find sooner where a store hangs.
    public func limitingCases(to limit: Duration) -> ConformanceSubject {
        var subject = self
        subject.timeLimit = limit
        return subject
    }

    /// Runs one case on a fresh storage, for use as the body of a parameterized test.
    ///
    /// An excluded case is run as well: it has to fail, or its exclusion is not needed any more.
    /// - Throws: `ConformanceFailure`, also for whatever else the store throws.
    public func check(_ conformanceCase: ConformanceCase) throws {
        let outcome = conformanceCase.outcome(on: self)
        switch (outcome, exclusion(of: conformanceCase)) {
        case (.failed(let failure), nil): throw failure
        case (.passed, let exclusion?):
            throw ConformanceFailure(
                of: conformanceCase, expected: "a failure, since the case is excluded (\(exclusion.reason))",
                found: "a pass", hint: "The exclusion is no longer needed. Remove it.")
        default: break
        }
    }
}

/// What a subject claims; asked of its store once, where nothing was declared.
private final class Claims: Sendable {
    private let known: Mutex<StoreCapabilities?>

    init(_ declared: StoreCapabilities?) { known = Mutex(declared) }

    func capabilities(of makeStorage: () throws -> SubjectStorage) -> StoreCapabilities {
        if let known = known.withLock({ $0 }) { return known }
        let found = (try? Self.ask(makeStorage)) ?? []
        known.withLock { $0 = found }
        return found
    }

    /// What cannot be opened claims nothing: every case then says why.
    private static func ask(_ makeStorage: () throws -> SubjectStorage) throws -> StoreCapabilities {
        let storage = try makeStorage()
        defer { try? storage.cleanUp() }
        let container = try ModelContainer(for: ConformanceModels.schema, configurations: [storage.open()])
        defer { try? container.close() }
        let name = container.storeConfigurations.first?.name ?? ""
        let told = container.capabilities(forConfigurationNamed: name) ?? []
        // What a container does for a store is nothing that the store claims.
        let own = StoreCapabilities(told.declared.subtracting([.recordedHistory]))
        return storage.faults == nil ? own : own.union([.faultInjection])
    }
}

/// Says that a subject does not pass a case, and why. Every exclusion shows in the report.
public struct ConformanceExclusion: Hashable, Codable, Sendable {
    /// Why a case is left out.
    public enum Class: String, Hashable, Codable, Sendable, CaseIterable {
        /// The storage cannot do this, and never will.
        case unsupported
        /// The store does it wrongly.
        case bug
        /// The store will do it some day.
        case future
    }

    /// The identifier of the case.
    public let caseID: String
    /// Why the case does not apply, for the report.
    public let reason: String
    /// Why the case is left out, for programs.
    public let `class`: Class

    /// Leaves out a case.
    public init(_ caseID: String, _ class: Class, reason: String) {
        self.caseID = caseID
        self.class = `class`
        self.reason = reason
    }
}
