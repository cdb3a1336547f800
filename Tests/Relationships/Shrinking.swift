import MortiseCore

/// A program and how it differs, made as small as it gets.
struct Shrinking {
    private(set) var world: World
    private(set) var steps: [Step]
    private(set) var difference: Difference
    private let kind: StoreKind
    private let folder: String
    private var budget = 1_500

    init(_ program: Program, _ difference: Difference, on kind: StoreKind, folder: String) {
        world = program.world
        steps = program.steps
        self.difference = difference
        self.kind = kind
        self.folder = folder
    }

    mutating func shrink() {
        steps = Array(steps.prefix(difference.step + 1))
        var size: Int
        repeat {
            size = steps.count + weight
            dropSteps()
            shortenSteps()
            dropLinks()
            simplifyLinks()
        } while steps.count + weight < size && budget > 0
    }

    private var weight: Int {
        let links = world.links.compactMap { $0 }
        let ends = links.flatMap { [$0.left, $0.right].compactMap { $0 } }
        return world.entities.count + links.count * 4 + ends.count(where: { $0.rule != .nullify })
            + links.count(where: { $0.naming != .both }) + ends.count(where: \.isOptionalArray)
    }

    private mutating func attempt(_ world: World, _ steps: [Step]) -> Bool {
        budget -= 1
        guard budget > 0, let found = Runner.run(steps, in: world, on: kind, folder: folder) else { return false }
        self.world = world
        self.steps = Array(steps.prefix(found.step + 1))
        difference = found
        return true
    }

    private mutating func dropSteps() {
        var length = max(1, steps.count / 2)
        while true {
            var start = steps.count - length
            while start >= 0 {
                var fewer = steps
                fewer.removeSubrange(start..<min(start + length, fewer.count))
                _ = attempt(world, fewer)
                start = min(start, steps.count) - length
            }
            if length == 1 { return }
            length = max(1, length / 2)
        }
    }

    private mutating func shortenSteps() {
        for index in steps.indices.reversed() where index < steps.count {
            guard case .make(let number, let entity, let assignments, let context) = steps[index] else { continue }
            for place in assignments.indices.reversed() {
                var fewer = assignments
                fewer.remove(at: place)
                var shorter = steps
                shorter[index] = .make(number, entity, fewer, into: context)
                if attempt(world, shorter) { break }
            }
        }
    }

    private mutating func dropLinks() {
        for index in world.links.indices where world.links[index] != nil {
            var smaller = world
            smaller.links[index] = nil
            _ = attempt(smaller, without(index, steps))
        }
        for entity in world.entities where entity != world.entities.last || world.entities.count > 1 {
            let isUsed =
                world.links.contains {
                    $0?.left.owner == entity || $0?.target == entity || $0?.right?.owner == entity
                }
                || world.entities.contains { $0.family == entity.family && $0.level > entity.level }
                || steps.contains { if case .make(_, entity, _, _) = $0 { true } else { false } }
            guard !isUsed else { continue }
            var smaller = world
            smaller.entities.removeAll { $0 == entity }
            if !smaller.entities.isEmpty { _ = attempt(smaller, steps) }
        }
    }

    /// The initial values of a relationship go with it.
    private func without(_ link: Int, _ steps: [Step]) -> [Step] {
        steps.map { step in
            guard case .make(let number, let entity, let assignments, let context) = step else { return step }
            return .make(number, entity, assignments.filter { $0.property.link != link }, into: context)
        }
    }

    private mutating func simplifyLinks() {
        for index in world.links.indices {
            for change in [
                { (link: inout World.Link) in link.left.rule = .nullify }, { $0.right?.rule = .nullify },
                { $0.naming = .both }, { $0.left.isOptionalArray = false }, { $0.right?.isOptionalArray = false },
                { $0.left.kind = $0.left.kind == .required ? .optional : $0.left.kind },
            ] as [(inout World.Link) -> Void] {
                guard var link = world.links[index] else { continue }
                change(&link)
                guard link != world.links[index] else { continue }
                var simpler = world
                simpler.links[index] = link
                _ = attempt(simpler, steps)
            }
        }
    }
}
