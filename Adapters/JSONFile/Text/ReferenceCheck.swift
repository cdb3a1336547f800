import MortiseCore

/// Whether the references among the records of a document hold: looked at when all records are known.
struct ReferenceCheck {
    /// The first reference that does not hold.
    struct Violation {
        enum Reason {
            case dangling
            case wrongDestination(found: Int, expected: Int)
            case oneSided(inverse: String)
        }
        var reason: Reason
        var entity: Int
        /// The slot, as numbered among those kept in the file.
        var slot: Int
        var owner: UInt64
        var target: UInt64
    }

    let plan: DocumentPlan
    let directory: RecordDirectory
    let log: ReferenceLog

    /// Creates a check. The directory has every record; it is merged if the plan has polymorphic references.
    init(plan: DocumentPlan, directory: RecordDirectory, log: ReferenceLog) {
        self.plan = plan
        self.directory = directory
        self.log = log
    }

    /// Looks at every reference once, in time linear in their number (up to the logarithm in a look-up).
    func firstViolation() -> Violation? {
        for entity in plan.entities {
            for position in entity.slots.indices {
                // Entities that inherit the property have it in the same position, and are looked at with it.
                guard entity.layout.slots[entity.slots[position].index].declaringEntity == entity.name else { continue }
                let violation: Violation? =
                    switch entity.slots[position].content {
                    case .attribute: nil
                    case .toOne(let destination): checkToOne(entity, position, destination: destination)
                    case .toMany(let destination): checkToMany(entity, position, destination: destination)
                    }
                if let violation { return violation }
            }
        }
        return nil
    }

    private func checkToOne(_ declaring: DocumentPlan.Entity, _ slot: Int, destination: Int) -> Violation? {
        let inverse = OneToOneInverse(of: declaring, slot, destination: destination, in: self)
        for entity in declaring.members {
            var numbers = log.numbers(entity: entity, slot: slot)
            for owner in directory.sequences[entity] {
                let number = numbers.next()
                guard number != 0 else { continue }
                let target = number &- 1
                guard let place = directory.place(of: target, under: destination, in: plan) else {
                    return broken(entity, slot, owner: owner, target: target, destination: destination)
                }
                if let inverse, !inverse.refers(place, to: owner) {
                    return Violation(
                        reason: .oneSided(inverse: inverse.name), entity: entity, slot: slot, owner: owner,
                        target: target)
                }
            }
        }
        return nil
    }

    private func checkToMany(_ declaring: DocumentPlan.Entity, _ slot: Int, destination: Int) -> Violation? {
        for entity in declaring.members {
            var numbers = log.numbers(entity: entity, slot: slot)
            for owner in directory.sequences[entity] {
                for _ in 0..<numbers.next() {
                    let target = numbers.next()
                    guard directory.place(of: target, under: destination, in: plan) != nil else {
                        return broken(entity, slot, owner: owner, target: target, destination: destination)
                    }
                }
            }
        }
        return nil
    }

    private func broken(_ entity: Int, _ slot: Int, owner: UInt64, target: UInt64, destination: Int) -> Violation {
        let found = directory.holder(of: target)
        return Violation(
            reason: found.map { .wrongDestination(found: $0, expected: destination) } ?? .dangling,
            entity: entity, slot: slot, owner: owner, target: target)
    }
}

/// The other side of a one-to-one relationship, by record.
private struct OneToOneInverse {
    let name: String
    /// For each entity that can stand at the other end, what each of its records refers to, plus 1.
    private let targets: [Int: ContiguousArray<UInt64>]

    /// Nil if the relationship is not one-to-one.
    init?(of owner: DocumentPlan.Entity, _ slot: Int, destination: Int, in check: ReferenceCheck) {
        let property = owner.layout.slots[owner.slots[slot].index].property
        guard let name = property.relationship?.inverse else { return nil }
        var targets: [Int: ContiguousArray<UInt64>] = [:]
        for member in check.plan.entities[destination].members {
            let other = check.plan.entities[member]
            guard let index = other.layout.slot(named: name), let position = other.positions[index],
                case .toOne = other.slots[position].content,
                other.layout.slots[index].property.relationship?.inverse == property.name
            else { return nil }
            var numbers = check.log.numbers(entity: member, slot: position)
            var column: ContiguousArray<UInt64> = []
            column.reserveCapacity(check.directory.sequences[member].count)
            for _ in check.directory.sequences[member] { column.append(numbers.next()) }
            targets[member] = column
        }
        self.name = name
        self.targets = targets
    }

    func refers(_ place: RecordDirectory.Place, to owner: UInt64) -> Bool {
        targets[place.entity]?[place.rank] == owner &+ 1
    }
}
