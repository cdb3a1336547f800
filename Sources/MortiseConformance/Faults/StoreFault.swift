import MortiseCore

/// A way in which a store can be wrong: the reference store with one or two steps exchanged.
///
/// The kit proves itself on these: each is caught by at least one case, and the store without a fault by none.
public struct StoreFault: Identifiable, Hashable, Sendable, CustomStringConvertible {
    /// Names the fault in reports.
    public let id: String
    /// What the store does wrong.
    public let summary: String
    /// The reference store that has the fault.
    let kind: ReferenceKind
    /// What its subject claims beyond what the reference store can do.
    let claims: StoreCapabilities
    /// How long a case may take on it; nil for as long as on any other.
    let timeLimit: Duration?
    /// Whether it shows only where there is much of something, so that large cases have to be tried on it.
    public let isOfSize: Bool
    let change: @Sendable (inout ReferenceSteps) -> Void
    /// What is wrong with the store in a folder.
    let changeFolder: @Sendable (inout FolderSteps) -> Void

    init(
        _ id: String, _ summary: String, in kind: ReferenceKind = .plain, claiming claims: StoreCapabilities = [],
        timeLimit: Duration? = nil, isOfSize: Bool = false, change: @escaping @Sendable (inout ReferenceSteps) -> Void
    ) {
        self.id = id
        self.summary = summary
        self.kind = kind
        self.claims = claims
        self.timeLimit = timeLimit
        self.isOfSize = isOfSize
        self.change = change
        changeFolder = { _ in }
    }

    /// A fault of the store in a folder.
    init(_ id: String, _ summary: String, changeFolder: @escaping @Sendable (inout FolderSteps) -> Void) {
        self.id = id
        self.summary = summary
        kind = .folder
        claims = []
        timeLimit = nil
        isOfSize = false
        change = { _ in }
        self.changeFolder = changeFolder
    }

    /// The fault's name.
    public var description: String { id }
    /// Two faults are equal if their names are.
    public static func == (lhs: StoreFault, rhs: StoreFault) -> Bool { lhs.id == rhs.id }
    /// Hashes the name.
    public func hash(into hasher: inout Hasher) { hasher.combine(id) }

    /// The store with this fault, as a subject.
    public var subject: ConformanceSubject {
        let subject = ConformanceSubject.reference(kind, fault: self)
        return timeLimit.map(subject.limitingCases) ?? subject
    }

    /// All faults that the kit must catch.
    public static let all: [StoreFault] = [
        savingFaults, valueFaults, specialValueFaults, codedFaults, fetchingFaults, kindFaults, expressionFaults,
        clockFaults,
        textMeaningFaults, arithmeticFaults, comparisonFaults, orderFaults, planningFaults, versionFaults,
        longTextFaults, captureFaults, aggregateFaults,
        recordVersionFaults, recordVersionKindFaults, deferralFaults, announcementFaults, constraintFaults, batchFaults,
        storageFaults, scopeFaults, batchAnnouncementFaults, freedValueFaults,
        closingFaults, sizeFaults, identifierFaults, wideModelFaults, schemaFaults, schemaVariationFaults,
        migrationFaults,
        historyFaults, wideHistoryFaults, longValueFaults, historyKeepingFaults,
        errorFaults, folderFaults, folderClockFaults, folderContentFaults, openerFaults,
    ].flatMap { $0 }
}

/// The kit's own correct stores.
enum ReferenceKind: String, CaseIterable, Sendable {
    /// Of SwiftData's shape: asked with descriptors, and leaving most of the work to the framework.
    case plain
    /// Takes queries whole, and everything else there is but versions.
    case planning
    /// With versions, for several threads.
    case versioned
    /// Takes queries, batches and aggregations, keeps a state for each context, and posts every commit.
    case batching
    /// Takes queries, does not lie in memory as far as a context can tell, and numbers the versions of its records, which
    /// others change.
    case shared
    /// On files in a folder.
    case folder
    /// As `plain`, and it runs migration plans. Once it has adapted its records to a schema, it refuses one that lacks any of
    /// their properties.
    case oneWay
}

extension ConformanceSubject {
    /// The kit's own correct stores, which pass every case.
    public static let references: [ConformanceSubject] =
        ReferenceKind.allCases.map { reference($0, fault: nil) } + [chaos(seed: 1), chaos(seed: 2)]

    /// A correct store that makes the trouble which a store behind a connection may make and a context must not notice:
    /// others write records between a context's reading and its saving, numbers are skipped, rows come in any order, and
    /// plans claim now more and now less. It passes every case, with every seed.
    public static func chaos(seed: UInt64) -> ConformanceSubject {
        ConformanceSubject(
            "shared reference, chaos \(seed)", capabilities: SharedReferenceStore.claims.union([.faultInjection])
        ) {
            let storage = ReferenceStorage()
            return storage.subject {
                SharedReferenceConfiguration("reference", storage: storage, fault: nil, chaos: seed)
            }
        }
    }

    /// The plain one of them.
    public static let reference = reference(.plain, fault: nil)

    static func reference(_ kind: ReferenceKind, fault: StoreFault?) -> ConformanceSubject {
        let name = fault.map { "\(kind.rawValue) reference, \($0.id)" } ?? "\(kind.rawValue) reference"
        if kind == .folder {
            return ConformanceSubject(name, capabilities: [.reopening, .closing, .erase, .history]) { folder in
                FolderConfiguration(folder: folder, fault: fault)
            }
        }
        let capabilities: StoreCapabilities =
            switch kind {
            case .plain, .oneWay: [.durability, .erase]
            case .planning: PlanningReferenceStore.claims
            case .versioned: VersionedReferenceStore.claims
            case .batching: BatchingReferenceStore.claims
            case .shared, .folder: SharedReferenceStore.claims
            }
        return ConformanceSubject(
            name,
            capabilities: capabilities.union([.faultInjection]).union(fault?.claims.declared ?? [])
        ) {
            let storage = ReferenceStorage()
            return storage.subject {
                switch kind {
                case .plain: ReferenceConfiguration("reference", storage: storage, fault: fault)
                case .planning: PlanningReferenceConfiguration("reference", storage: storage, fault: fault)
                case .versioned: VersionedReferenceConfiguration("reference", storage: storage, fault: fault)
                case .batching: BatchingReferenceConfiguration("reference", storage: storage, fault: fault)
                case .shared, .folder: SharedReferenceConfiguration("reference", storage: storage, fault: fault)
                case .oneWay:
                    ReferenceConfiguration("reference", storage: storage, fault: fault, isOneWay: true)
                }
            }
        }
    }
}

extension ReferenceStorage {
    /// This storage as a subject's, with a configuration for each opening.
    fileprivate func subject(open: @escaping @Sendable () -> any DataStoreConfiguration) -> SubjectStorage {
        SubjectStorage(
            open: open, crash: { self.crash() },
            faults: StorageFaults(
                operationCount: { self.operationCount }, failOperation: { self.failOperation($0) },
                crash: { self.crash(after: $0) }))
    }
}
