import MortiseCore

/// A way in which a store can be wrong: the reference store with one or two steps exchanged.
///
/// The kit proves itself on these: each is caught by at least one case, and the store without a fault by none.
public struct StoreFault: Identifiable, Hashable, Sendable, CustomStringConvertible {
    public let id: String
    /// What the store does wrong.
    public let summary: String
    let change: @Sendable (inout ReferenceSteps) -> Void

    init(_ id: String, _ summary: String, change: @escaping @Sendable (inout ReferenceSteps) -> Void) {
        self.id = id
        self.summary = summary
        self.change = change
    }

    public var description: String { id }
    public static func == (lhs: StoreFault, rhs: StoreFault) -> Bool { lhs.id == rhs.id }
    public func hash(into hasher: inout Hasher) { hasher.combine(id) }

    /// The store with this fault, as a subject.
    public var subject: ConformanceSubject { .reference(fault: self) }

    public static let all: [StoreFault] = savingFaults + valueFaults + fetchingFaults
}

extension ConformanceSubject {
    /// The kit's own correct store, which passes every case.
    public static let reference = reference(fault: nil)

    static func reference(fault: StoreFault?) -> ConformanceSubject {
        ConformanceSubject(fault.map { "reference, \($0.id)" } ?? "reference", capabilities: [.reopening, .erase]) {
            let storage = ReferenceStorage()
            return SubjectStorage(open: { ReferenceConfiguration("reference", storage: storage, fault: fault) })
        }
    }
}
