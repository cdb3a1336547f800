import MortiseCore
import Synchronization

/// Where the values of snapshots of one layout go in a table: usually slot for slot.
final class Arrangement: Sendable {
    /// The snapshots' layout.
    let layout: RecordLayout
    let plan: TablePlan
    /// By slot of the plan; nil if both agree.
    private let slots: [Int?]?

    init(of layout: RecordLayout, in plan: TablePlan) {
        self.layout = layout
        self.plan = plan
        let isSame = layout.slots.elementsEqual(plan.layout.slots) { $0.name == $1.name }
        slots = isSame ? nil : plan.layout.slots.map { layout.slot(named: $0.name) }
    }

    /// Whether the snapshots have the plan's slots, in its order.
    var isIdentity: Bool { slots == nil }

    /// The snapshots' slot for one of the plan.
    func source(of slot: Int) -> Int? { slots.map { $0[slot] } ?? slot }

    @inline(__always)
    func value(of snapshot: DefaultSnapshot, at slot: Int) -> StoredValue {
        guard let slots else { return snapshot.values[slot] }
        return slots[slot].map { snapshot.values[$0] } ?? .null
    }
}

extension Catalog {
    /// How values of a layout go into the table of its entity; nil if there is no such entity.
    func arrangement(of layout: RecordLayout) -> Arrangement? {
        let key = ObjectIdentifier(layout)
        if let known = arrangements.withLock({ $0[key] }) { return known }
        guard let plan = plan(layout.entityName) else { return nil }
        let arrangement = Arrangement(of: layout, in: plan)
        arrangements.withLock { known in
            // Those who make a layout for every save get no place here for all of them.
            if known.count >= Self.mostArrangements { known.removeAll() }
            known[key] = arrangement
        }
        return arrangement
    }

    private static let mostArrangements = 256
}
