public import MortiseCore
import Foundation

/// What a case works with: the fresh store, opened when it is first asked for, and a log of what was done to it.
public final class CaseContext {
    /// The case that runs.
    public let conformanceCase: ConformanceCase
    /// The store that the case runs against.
    public let subject: ConformanceSubject
    private let storage: SubjectStorage
    private var opened: ModelContainer?
    /// What a crash has left behind, never closed while the case runs.
    private var abandoned: [ModelContainer] = []
    private var others: [ModelContainer] = []
    /// Other storages of the subject.
    private var strangers: [SubjectStorage] = []
    private var sessionCount = 0
    private let log: OperationLog

    /// Whether random cases look for the smallest failure, or are content with the first.
    let shrinks: Bool

    init(
        case conformanceCase: ConformanceCase, subject: ConformanceSubject, storage: SubjectStorage,
        shrinks: Bool = true, log: OperationLog = OperationLog()
    ) {
        self.shrinks = shrinks
        self.log = log
        self.conformanceCase = conformanceCase
        self.subject = subject
        self.storage = storage
    }

    // MARK: The store

    /// The container over the store, with all models of the kit.
    public var container: ModelContainer {
        get throws {
            if let opened { return opened }
            let container = try open(storage.open(), for: ConformanceModels.schema)
            opened = container
            note("open the store")
            return container
        }
    }

    /// A new context, with its own name in the log.
    public func session() throws -> CaseSession {
        let container = try container
        sessionCount += 1
        let name = sessionCount <= 26 ? String(UnicodeScalar(UInt8(64 + sessionCount))) : "\(sessionCount)"
        return CaseSession(name: name, context: ModelContext(container), log: self)
    }

    /// Closes the store and opens the same storage again. Sessions and models from before are not used afterwards.
    public func reopen() throws {
        try close()
        note("reopen the storage")
        _ = try container
    }

    /// A context of another connection to the storage, which is open already, as another process has. `path` is another path to
    /// its folder.
    /// - Throws: what opening throws; `Untried` where there is a path and the storage is no folder.
    func otherConnection(at path: URL? = nil) throws -> CaseSession {
        let configuration = try path.map(configuration(in:)) ?? storage.open()
        let container = try open(configuration, for: ConformanceModels.schema)
        others.append(container)
        note("open the storage once more" + (path.map { " at \($0.path)" } ?? ""))
        sessionCount += 1
        return CaseSession(name: "other \(others.count)", context: ModelContext(container), log: self)
    }

    /// A context of another storage of the subject, which is open until the case ends.
    /// - Throws: what opening throws.
    func otherStorage() throws -> CaseSession {
        let other = try subject.storage()
        strangers.append(other)
        let container = try open(other.open(), for: ConformanceModels.schema)
        others.append(container)
        note("open another storage of the subject")
        return CaseSession(name: "elsewhere", context: ModelContext(container), log: self)
    }

    /// Closes the store and goes on with a copy of its storage, if the subject can make one; otherwise opens it again. Sessions
    /// and models from before are not used afterwards.
    func copy() throws {
        try close()
        if let copy = storage.crash {
            note("copy the storage")
            try copy()
        }
        note("open the storage again")
        _ = try container
    }

    /// Opens the same storage, which must be closed, with another schema, and with a migration plan if there is one. The
    /// caller closes the container.
    /// - Throws: what opening throws.
    public func open(
        for schema: Schema, plan: (any SchemaMigrationPlan.Type)? = nil
    ) throws -> ModelContainer {
        note("open the storage for another schema" + (plan.map { " with the plan \($0)" } ?? ""))
        return try open(storage.open(), for: schema, plan: plan)
    }

    /// Opens a storage in a folder of its own. The caller closes the container.
    /// - Throws: what opening throws; `Untried` where the subject's storage is no folder.
    func open(for schema: Schema, in folder: URL) throws -> ModelContainer {
        note("open a storage in \(folder.path)")
        return try open(configuration(in: folder), for: schema)
    }

    /// A configuration that opens the storage.
    func configuration() throws -> any DataStoreConfiguration { try storage.open() }

    private func configuration(in folder: URL) throws -> any DataStoreConfiguration {
        guard let inFolder = subject.inFolder else { throw Untried(reason: "the subject's storage is no folder") }
        return try inFolder(folder)
    }

    /// In the cases whose subject is what a store answers, whatever one that plans says is compared with what is found
    /// without its help. In the others a store would fail for another reason than the one that the case is about.
    private func open<C: DataStoreConfiguration>(
        _ configuration: C, for schema: Schema, plan: (any SchemaMigrationPlan.Type)? = nil
    ) throws -> ModelContainer {
        let container = try ModelContainer(for: schema, migrationPlan: plan, configurations: [configuration])
        let isAboutAnswers = ["random", "planning"].contains(conformanceCase.area)
        container.verifiesPushDown = isAboutAnswers && C.Store.self is any QueryableDataStore.Type
        return container
    }

    /// Leaves the storage as the end of the process would at this moment, with the store open, and opens it again.
    /// - Parameter operation: the operation after which the power fails, as `faults` count them; nil for now.
    /// - Throws: `ConformanceFailure` if the subject cannot crash its storage.
    public func crash(after operation: Int? = nil) throws {
        if let container = opened { abandoned.append(container) }
        opened = nil
        if let operation {
            note("lose power after operation \(operation) of the storage")
            try faults.crash(operation)
        } else {
            note("end the process without closing the store")
            try require(
                storage.crash, "a subject whose storage can crash, since it claims durability",
                hint: "Give SubjectStorage a crash, or make it with SubjectStorage.folder.")()
        }
        note("open what is left")
        _ = try container
    }

    /// Leaves the storage, which must be closed, as a loss of power does now, and opens nothing.
    func loseWhatIsNotStored() throws {
        note("lose power")
        try storage.crash?()
    }

    /// How operations of the storage are made to fail.
    public var faults: StorageFaults {
        get throws {
            try require(
                storage.faults, "a subject whose storage can be made to fail, since it claims faultInjection",
                hint: "Give SubjectStorage its faults.")
        }
    }

    /// The folder in which the storage is.
    /// - Throws: `Untried` where the storage is no folder.
    func folder() throws -> URL {
        guard let folder = storage.folder else { throw Untried(reason: "the subject's storage is no folder") }
        return folder()
    }

    /// Puts the storage, which must be closed, into another folder.
    /// - Throws: `Untried` where the storage is no folder.
    func moveFolder() throws {
        guard let move = storage.move else { throw Untried(reason: "the subject's storage is no folder") }
        note("move the folder")
        try move()
    }

    /// Whether the subject's storage can be made to fail.
    var hasFaults: Bool { storage.faults != nil }

    /// Closes what `otherConnection` has opened.
    func closeOthers() throws {
        let closing = others
        others = []
        note("close the other opening")
        for container in closing { try container.close() }
    }

    /// Forgets an opening that cannot be closed any more.
    func abandon() {
        if let opened { abandoned.append(opened) }
        opened = nil
    }

    func close() throws {
        guard let container = opened else { return }
        opened = nil
        note("close the store")
        try container.close()
    }

    /// The store itself, for what is asked of it without a context.
    public var store: BareStore { get throws { try bareStore(of: container) } }

    /// The store under a container.
    func bareStore(of container: ModelContainer) throws -> BareStore {
        guard let configuration = container.storeConfigurations.first,
            let store = Self.store(of: configuration, in: container)
        else { throw failure(expected: "a container with one store", found: "none") }
        return BareStore(store, log: self)
    }

    static func store<C: DataStoreConfiguration>(of configuration: C, in container: ModelContainer) -> (
        any DataStore
    )? {
        container.store(C.Store.self, forConfigurationNamed: configuration.name)
    }

    /// Checks what every case ends with: nothing was remembered and not thrown.
    func settle() throws {
        guard let opened else { return }
        try ModelContext(opened).refresh()
    }

    func finish() throws {
        var first: (any Error)?
        do { try close() } catch { first = error }
        for container in others {
            do { try container.close() } catch { first = first ?? error }
        }
        // What a crash ended is not asked for errors.
        for container in abandoned { try? container.close() }
        abandoned = []
        for storage in strangers {
            do { try storage.cleanUp() } catch { first = first ?? error }
        }
        do { try storage.cleanUp() } catch { first = first ?? error }
        if let first { throw first }
    }

    // MARK: The log

    /// Adds an operation to the log.
    public func note(_ operation: String) { log.note(operation) }

    /// Makes a failure of this case, with the operations so far.
    /// - Parameters:
    ///   - expected: what a correct store does.
    ///   - found: what this store did.
    ///   - hint: the usual cause, if it is not the one that the case names.
    /// - Returns: the failure, for the case to throw.
    public func failure(expected: String, found: String, hint: String? = nil) -> ConformanceFailure {
        return ConformanceFailure(
            of: conformanceCase, expected: expected, found: found, operations: log.shown, hint: hint)
    }

    // MARK: Expectations

    /// Compares two values to the last bit, not by `==`.
    /// - Throws: `ConformanceFailure` if they differ.
    public func expect<Value>(
        _ found: Value, is expected: Value, _ what: String, hint: String? = nil
    ) throws {
        let foundForm = ExactForm.text(found)
        let expectedForm = ExactForm.text(expected)
        guard foundForm != expectedForm else { return }
        throw failure(expected: "\(what) \(expectedForm)", found: foundForm, hint: hint)
    }

    /// Checks a condition.
    /// - Throws: `ConformanceFailure` if it does not hold.
    public func expect(
        _ condition: Bool, _ expected: String, found: @autoclosure () -> String = "otherwise", hint: String? = nil
    ) throws {
        if !condition { throw failure(expected: expected, found: found(), hint: hint) }
    }

    /// Unwraps a value.
    /// - Throws: `ConformanceFailure` if the value is nil.
    public func require<Value>(_ value: Value?, _ expected: String, hint: String? = nil) throws -> Value {
        guard let value else { throw failure(expected: expected, found: "none", hint: hint) }
        return value
    }

    /// Checks that the body throws an error that `matching` accepts.
    /// - Throws: `ConformanceFailure` otherwise.
    public func expectError(
        _ expected: String, hint: String? = nil, matching: (any Error) -> Bool = { _ in true },
        _ body: () throws -> Void
    ) throws {
        do {
            try body()
        } catch let error as ConformanceFailure {
            throw error
        } catch {
            note("→ \(type(of: error))")
            if matching(error) { return }
            throw failure(expected: expected, found: "\(type(of: error)): \(error)", hint: hint)
        }
        throw failure(expected: expected, found: "no error", hint: hint)
    }
}
