import MortiseCore

/// Why a save has to fail.
enum Fault: Hashable {
    /// A required property has no model.
    case missing(Int, World.Property)
    /// A deleted model's rule is deny.
    case denied(Int, World.Property)
    /// A model still refers to one that is deleted, whose rule is noAction.
    case refers(Int, World.Property)
    /// A model with changes was deleted by others.
    case vanished(Int)
}

extension Reference {
    /// Whether it is settled what a step does.
    func allows(_ step: Step) -> Bool {
        switch step {
        case .make(let number, let entity, let assignments, let context):
            guard world.entities.contains(entity), !isKnown(number) else { return false }
            let required = world.properties(entity).filter { end($0.property)?.kind == .required }
            guard required.allSatisfy({ property in assignments.contains { $0.property == property.property } }),
                Set(assignments.map(\.property.link)).count == assignments.count
            else { return false }
            return assignments.allSatisfy { assignment in
                world.properties(entity).contains { $0.property == assignment.property }
                    && !displaces(assignment.values, assignment.property, in: context)
                    && fits(assignment.values, assignment.property, in: context)
            }
        case .insert(let number, _):
            return free.records[number] != nil && !released.contains(number) && !isHeldBack(number)
        case .set(let number, let property, let values, let context):
            return mayRelate(number, property, values, in: context)
        case .append(let number, let property, let value, let context),
            .remove(let number, let property, let value, let context):
            return end(property)?.kind == .many && mayRelate(number, property, [value], in: context)
        case .change(let number, _, let context):
            return context.map { contexts[$0].isLive(number) } ?? (free.records[number] != nil)
        case .delete(let number, let context):
            // Also one that a cascade has deleted, so that its deletion is one of its own.
            return contexts[context].isLive(number) || contexts[context].deleted[number] != nil
        case .reinsert(let number, let new, let context): return mayReturn(number, as: new, in: context)
        case .release(let number):
            // Something that is held has to refer to it.
            return free.records[number] != nil && !released.contains(number)
                && free.records.keys.contains {
                    $0 != number && !released.contains($0) && component(of: $0).contains(number)
                }
        case .process, .fetch, .refetch, .save, .rollback, .discard, .reopen: return true
        }
    }

    private func isKnown(_ number: Number) -> Bool {
        free.records[number] != nil || lost.contains(number) || store.records[number] != nil
            || contexts.contains {
                $0.now.records[number] != nil || $0.discarded[number] != nil || $0.departed[number] != nil
                    || $0.rolledBack[number] != nil
            }
    }

    /// Whether models can be the value of a property of one that is, or will be, in a context.
    private func fits(_ values: [Number], _ property: Property, in context: Int?) -> Bool {
        guard let end = end(property), let target = world.target(property) else { return false }
        if end.kind == .required, values.count != 1 { return false }
        if end.kind == .optional, values.count > 1 { return false }
        return values.allSatisfy { value in
            if let record = free.records[value] {
                return target.includes(record.entity) && !released.contains(value)
                    && (context == nil || !isHeldBack(value))
            }
            guard let context, contexts[context].isLive(value), let record = contexts[context].now.records[value] else {
                return false
            }
            return target.includes(record.entity)
        }
    }

    /// Whether free models enter a context by the very step that takes them from their old partners: whether those enter it
    /// too is left open.
    private func displaces(_ values: [Number], _ property: Property, in context: Int?) -> Bool {
        let back = other(property)
        guard context != nil, let end = end(back), end.kind != .many else { return false }
        return values.contains { !partners(of: $0, back, in: free.pairs).isEmpty }
    }

    private func mayRelate(_ number: Number, _ property: Property, _ values: [Number], in context: Int?) -> Bool {
        let entity: World.Entity?
        if let record = free.records[number] {
            entity = released.contains(number) || (context != nil && isHeldBack(number)) ? nil : record.entity
        } else if let context, contexts[context].isLive(number) {
            entity = contexts[context].now.records[number]?.entity
        } else {
            entity = nil
        }
        guard let entity, world.properties(entity).contains(where: { $0.property == property }),
            fits(values, property, in: context), !displaces(values, property, in: context)
        else { return false }
        if context != nil, !partners(of: number, property, in: free.pairs).isEmpty { return false }
        // One of them is in the context.
        guard let context else { return true }
        return contexts[context].isLive(number) || values.contains { contexts[context].isLive($0) }
    }

    private func mayReturn(_ number: Number, as new: Number, in context: Int) -> Bool {
        let state = contexts[context]
        let back: [Number]
        if state.deleted[number] != nil || state.discarded[number] != nil {
            guard new == number else { return false }
            back = returning(with: number, in: context)
        } else if state.rolledBack[number] != nil {
            guard new == number else { return false }
            // Nor is it settled whether a new record takes the place of the old one that the same model was. A model that is
            // rolled back does not keep others alive, so what it led to may have been saved and let go of.
            let isOpen = state.reborn.union(state.returned.subtracting(state.inserted))
            return component(ofRolledBack: number, in: context).allSatisfy { model in
                (state.rolledBack[model]?.pairs ?? [:]).values.allSatisfy { pairs in
                    pairs.allSatisfy { !isOpen.contains($0.left) && !isOpen.contains($0.right) }
                }
            }
        } else if let remains = state.departed[number], !state.reborn.contains(number), new != number, !isKnown(new) {
            let partners = remains.pairs.values.flatMap { $0.flatMap { [$0.left, $0.right] } }
            if partners.contains(where: state.reborn.contains) { return false }
            back = [number]
        } else {
            return false
        }
        // Whoever was taken from it in the meantime has to have another partner, or to be gone.
        return back.allSatisfy { model in
            (state.unclear[model] ?? []).allSatisfy { touch in
                guard state.isLive(touch.number) else { return state.now.records[touch.number] == nil }
                guard let property = touch.property, end(property)?.kind != .many else { return false }
                return partners(of: touch.number, property, in: state.now.pairs).contains { state.deleted[$0] == nil }
            }
        }
    }

    // MARK: Steps

    /// Does a step that is allowed.
    /// - Returns: for a save, why it has to fail; empty where it must not.
    @discardableResult
    mutating func apply(_ step: Step) -> Set<Fault> {
        switch step {
        case .make(let number, let entity, let assignments, let context):
            free.records[number] = Record(entity: entity, v: 0)
            for assignment in assignments where assignment.values.allSatisfy({ free.records[$0] != nil }) {
                relate(number, assignment.property, to: assignment.values, in: nil)
            }
            guard let context else { break }
            insert(number, into: context)
            for assignment in assignments {
                for value in assignment.values where free.records[value] != nil { insert(value, into: context) }
                relate(number, assignment.property, to: assignment.values, in: context)
            }
        case .insert(let number, let context): insert(number, into: context)
        case .set(let number, let property, let values, let context):
            enter([number] + values, context)
            relate(number, property, to: values, in: context)
        case .append(let number, let property, let value, let context):
            enter([number, value], context)
            let present = shown(number, property, in: context) ?? []
            relate(number, property, to: present + (present.contains(value) ? [] : [value]), in: context)
        case .remove(let number, let property, let value, let context):
            enter([number], context)
            relate(
                number, property, to: (shown(number, property, in: context) ?? []).filter { $0 != value }, in: context)
        case .change(let number, let value, let context?):
            // Setting what is there already changes nothing.
            if contexts[context].now.records[number]?.v == value { break }
            contexts[context].now.records[number]?.v = value
            contexts[context].touched.insert(Touch(number: number, property: nil))
        case .change(let number, let value, nil): free.records[number]?.v = value
        case .delete(let number, let context):
            if contexts[context].deleted[number] == nil { contexts[context].unprocessed.append(number) }
            contexts[context].deleted[number, default: Deletion(takers: [])].takers = []
        case .reinsert(let number, let new, let context): bringBack(number, as: new, in: context)
        case .release(let number): released.insert(number)
        case .process(let context): process(in: context)
        case .fetch(let context): rebase(context)
        case .refetch(let context): rebase(context)
        case .save(let context): return save(context, hasChanges: hasChanges(context))
        case .rollback(let context): rollBack(context)
        case .discard(let context): drop(context)
        case .reopen: for context in contexts.indices { drop(context) }
        }
        return []
    }

    /// Takes free models into a context that they are about to be related in.
    private mutating func enter(_ numbers: [Number], _ context: Int?) {
        guard let context else { return }
        for number in numbers where free.records[number] != nil { insert(number, into: context) }
    }

    private mutating func rollBack(_ context: Int) {
        process(in: context)
        let old = contexts[context]
        forget(Set(old.discarded.keys))
        var new = Context()
        new.base = store
        new.now = store
        new.departed = old.departed
        new.unclear = old.unclear
        new.reborn = old.reborn
        new.rolledBack = old.rolledBack
        new.returned = old.returned
        for number in old.inserted {
            guard let record = old.now.records[number] else { continue }
            // What refers to it one way is the other model's, which holds it or was rolled back as well.
            var pairs = old.now.pairs.mapValues { $0.filter { $0.touches(number) } }
            for link in pairs.keys where isOneWay(link) { pairs[link] = pairs[link]?.filter { $0.left == number } }
            new.rolledBack[number] = Remains(record: record, pairs: pairs)
        }
        // What a new model was to one whose deletion was not saved is left open.
        let isOpen = new.rolledBack.values.contains { remains in
            remains.pairs.values.contains { pairs in
                pairs.contains { old.deleted[$0.left] != nil || old.deleted[$0.right] != nil }
            }
        }
        if isOpen {
            forget(Set(new.rolledBack.keys))
            new.rolledBack = [:]
        }
        contexts[context] = new
    }

    private mutating func drop(_ context: Int) {
        let old = contexts[context]
        forget(old.inserted.union(old.discarded.keys).union(old.rolledBack.keys))
        contexts[context] = Context()
        contexts[context].base = store
        contexts[context].now = store
    }

    private mutating func forget(_ numbers: Set<Number>) { lost.formUnion(numbers) }

    private mutating func forgetDiscarded(_ context: Int) {
        forget(Set(contexts[context].discarded.keys))
        contexts[context].discarded = [:]
    }

    // MARK: Versions

    /// Follows the rules and reads the latest version.
    mutating func rebase(_ context: Int, repeatingRules: Bool = false) {
        process(in: context)
        if contexts[context].base != store { merge(context) }
        guard repeatingRules, contexts[context].isStale else { return }
        contexts[context].isStale = false
        spareMoved(in: context)
        var state = contexts[context]
        for number in state.deleted.keys.sorted() { follow(number, &state) }
        contexts[context] = state
        process(in: context)
    }

    private mutating func merge(_ context: Int) {
        contexts[context].touched = contexts[context].touched.filter { !wasReleased($0, contexts[context]) }
        let state = contexts[context]
        var now = store
        for number in state.inserted { now.records[number] = state.now.records[number] }
        for touch in state.touched where touch.property == nil {
            guard let v = state.now.records[touch.number]?.v else { continue }
            now.records[touch.number]?.v = v
        }
        for link in world.links.indices where world.links[link] != nil {
            let stored = store.pairs[link] ?? []
            if isPairwise(link) {
                now.pairs[link] = stored.subtracting(state.removed[link] ?? []).union(state.added[link] ?? [])
            } else {
                func isTouched(_ pair: Pair) -> Bool {
                    [World.Side.left, .right].contains { side in
                        let property = Property(link: link, side: world.links[link]?.isSymmetric == true ? .left : side)
                        return state.touched.contains(Touch(number: pair[side], property: property))
                    }
                }
                now.pairs[link] = stored.filter { !isTouched($0) }.union(
                    (state.now.pairs[link] ?? []).filter(isTouched))
            }
            now.pairs[link] = now.pairs[link]?.filter { now.records[$0.left] != nil && now.records[$0.right] != nil }
        }
        for number in state.base.records.keys where store.records[number] == nil {
            contexts[context].deleted[number] = nil
            guard state.deleted[number] == nil else { continue }
            if state.touched.contains(where: { $0.number == number }) {
                contexts[context].vanished.insert(number)
            } else if state.brushed.contains(number) {
                contexts[context].perhapsVanished.insert(number)
            }
        }
        contexts[context].base = store
        contexts[context].now = now
        if !contexts[context].deleted.isEmpty { contexts[context].isStale = true }
    }

    /// Whether a to-one property is empty without having been set, and others have given it another partner: what it led to
    /// is deleted here or, where it is required, has another partner here.
    private func wasReleased(_ touch: Touch, _ state: Context) -> Bool {
        guard let property = touch.property, partners(of: touch.number, property, in: state.now.pairs).isEmpty else {
            return false
        }
        let before = partners(of: touch.number, property, in: state.base.pairs)
        let stored = partners(of: touch.number, property, in: store.pairs)
        return !before.isEmpty && !stored.isEmpty && stored != before
            && (end(property)?.kind == .required || before.allSatisfy { state.deleted[$0] != nil })
    }

    // MARK: Saving

    /// Whether there is something to save, as far as it is settled: changes that were taken back may count.
    func hasChanges(_ context: Int) -> Bool {
        let state = contexts[context]
        return !state.inserted.isEmpty || !state.deleted.isEmpty || !state.touched.isEmpty || !state.brushed.isEmpty
            || !state.vanished.isEmpty || !state.perhapsVanished.isEmpty
    }

    /// Whether a context shows something else than it has read.
    func differsFromStore(_ context: Int) -> Bool {
        let state = contexts[context]
        return !state.inserted.isEmpty || !state.deleted.isEmpty || state.now.records != state.base.records
            || state.now.pairs.filter { !$0.value.isEmpty } != state.base.pairs.filter { !$0.value.isEmpty }
    }

    /// Makes a save fail that may fail because a model is gone of which only the other side was changed.
    mutating func refuseVanished(_ context: Int) -> Set<Fault> {
        rebase(context)
        contexts[context].vanished.formUnion(contexts[context].perhapsVanished)
        return vanished(context)
    }

    /// That comes first: the delete rules are not followed to what others have saved.
    private func vanished(_ context: Int) -> Set<Fault> { Set(contexts[context].vanished.map { .vanished($0) }) }

    /// - Parameter hasChanges: without changes nothing is done, and no newer version read.
    mutating func save(_ context: Int, hasChanges: Bool) -> Set<Fault> {
        process(in: context)
        guard hasChanges || !contexts[context].vanished.isEmpty else {
            forgetDiscarded(context)
            return []
        }
        let known = contexts[context].now.records
        rebase(context)
        guard contexts[context].vanished.isEmpty else { return vanished(context) }
        let before = contexts[context]
        rebase(context, repeatingRules: true)
        let faults = faults(context)
        guard faults.isEmpty else {
            contexts[context] = before
            return faults
        }
        var new = contexts[context].now
        let deleted = contexts[context].deleted
        for number in deleted.keys {
            guard let record = new.records[number] else { continue }
            // The save has read it and deleted it: nobody has got hold of it.
            if known[number] == nil {
                forget([number])
                continue
            }
            contexts[context].departed[number] = Remains(
                record: record, pairs: new.pairs.mapValues { $0.filter { $0.touches(number) } })
        }
        for number in deleted.keys { new.drop(number) }
        forget(Set(contexts[context].discarded.keys))
        store = new
        var next = Context()
        next.base = store
        next.now = store
        next.departed = contexts[context].departed
        next.unclear = contexts[context].unclear
        next.reborn = contexts[context].reborn
        next.rolledBack = contexts[context].rolledBack
        next.returned = contexts[context].returned
        contexts[context] = next
        return []
    }

    private func faults(_ context: Int) -> Set<Fault> {
        let state = contexts[context]
        var faults: Set<Fault> = []
        for number in state.live {
            guard let record = state.now.records[number] else { continue }
            for (property, _) in world.properties(record.entity)
            where end(property)?.kind == .required && shown(number, property, in: context) == nil {
                faults.insert(.missing(number, property))
            }
        }
        for number in state.deleted.keys {
            guard let record = state.now.records[number] else { continue }
            for (property, _) in world.properties(record.entity) {
                let rule = end(property)?.rule
                guard rule == .deny || rule == .noAction else { continue }
                let back =
                    world.links[property.link]?.isSymmetric == true
                    ? property : Property(link: property.link, side: property.side.other)
                for partner in partners(of: number, property, in: state.now.pairs) where state.isLive(partner) {
                    if rule == .deny { faults.insert(.denied(number, property)) }
                    if rule == .noAction, end(back) != nil { faults.insert(.refers(partner, back)) }
                }
            }
        }
        return faults
    }
}
