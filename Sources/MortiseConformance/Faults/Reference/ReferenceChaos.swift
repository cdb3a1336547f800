import MortiseCore
import Synchronization

/// Trouble that a store behind a connection makes and no context may notice: others change records between its reading and
/// its saving, numbers are skipped, rows come in any order and with or without their to-many relationships, and what is claimed
/// of a query changes from one to the next.
final class ReferenceChaos: Sendable {
    private let seed: UInt64
    private let state: Mutex<(numbers: RandomNumbers, interferences: Int)>
    /// How often in a row others are faster than a context.
    private static let most = 3

    init(seed: UInt64) {
        self.seed = seed
        state = Mutex((RandomNumbers(seed: seed), 0))
    }

    private func below(_ bound: Int) -> Int { state.withLock { $0.numbers.below(bound) } }

    /// Skips numbers, as sequences do that others draw from too.
    func change(_ steps: inout ReferenceSteps) {
        steps.number = { [self] _, state in
            state.nextNumber += 1 + UInt64(below(4))
            return state.nextNumber - 1
        }
    }

    // MARK: Others

    /// Has another program write the records of a request again, with the values that they have.
    func interfere(_ request: DataStoreSaveChangesRequest<DefaultSnapshot>, _ storage: ReferenceStorage) {
        let records = (request.updated + request.deleted).compactMap(\.persistentIdentifier.sequenceNumber)
        guard !request.updatedVersions.isEmpty || !request.deletedVersions.isEmpty, !records.isEmpty else { return }
        let isFaster = state.withLock { state in
            guard state.interferences < Self.most, state.numbers.below(2) == 0 else {
                state.interferences = 0
                return false
            }
            state.interferences += 1
            return true
        }
        guard isFaster else { return }
        storage.state.withLock { state in
            state.version += 1
            for number in records where below(3) > 0 { state.recordVersions[number]? = state.version }
        }
    }

    // MARK: Plans

    /// Claims less of a query than could be claimed: always the same for the same query.
    func loosened(_ plan: FetchPlan) -> FetchPlan {
        var numbers = RandomNumbers(seed: seed &+ Self.hash("\(plan.query)"))
        var plan = plan
        let isLeft = numbers.below(3) == 0
        for conjunct in plan.query.conjuncts where isLeft && plan.claim(of: conjunct) == .exact {
            plan.claims[conjunct.id] = numbers.pick([.exact, .superset, .residual])
        }
        // What may throw is guarded by all before it, or left to the framework too.
        var isGuarded = true
        for conjunct in plan.query.conjuncts {
            if !isGuarded, conjunct.expression.mayThrow { plan.claims[conjunct.id] = .residual }
            if plan.claim(of: conjunct) != .exact { isGuarded = false }
        }
        if !isGuarded || numbers.below(4) == 0 { plan.appliesLimit = false }
        if !plan.appliesLimit || !plan.query.isLimited, numbers.below(3) == 0 {
            plan.appliesLimit = false
            plan.order = .none
        }
        return plan
    }

    /// The plan by which rows are found for another plan: what that says to be a superset is one.
    func widened(_ plan: FetchPlan) -> FetchPlan {
        var wide = plan
        for conjunct in plan.query.conjuncts where plan.claim(of: conjunct) == .superset {
            wide.claims[conjunct.id] = .residual
        }
        return wide
    }

    /// Whether a relationship is left out this time.
    func leavesOut() -> Bool { below(3) > 0 }

    func shuffle<T>(_ elements: inout [T]) { state.withLock { elements.shuffle(using: &$0.numbers) } }

    private static func hash(_ text: String) -> UInt64 {
        text.utf8.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
    }
}
