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
    public let name: String
    public let exclusions: [ConformanceExclusion]
    private let makeStorage: @Sendable () throws -> SubjectStorage
    private let claims: Claims
    /// Opens a storage in a folder, for what only a process of its own can try.
    let inFolder: (@Sendable (URL) throws -> any DataStoreConfiguration)?
    /// How long a case may take. One that takes longer is ended as a failure; its thread and its storage stay as they are.
    public private(set) var timeLimit: Duration = .seconds(120)

    /// What the store can do: as declared here, or as the store says of itself where nothing is declared.
    public var capabilities: StoreCapabilities { claims.capabilities(of: makeStorage) }

    /// - Parameters:
    ///   - capabilities: what the store can do beyond what every store has to, and `faultInjection` where its storage can
    ///     be made to fail. Nil takes the store's own word; a store that says nothing is found out where it can do more.
    ///   - storage: makes a new, empty storage; called once for each case.
    public init(
        _ name: String, capabilities: StoreCapabilities? = nil, exclusions: [ConformanceExclusion] = [],
        storage: @escaping @Sendable () throws -> SubjectStorage
    ) {
        self.init(name, Claims(capabilities), exclusions, storage, nil)
    }

    /// A store that keeps what it has in a folder. Each case gets a temporary one, a crash is a copy of it, and the kit as
    /// a program can kill processes that save to it.
    /// - Parameters:
    ///   - base: where the folders are made; the system's place for temporary files where it is nil.
    ///   - folder: opens the storage in a folder that is there.
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

    public var id: String { name }
    public var description: String { name }

    func storage() throws -> SubjectStorage { try makeStorage() }

    /// The exclusion of a case, if there is one.
    public func exclusion(of conformanceCase: ConformanceCase) -> ConformanceExclusion? {
        exclusions.first { $0.caseID == conformanceCase.id }
    }

    /// The same subject with other exclusions.
    public func excluding(_ exclusions: [ConformanceExclusion]) -> ConformanceSubject {
        ConformanceSubject(name, claims, exclusions, makeStorage, inFolder).limitingCases(to: timeLimit)
    }

    /// The same subject with another time for each case, two minutes where nothing is said: for a store far away, or for
    /// finding soon where one stands still.
    public func limitingCases(to limit: Duration) -> ConformanceSubject {
        var subject = self
        subject.timeLimit = limit
        return subject
    }

    /// Runs one case on a fresh storage, for use as the body of a parameterised test.
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
                found: "that it passes", hint: "The exclusion is not needed any more. Remove it.")
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
        let own = container.capabilities(forConfigurationNamed: name) ?? []
        return storage.faults == nil ? own : own.union([.faultInjection])
    }
}

/// Says that a subject does not pass a case, and why. Every exclusion shows in the report.
public struct ConformanceExclusion: Hashable, Codable, Sendable {
    public enum Class: String, Hashable, Codable, Sendable, CaseIterable {
        /// The storage cannot do this, and never will.
        case unsupported
        /// The store does it wrongly.
        case bug
        /// The store will do it some day.
        case future
    }

    public let caseID: String
    public let reason: String
    public let `class`: Class

    public init(_ caseID: String, _ class: Class, reason: String) {
        self.caseID = caseID
        self.class = `class`
        self.reason = reason
    }
}
