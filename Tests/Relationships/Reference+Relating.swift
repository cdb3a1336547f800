import MortiseCore

extension Reference {
    /// What a step may be done to: no context for free models.
    private subscript(context: Int?) -> State {
        get { context.map { contexts[$0].now } ?? free }
        set { if let context { contexts[context].now = newValue } else { free = newValue } }
    }

    private func isToOne(_ property: Property) -> Bool { end(property).map { $0.kind != .many } ?? false }

    func other(_ property: Property) -> Property {
        world.links[property.link]?.isSymmetric == true
            ? Property(link: property.link, side: .left) : Property(link: property.link, side: property.side.other)
    }

    private func normal(_ property: Property) -> Property {
        world.links[property.link]?.isSymmetric == true ? Property(link: property.link, side: .left) : property
    }

    /// Whether both ends are to-many, or nobody sees the other end of a to-many one: each pair stands for itself.
    func isPairwise(_ link: Int) -> Bool {
        !isToOne(Property(link: link, side: .left)) && !isToOne(Property(link: link, side: .right))
    }

    private mutating func note(_ pair: Pair, _ link: Int, isAdded: Bool, in context: Int?) {
        guard let context else { return }
        for side in [World.Side.left, .right] {
            contexts[context].brushed.insert(pair[side])
            let property = Property(link: link, side: side)
            if isToOne(property) {
                contexts[context].touched.insert(Touch(number: pair[side], property: normal(property)))
            }
        }
        guard isPairwise(link) else { return }
        if isAdded {
            contexts[context].removed[link]?.remove(pair)
            contexts[context].added[link, default: []].insert(pair)
        } else {
            contexts[context].added[link]?.remove(pair)
            contexts[context].removed[link, default: []].insert(pair)
        }
    }

    private mutating func remove(_ pair: Pair, _ link: Int, in context: Int?) {
        guard self[context].pairs[link]?.remove(pair) != nil else { return }
        note(pair, link, isAdded: false, in: context)
    }

    /// Takes the one partner from a to-one end, also one that is deleted.
    private mutating func clear(_ number: Number, _ property: Property, in context: Int?) {
        for partner in partners(of: number, property, in: self[context].pairs) {
            remove(pair(property.link, number, property.side, partner), property.link, in: context)
            if let context, contexts[context].deleted[partner]?.isProcessed == true {
                contexts[context].unclear[partner, default: []].insert(Touch(number: number, property: property))
            }
        }
    }

    /// Makes the pairs that setting a property makes.
    mutating func relate(_ number: Number, _ property: Property, to values: [Number], in context: Int?) {
        let property = normal(property)
        let hidden = context.map { contexts[$0].deleted } ?? [:]
        let all = partners(of: number, property, in: self[context].pairs)
        let visible = Set(all.filter { hidden[$0] == nil })
        let wanted = Set(values)
        if let context {
            // Whether a model that was deleted unsaved still comes back to this one is left open.
            for (model, remains) in contexts[context].discarded
            where partners(of: number, property, in: remains.pairs).contains(model) {
                contexts[context].unclear[model, default: []].insert(Touch(number: number, property: property))
            }
        }
        if isToOne(property) {
            if wanted == visible {
                if wanted.isEmpty { clear(number, property, in: context) }
                return
            }
            clear(number, property, in: context)
        } else {
            for partner in visible.subtracting(wanted) {
                remove(pair(property.link, number, property.side, partner), property.link, in: context)
            }
            // A list that lacks a deleted member takes it out where the deletion would have done something to this model.
            if let context {
                for partner in all where hidden[partner] != nil && !wanted.contains(partner) {
                    if let rule = end(other(property))?.rule, rule != .nullify {
                        remove(pair(property.link, number, property.side, partner), property.link, in: context)
                    }
                    contexts[context].unclear[partner, default: []].insert(Touch(number: number, property: property))
                }
            }
        }
        for value in values where isToOne(property) || !visible.contains(value) {
            let back = other(property)
            if end(back) != nil, isToOne(back) { clear(value, back, in: context) }
            let new = pair(property.link, number, property.side, value)
            guard self[context].pairs[property.link, default: []].insert(new).inserted else { continue }
            note(new, property.link, isAdded: true, in: context)
        }
    }

    func isOneWay(_ link: Int) -> Bool {
        world.links[link]?.right == nil && world.links[link]?.isSymmetric != true
    }

    // MARK: Insertion

    /// A free model and all that it takes with it into a context.
    func component(of number: Number) -> Set<Number> {
        var found: Set<Number> = [number]
        var pending = [number]
        while let next = pending.popLast() {
            for (link, pairs) in free.pairs {
                for pair in pairs {
                    var reached: [Number] = []
                    if pair.left == next { reached.append(pair.right) }
                    if pair.right == next, !isOneWay(link) { reached.append(pair.left) }
                    for model in reached where found.insert(model).inserted { pending.append(model) }
                }
            }
        }
        return found
    }

    /// Whether a free model that stays behind would refer to one that is inserted.
    func isHeldBack(_ number: Number) -> Bool {
        let component = component(of: number)
        return free.pairs.values.contains { pairs in
            pairs.contains { component.contains($0.right) && !component.contains($0.left) }
        }
    }

    mutating func insert(_ number: Number, into context: Int) {
        let component = component(of: number)
        for model in component {
            contexts[context].now.records[model] = free.records[model]
            contexts[context].inserted.insert(model)
            free.records[model] = nil
        }
        for link in free.pairs.keys {
            for pair in free.pairs[link] ?? [] where component.contains(pair.left) {
                contexts[context].now.pairs[link, default: []].insert(pair)
                note(pair, link, isAdded: true, in: context)
                free.pairs[link]?.remove(pair)
            }
        }
    }

    // MARK: Deletion

    /// Follows the delete rules of what was deleted since the last time.
    mutating func process(in context: Int) {
        var state = contexts[context]
        while let number = state.unprocessed.popLast() {
            guard state.deleted[number] != nil else { continue }
            state.deleted[number]?.isProcessed = true
            follow(number, &state)
        }
        for number in state.deleted.keys where state.inserted.contains(number) {
            if let remains = remains(of: number, state) { state.discarded[number] = remains }
        }
        for number in state.discarded.keys {
            state.now.drop(number)
            // Else a merge would bring the pairs back with the model, whoever they were with.
            for link in state.added.keys { state.added[link] = state.added[link]?.filter { !$0.touches(number) } }
            for link in state.removed.keys { state.removed[link] = state.removed[link]?.filter { !$0.touches(number) } }
            state.inserted.remove(number)
            state.deleted[number] = nil
        }
        contexts[context] = state
    }

    /// Cascades from a deleted model.
    func follow(_ number: Number, _ state: inout Context) {
        guard let record = state.now.records[number] else { return }
        for (property, _) in world.properties(record.entity) where end(property)?.rule == .cascade {
            for partner in partners(of: number, property, in: state.now.pairs) where partner != number {
                if state.deleted[partner] == nil {
                    state.deleted[partner] = Deletion(takers: [])
                    state.unprocessed.append(partner)
                } else if state.deleted[partner]?.takers.isEmpty == true {
                    continue
                }
                guard state.deleted[partner]?.takers.insert(number).inserted == true else { continue }
                if led(by: number, in: state.base).contains(partner) {
                    state.deleted[partner]?.leaders.insert(number)
                }
            }
        }
    }

    /// What the cascade of a record takes.
    private func led(by number: Number, in state: State) -> Set<Number> {
        guard let record = state.records[number] else { return [] }
        return Set(
            world.properties(record.entity).flatMap { property, _ in
                end(property)?.rule == .cascade ? partners(of: number, property, in: state.pairs) : []
            })
    }

    /// Takes back the deletion of what others have moved away from all whose cascades took it.
    mutating func spareMoved(in context: Int) {
        while true {
            let state = contexts[context]
            let moved = state.deleted.filter { number, deletion in
                !deletion.takers.isEmpty && deletion.leaders == deletion.takers
                    && !deletion.takers.contains { led(by: $0, in: state.base).contains(number) }
            }
            if moved.isEmpty { return }
            for number in moved.keys.sorted() where contexts[context].deleted[number] != nil {
                let new = contexts[context].deleted.keys.filter {
                    $0 != number && led(by: $0, in: state.base).contains(number)
                }
                if new.isEmpty {
                    bringBack(number, as: number, in: context)
                } else {
                    contexts[context].deleted[number]?.takers.formUnion(new)
                    contexts[context].deleted[number]?.leaders.formUnion(new)
                }
            }
        }
    }

    private func remains(of number: Number, _ state: Context) -> Remains? {
        guard let record = state.now.records[number] else { return nil }
        return Remains(
            record: record, pairs: state.now.pairs.mapValues { $0.filter { $0.touches(number) } },
            takers: state.deleted[number]?.takers ?? [])
    }

    /// The models that come back with a deleted one: what its cascade took, and no deletion that stays did as well.
    func returning(with number: Number, in context: Int) -> [Number] {
        let state = contexts[context]
        let takers = state.deleted.mapValues(\.takers).merging(state.discarded.mapValues(\.takers)) { $1 }
        var found = [number]
        var next = 0
        while next < found.count {
            let taker = found[next]
            next += 1
            found += takers.filter { $0.value.contains(taker) }.map(\.key).sorted().filter { !found.contains($0) }
        }
        while let staying = found.dropFirst().firstIndex(where: { !(takers[$0] ?? []).isSubset(of: found) }) {
            found.remove(at: staying)
        }
        return found
    }

    /// The models that a context has rolled back and that are inserted again with one of them.
    func component(ofRolledBack number: Number, in context: Int) -> [Number] {
        let rolledBack = contexts[context].rolledBack
        var found = [number]
        var next = 0
        while next < found.count {
            let model = found[next]
            next += 1
            for (link, pairs) in rolledBack[model]?.pairs ?? [:] {
                for pair in pairs {
                    let other = pair.left == model ? pair.right : isOneWay(link) ? model : pair.left
                    if rolledBack[other] != nil, !found.contains(other) { found.append(other) }
                }
            }
        }
        return found
    }

    /// Of what is still gone, forgets that a model which comes back referred to it where nothing leads back.
    private mutating func forgetOneWay(of number: Number, butTo staying: Set<Number>, in context: Int) {
        for other in contexts[context].discarded.keys where !staying.contains(other) {
            for link in world.links.indices where isOneWay(link) {
                contexts[context].discarded[other]?.pairs[link]?.remove(Pair(left: number, right: other))
            }
        }
    }

    mutating func bringBack(_ number: Number, as new: Number, in context: Int) {
        let isRolledBack = contexts[context].rolledBack[number] != nil
        let all =
            isRolledBack
            ? component(ofRolledBack: number, in: context)
            : new == number ? returning(with: number, in: context) : [number]
        for model in all {
            if contexts[context].deleted[model] != nil {
                // Not restored with a parent whose deletion stands.
                spare(model, butFrom: Set(all), in: context)
                contexts[context].deleted[model] = nil
                contexts[context].unprocessed.removeAll { $0 == model }
            }
        }
        // A model that stays deleted is no longer one that these have taken.
        for model in contexts[context].deleted.keys {
            contexts[context].deleted[model]?.takers.subtract(all)
            contexts[context].deleted[model]?.leaders.subtract(all)
        }
        for model in contexts[context].discarded.keys { contexts[context].discarded[model]?.takers.subtract(all) }
        var restored: [(remains: Remains, old: Number, new: Number)] = []
        for model in all {
            if let remains = contexts[context].discarded.removeValue(forKey: model)
                ?? contexts[context].rolledBack.removeValue(forKey: model)
            {
                forgetOneWay(of: model, butTo: Set(all), in: context)
                restored.append((remains, model, model))
            } else if let remains = contexts[context].departed[model], new != number {
                contexts[context].reborn.insert(model)
                restored.append((remains, model, new))
            }
        }
        if isRolledBack { contexts[context].returned.formUnion(all) }
        for (remains, _, new) in restored {
            contexts[context].now.records[new] = remains.record
            contexts[context].inserted.insert(new)
        }
        for (remains, old, new) in restored { restore(remains, old, as: new, in: context) }
    }

    /// A model that a deleted one's cascade took comes back alone: without its parent.
    private mutating func spare(_ number: Number, butFrom all: Set<Number>, in context: Int) {
        guard let record = contexts[context].now.records[number] else { return }
        for (property, _) in world.properties(record.entity) {
            let back = other(property)
            guard end(back)?.rule == .cascade else { continue }
            for partner in partners(of: number, property, in: contexts[context].now.pairs)
            where contexts[context].deleted[partner] != nil && !all.contains(partner) {
                remove(pair(property.link, number, property.side, partner), property.link, in: context)
                contexts[context].unclear[partner, default: []].insert(Touch(number: number, property: property))
            }
            for (partner, remains) in contexts[context].discarded
            where partners(of: number, property, in: remains.pairs).contains(partner) && !all.contains(partner) {
                contexts[context].unclear[partner, default: []].insert(Touch(number: number, property: nil))
            }
        }
    }

    private mutating func restore(_ remains: Remains, _ old: Number, as number: Number, in context: Int) {
        for (link, pairs) in remains.pairs {
            for pair in pairs {
                // A new record is not what those referred to that it knows nothing of.
                if number != old, pair.right == old, pair.left != old, isOneWay(link) { continue }
                let new = self.pair(
                    link, pair.left == old ? number : pair.left, .left, pair.right == old ? number : pair.right)
                guard [new.left, new.right].allSatisfy({ contexts[context].isLive($0) }) else {
                    // The other one knows nothing of it.
                    if isOneWay(link) { contexts[context].discarded[new.right]?.pairs[link]?.remove(pair) }
                    // A stored one still has it, and its rule may deny its deletion for that.
                    if isOneWay(link), new.right == number, contexts[context].deleted[new.left] != nil {
                        contexts[context].now.pairs[link, default: []].insert(new)
                    }
                    for side in [World.Side.left, .right] where contexts[context].deleted[new[side]] != nil {
                        contexts[context].unclear[new[side], default: []].insert(Touch(number: number, property: nil))
                    }
                    continue
                }
                let isFree = [World.Side.left, .right].allSatisfy { side in
                    let property = Property(link: link, side: side)
                    return !isToOne(property)
                        || !partners(of: new[side], property, in: contexts[context].now.pairs)
                            .contains { contexts[context].deleted[$0] == nil }
                }
                guard isFree else { continue }
                for side in [World.Side.left, .right] {
                    let property = normal(Property(link: link, side: side))
                    if isToOne(property) { clear(new[side], property, in: context) }
                }
                contexts[context].now.pairs[link, default: []].insert(new)
                note(new, link, isAdded: true, in: context)
            }
        }
    }
}
