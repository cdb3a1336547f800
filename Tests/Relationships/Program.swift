import PackageTestSupport

/// A world and what is done to its models, made from a seed.
struct Program: Sendable {
    let seed: UInt64
    var world: World
    var steps: [Step]

    /// Programs with neighboring seeds share a world: the classes of a world are never freed.
    static let programsPerWorld: UInt64 = 8

    init(seed: UInt64) {
        self.seed = seed
        world = World(seed: seed / Self.programsPerWorld)
        var maker = StepMaker(world: world, seed: seed)
        steps = maker.make()
    }

    var text: String {
        "\(world)\n\n" + steps.map { $0.text(in: world) }.joined(separator: "\n")
    }
}

/// Makes steps that the reference allows.
struct StepMaker {
    private var random: SeededGenerator
    private var reference: Reference
    private var next = 1
    private let hasTwoContexts: Bool

    init(world: World, seed: UInt64) {
        random = SeededGenerator(seed: seed)
        reference = Reference(world: world)
        hasTwoContexts = random.chance(percent: 35)
    }

    mutating func make() -> [Step] {
        var steps: [Step] = []
        let count = 12 + random.below(28)
        var attempts = 0
        while steps.count < count, attempts < count * 6 {
            attempts += 1
            guard let step = candidate(), reference.allows(step) else { continue }
            steps.append(step)
            reference.apply(step)
            switch step {
            case .make(let number, _, _, _), .reinsert(_, let number, _): next = max(next, number + 1)
            default: break
            }
        }
        return steps
    }

    private mutating func candidate() -> Step? {
        let context = hasTwoContexts && random.chance(percent: 45) ? 1 : 0
        let live = reference.contexts[context].live
        let free = reference.free.records.keys.sorted()
        switch random.below(100) {
        case 0..<(live.count < 5 ? 30 : 12): return creation(context)
        case 12..<48: return relation(context, live, free)
        case 48..<52: return live.isEmpty ? nil : .change(random.pick(live), to: random.below(100), in: context)
        case 52..<64:
            // A few of them once more, so that what a cascade took is deleted by itself.
            let deleted = reference.contexts[context].deleted.keys.sorted()
            if !deleted.isEmpty, random.chance(percent: 6) { return .delete(random.pick(deleted), in: context) }
            return live.isEmpty ? nil : .delete(random.pick(live), in: context)
        case 64..<70:
            let state = reference.contexts[context]
            let waiting = (Array(state.deleted.keys) + state.discarded.keys + state.rolledBack.keys).sorted()
            let departed = state.departed.keys.sorted()
            if !departed.isEmpty, waiting.isEmpty || random.chance(percent: 30) {
                return .reinsert(random.pick(departed), as: next, in: context)
            }
            guard !waiting.isEmpty else { return nil }
            let number = random.pick(waiting)
            return .reinsert(number, as: number, in: context)
        case 70..<73: return free.isEmpty ? nil : .insert(random.pick(free), into: context)
        case 73..<75: return free.isEmpty ? nil : .release(random.pick(free))
        case 75..<77: return .process(in: context)
        case 77..<81: return .fetch(in: context)
        case 81..<84: return .refetch(in: context)
        case 84..<94: return .save(in: context)
        case 94..<97: return .rollback(in: context)
        case 97..<98: return .discard(context)
        default: return .reopen
        }
    }

    private mutating func creation(_ context: Int) -> Step? {
        let entity = random.pick(reference.world.entities)
        let target = random.chance(percent: 70) ? context : nil
        var links: Set<Int> = []
        var assignments: [Step.Assignment] = []
        for (property, _) in reference.world.properties(entity) {
            guard let end = reference.world.end(property) else { continue }
            guard end.kind == .required || random.chance(percent: 20), links.insert(property.link).inserted else {
                continue
            }
            let candidates = values(of: property, in: target)
            if candidates.isEmpty {
                if end.kind == .required { return nil }
                continue
            }
            let values = (0..<(end.kind == .many ? 1 + random.below(2) : 1)).map { _ in random.pick(candidates) }
            assignments.append(.init(property: property, values: values))
        }
        return .make(next, entity, assignments, into: target)
    }

    /// The models that a property may hold.
    private func values(of property: World.Property, in context: Int?) -> [Int] {
        guard let target = reference.world.target(property) else { return [] }
        let free = reference.free.records.filter { target.includes($0.value.entity) }.map(\.key)
        guard let context else { return free.sorted() }
        let state = reference.contexts[context]
        return (free + state.live.filter { state.now.records[$0].map { target.includes($0.entity) } ?? false }).sorted()
    }

    private mutating func relation(_ context: Int, _ live: [Int], _ free: [Int]) -> Step? {
        var target: Int? = context
        let number: Int
        if free.isEmpty || (!live.isEmpty && random.chance(percent: 80)) {
            guard !live.isEmpty else { return nil }
            number = random.pick(live)
        } else {
            number = random.pick(free)
            if live.isEmpty || random.chance(percent: 60) { target = nil }
        }
        guard let record = reference.record(number, in: target) ?? reference.record(number, in: nil) else { return nil }
        let properties = reference.world.properties(record.entity)
        guard !properties.isEmpty else { return nil }
        let property = random.pick(properties).property
        guard let end = reference.world.end(property) else { return nil }
        let candidates = values(of: property, in: target)
        if end.kind != .many {
            if end.kind == .optional, random.chance(percent: 25) { return .set(number, property, [], in: target) }
            return candidates.isEmpty ? nil : .set(number, property, [random.pick(candidates)], in: target)
        }
        let present =
            (target == nil ? reference.free.records[number] : record) == nil
            ? [] : reference.shown(number, property, in: target) ?? []
        switch random.below(10) {
        case 0..<4: return candidates.isEmpty ? nil : .append(number, property, random.pick(candidates), in: target)
        case 4..<6: return present.isEmpty ? nil : .remove(number, property, random.pick(present), in: target)
        default:
            var values = (0..<random.below(4)).compactMap { _ in candidates.isEmpty ? nil : random.pick(candidates) }
            if random.chance(percent: 30) { values += present }
            return .set(number, property, values, in: target)
        }
    }
}
