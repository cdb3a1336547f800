import MortiseCore

/// What models, contexts and a store have to show: a small model of them that shares nothing with the library.
///
/// **Relationships.** A link is a set of pairs of models, so both its properties always agree. Setting one replaces the
/// pairs of that model; where the other end is to-one, the other model's old pair goes as well. A relationship without
/// inverse is such a set, too, with a to-many end that nobody sees. Setting relates models and changes nothing else.
///
/// **Insertion.** A model without context that is related to one in a context is inserted with it, and with it all that it
/// refers to, from either side.
///
/// **Deletion.** A deleted model is hidden from all others at once: to-one properties that led to it are nil and to-many
/// ones lack it. The rules are followed before the next fetch or save, or by `processPendingChanges`, for the pairs that
/// there are then: what was moved away since is not touched. Cascade deletes, nullify clears, deny and noAction refuse the
/// save as long as a model that is not deleted is related to the deleted one. A deletion of what was never saved refuses
/// nothing. Once saved, the model has left its context.
///
/// **Insertion of a deleted model.** Before the save: it is back with its relationships, and so is what its cascade took; a
/// model that has found another partner since keeps that one. What was never saved leaves its context when the rules are
/// followed; inserted again after that, it is related to those that are there. After the save: it is a new record with the values it had,
/// related to those that are still there and have no other partner.
///
/// **Saving** checks, after the rules: no required property without a model, and no refusal by a rule. A save that fails
/// changes nothing, and fails again as long as nothing is changed. A save stores all; a deleted record leaves no trace in
/// others.
///
/// **Versions.** A context shows the version it has read, and its own changes on top. It reads the latest at its own
/// fetch, save and rollback. Merging keeps both sides: what this context has set (a to-one property, an attribute, a member
/// added or taken out) counts, and everything else is as others have saved it. A to-one property that is empty while what it
/// led to is deleted here takes the partner that others have given it, and so does a required one whose partner has another
/// one here: nobody has set it. A record that was changed here and deleted by others
/// makes the save fail with `noSuchModel` until rollback. What only cascades have deleted, and others have taken from all
/// that led to it, comes back at the save, unless it has come to another one that is deleted here.
///
/// **Rollback** shows the latest version without changes; models that were new are in no context. Inserting one of them again
/// inserts those that it is related to with it; of the stored models it gets those that are still there and have no other
/// partner.
///
/// What nothing above settles is not asked: `allows(_:)` says no to such a step.
struct Reference {
    typealias Number = Int
    typealias Property = World.Property

    struct Pair: Hashable {
        var left: Number
        var right: Number

        subscript(side: World.Side) -> Number { side == .left ? left : right }
        func touches(_ number: Number) -> Bool { left == number || right == number }
    }

    struct Record: Hashable {
        let entity: World.Entity
        var v: Int
    }

    /// Records and the pairs of each link.
    struct State: Hashable {
        var records: [Number: Record] = [:]
        var pairs: [Int: Set<Pair>] = [:]

        mutating func drop(_ number: Number) {
            records[number] = nil
            for link in pairs.keys { pairs[link] = pairs[link]?.filter { !$0.touches(number) } }
        }
    }

    let world: World
    var store = State()
    /// Models that are in no context, and were in none.
    var free = State()
    var contexts = [Context(), Context()]
    /// Free models whose handle was let go.
    var released: Set<Number> = []
    /// Models of which no more is asked.
    var lost: Set<Number> = []

    init(world: World) { self.world = world }

    /// What a context shows.
    struct Context {
        /// What it has read.
        var base = State()
        /// What it shows, and what is hidden because a deleted model is part of it.
        var now = State()
        /// Never saved.
        var inserted: Set<Number> = []
        var deleted: [Number: Deletion] = [:]
        var unprocessed: [Number] = []
        /// Deleted before they were saved, and processed: in the context no more.
        var discarded: [Number: Remains] = [:]
        /// Never saved when the context was rolled back.
        var rolledBack: [Number: Remains] = [:]
        /// Models that came back after that.
        var returned: Set<Number> = []
        /// Their deletion is saved.
        var departed: [Number: Remains] = [:]
        /// To-one properties and attributes that were set here.
        var touched: Set<Touch> = []
        /// Others have saved since the delete rules were followed.
        var isStale = false
        /// Members added and taken out of relationships that are to-many on both sides.
        var added: [Int: Set<Pair>] = [:]
        var removed: [Int: Set<Pair>] = [:]
        /// By deleted model: what was done to its pairs from the other side since, so that it may be open what comes back.
        var unclear: [Number: Set<Touch>] = [:]
        /// Every model that a pair was made or taken of.
        var brushed: Set<Number> = []
        /// Departed models that have become new records.
        var reborn: Set<Number> = []
        /// Changed here, deleted by others.
        var vanished: Set<Number> = []
        /// Deleted by others, after only the other side of a pair with it was changed here.
        var perhapsVanished: Set<Number> = []
        func isLive(_ number: Number) -> Bool { now.records[number] != nil && deleted[number] == nil }
        var live: [Number] { now.records.keys.filter { deleted[$0] == nil }.sorted() }
    }

    struct Touch: Hashable {
        let number: Number
        /// Nil for the attribute.
        let property: Property?
    }

    struct Deletion: Hashable {
        /// Those whose cascade took it; empty where it was asked for.
        var takers: Set<Number>
        var isProcessed = false
        /// Those of them whose record led to it when they took it.
        var leaders: Set<Number> = []
    }

    /// What a model that has left its context was.
    struct Remains: Hashable {
        let record: Record
        var pairs: [Int: Set<Pair>]
        var takers: Set<Number> = []
    }

    // MARK: What shows

    func end(_ property: Property) -> World.End? { world.end(property) }

    private func isSymmetric(_ link: Int) -> Bool { world.links[link]?.isSymmetric == true }

    func pair(_ link: Int, _ number: Number, _ side: World.Side, _ other: Number) -> Pair {
        if isSymmetric(link) { return Pair(left: min(number, other), right: max(number, other)) }
        return side == .left ? Pair(left: number, right: other) : Pair(left: other, right: number)
    }

    /// The others in a model's pairs.
    func partners(of number: Number, _ property: Property, in pairs: [Int: Set<Pair>]) -> [Number] {
        (pairs[property.link] ?? []).compactMap { pair in
            if pair[property.side] == number { return pair[property.side.other] }
            if isSymmetric(property.link), pair[property.side.other] == number { return pair[property.side] }
            return nil
        }
    }

    /// What a property shows; nil for a required one that has lost its model.
    func shown(_ number: Number, _ property: Property, in context: Int?) -> [Number]? {
        let all: [Number]
        if let context {
            let state = contexts[context]
            all = partners(of: number, property, in: state.now.pairs).filter { state.deleted[$0] == nil }
        } else {
            all = partners(of: number, property, in: free.pairs)
        }
        if all.isEmpty, world.end(property)?.kind == .required { return nil }
        return all.sorted()
    }

    func record(_ number: Number, in context: Int?) -> Record? {
        if let context { contexts[context].now.records[number] } else { free.records[number] }
    }
}
