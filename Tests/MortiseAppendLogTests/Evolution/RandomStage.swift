import Foundation
import MortiseCore
import PackageTestSupport

/// A random stage of a migration: the next schema, the rules that lead there, and what the records are to become by a plain
/// model of it, which has nothing in common with what it checks but `StoredValue`.
struct RandomStage {
    /// Records by entity, number and property; links as the numbers of their targets.
    struct Content: Equatable {
        enum Value: Equatable {
            case value(StoredValue)
            case link(String, UInt64)
            case links(String, Set<UInt64>)
        }
        var records: [String: [UInt64: [String: Value]]] = [:]
        var next: UInt64 = 1

        static func == (lhs: Content, rhs: Content) -> Bool {
            func kept(_ content: Content) -> [String: [UInt64: [String: Value]]] {
                content.records.filter { !$0.value.isEmpty }
            }
            return kept(lhs) == kept(rhs)
        }

        /// The first values that differ, in words.
        func differences(fromExpected expected: Content) -> String {
            var found: [String] = []
            for entity in Set(records.keys).union(expected.records.keys).sorted() {
                let (mine, theirs) = (records[entity] ?? [:], expected.records[entity] ?? [:])
                for number in Set(mine.keys).union(theirs.keys).sorted() {
                    let (one, other) = (mine[number] ?? [:], theirs[number] ?? [:])
                    for name in Set(one.keys).union(other.keys).sorted() where one[name] != other[name] {
                        let words = [other[name], one[name]].map { $0.map { "\($0)" } ?? "nothing" }
                        found.append("\(entity)/\(number).\(name): expected \(words[0]), found \(words[1])")
                    }
                }
            }
            return found.prefix(5).joined(separator: "; ")
        }

        mutating func remove(_ entity: String, _ numbers: Set<UInt64>) {
            for number in numbers { records[entity]?[number] = nil }
            relink { target, number in target == entity && numbers.contains(number) ? nil : number }
        }

        /// Has all links lead elsewhere, or nowhere.
        mutating func relink(_ target: (String, UInt64) -> UInt64?) {
            for (entity, rows) in records {
                for (number, values) in rows {
                    for (name, value) in values {
                        switch value {
                        case .value: break
                        case .link(let other, let old):
                            records[entity]?[number]?[name] =
                                target(other, old).map { .link(other, $0) } ?? .value(.null)
                        case .links(let other, let olds):
                            records[entity]?[number]?[name] = .links(other, Set(olds.compactMap { target(other, $0) }))
                        }
                    }
                }
            }
        }
    }

    enum Refusal: Equatable {
        case values(String, Int)
        case duplicates
        case missing
    }

    var schema: StoredSchema
    var mapping = MigrationMapping.inferred { didSet { hasMapping = true } }
    private var hasMapping = false
    /// Whether the schemas alone say all.
    var isPlain: Bool { !hasMapping && rules.isEmpty && deleted.isEmpty }
    var rules: [DuplicateRule] = []
    var content: Content
    var refusal: Refusal?
    /// What the stage's code deletes, by entity.
    var deleted: [String: Set<UInt64>] = [:]
    private(set) var kinds: [String: Int] = [:]
    private var touched: Set<String> = []
    private var begun: Set<String> = []
    /// Old properties whose values have another name now.
    private var moved: Set<String> = []
    private let old: StoredSchema
    /// By name of an entity, the one that it ends with, where that is another. Rules have that name.
    private var finals: [String: String] = [:]

    // MARK: A stage

    /// Makes a stage of one to six changes.
    init(
        from old: StoredSchema, _ content: Content, to version: Schema.Version, _ random: inout SeededGenerator,
        _ names: inout Int
    ) {
        schema = old
        self.old = old
        schema.version = version
        self.content = content
        for place in schema.entities.indices {
            // Renames of the stage before are done.
            schema.entities[place].originalName = schema.entities[place].name
            for property in schema.entities[place].properties.indices {
                schema.entities[place].properties[property].originalName =
                    schema.entities[place].properties[property].name
            }
        }
        chooseNames(&random, &names)
        for _ in 0..<Int.random(in: 1...6, using: &random) where refusal == nil { change(&random, &names) }
        // Of two with one original name, where values come from only one of them, no schema could say which is which.
        for place in schema.entities.indices {
            let entity = schema.entities[place]
            for (index, property) in entity.properties.enumerated()
            where begun.contains("\(entity.name).\(property.name)") {
                let isShared = entity.properties.contains {
                    $0.name != property.name && $0.name != $0.originalName && $0.originalName == property.originalName
                }
                if isShared { schema.entities[place].properties[index].originalName = property.name }
            }
        }
        if refusal == nil, random.chance(3), let entity = schema.entities.randomElement(using: &random) {
            note("code deletes")
            let gone = Set((self.content.records[entity.name] ?? [:]).keys.filter { $0 % 3 == 0 })
            deleted[final(entity.name)] = gone
            self.content.remove(entity.name, gone)
        }
        self.schema = self.schema.taking(finals)
        self.content = self.content.taking(finals)
    }

    private func final(_ entity: String) -> String { finals[entity] ?? entity }

    /// Entities get new names, exchange theirs, or take that of one that is dropped.
    private mutating func chooseNames(_ random: inout SeededGenerator, _ names: inout Int) {
        guard random.chance(3) else { return }
        let present = schema.entities.map(\.name).shuffled(using: &random)
        // A name that goes back would look like one that stays: no schema can say it.
        if present.count > 1, old.entity(named: present[1])?.originalName == present[0] { return }
        names += 1
        switch Int.random(in: 0..<3, using: &random) {
        case 0:
            note("rename entity")
            finals[present[0]] = "E\(names)"
        case 1 where present.count > 1:
            note("entities swap names")
            (finals[present[0]], finals[present[1]]) = (present[1], present[0])
        case 2 where present.count > 1:
            note("entity takes a dropped one's name")
            drop(entity: present[1])
            finals[present[0]] = present[1]
        default: break
        }
    }

    private mutating func note(_ kind: String) { kinds[kind, default: 0] += 1 }

    /// An attribute that nothing has changed yet in this stage.
    private func attribute(_ random: inout SeededGenerator, where isWanted: (StoredProperty) -> Bool = { _ in true })
        -> (Int, Int)?
    {
        var found: [(Int, Int)] = []
        for (place, entity) in schema.entities.enumerated() {
            for (index, property) in entity.properties.enumerated()
            where property.attribute != nil && !touched.contains("\(entity.name).\(property.name)")
                && isWanted(property)
            {
                found.append((place, index))
            }
        }
        return found.randomElement(using: &random)
    }

    private mutating func forEach(_ entity: String, _ body: (inout [String: Content.Value]) -> Void) {
        for number in content.records[entity]?.keys.sorted() ?? [] {
            var values = content.records[entity]?[number] ?? [:]
            body(&values)
            content.records[entity]?[number] = values
        }
    }

    private mutating func change(_ random: inout SeededGenerator, _ names: inout Int) {
        names += 1
        let fresh = "n\(names)"
        switch Int.random(in: 0..<16, using: &random) {
        case 14, 15: takeFreedName(&random)
        case 0: add(fresh, &random)
        case 1, 2: drop(&random)
        case 3: rename(fresh, isDeclared: true, &random)
        case 4: rename(fresh, isDeclared: false, &random)
        case 5: swap(&random)
        case 6, 7, 8: retype(&random, &names)
        case 9: require(&random)
        case 10: relax(&random)
        case 11: unique(&random)
        case 12: beginAnew(&random)
        default: addOrDropEntity("F\(names)", &random)
        }
    }

    private mutating func add(
        _ name: String, to wanted: String? = nil, mayHaveOriginal: Bool = true, _ random: inout SeededGenerator
    ) {
        guard
            let place = wanted.map({ name in schema.entities.firstIndex { $0.name == name } })
                ?? schema.entities.indices.randomElement(using: &random)
        else { return }
        let entity = schema.entities[place].name
        var property = Self.attribute(name, &random)
        guard var attribute = property.attribute else { return }
        let value = Self.value(attribute.kind, &random)
        var first = StoredValue.null
        switch Int.random(in: 0..<3, using: &random) {
        case 0: property.isOptional = true
        case 1:
            attribute.defaultValue = value
            property.content = .attribute(attribute)
            first = value
        default:
            property.isOptional = false
            mapping = mapping.filling("\(final(entity)).\(name)", with: value)
            first = value
        }
        if first.isNull, !property.isOptional { property.isOptional = true }
        // An original name of a property that is new says nothing of it.
        let others = old.entity(named: entity)?.properties.filter { $0.attribute != nil } ?? []
        if mayHaveOriginal, random.chance(3), let other = others.randomElement(using: &random) {
            note("add with an original name")
            property.originalName = other.name
            if begun.insert("\(entity).\(name)").inserted { mapping = mapping.fresh("\(final(entity)).\(name)") }
        }
        note("add")
        touched.insert("\(entity).\(name)")
        schema.entities[place].properties.append(property)
        forEach(entity) { $0[name] = .value(first) }
    }

    /// A property that was dropped or has another name in this stage leaves its name to a new one.
    private mutating func takeFreedName(_ random: inout SeededGenerator) {
        guard let entity = schema.entities.randomElement(using: &random)?.name,
            let place = schema.entities.firstIndex(where: { $0.name == entity })
        else { return }
        let used = Set(schema.entities[place].properties.map(\.name))
        let freed = (old.entity(named: entity)?.properties ?? []).filter {
            $0.attribute != nil && !used.contains($0.name)
        }
        guard let name = freed.randomElement(using: &random)?.name, !begun.contains("\(entity).\(name)") else { return }
        note("take a freed name")
        begun.insert("\(entity).\(name)")
        // Where its values have gone to another name the new one need not say that it begins with none.
        let isSaid = !moved.contains("\(entity).\(name)") || random.chance(2)
        if isSaid { mapping = mapping.fresh("\(final(entity)).\(name)") }
        add(name, to: entity, mayHaveOriginal: isSaid, &random)
    }

    private mutating func drop(_ random: inout SeededGenerator) {
        guard let (place, index) = attribute(&random) else { return }
        let (entity, name) = (schema.entities[place].name, schema.entities[place].properties[index].name)
        note("drop")
        schema.entities[place].properties.remove(at: index)
        schema.entities[place].uniquenessConstraints.removeAll { $0.contains(name) }
        // No later change of this stage takes up the name.
        touched.insert("\(entity).\(name)")
        forEach(entity) { $0[name] = nil }
    }

    private mutating func rename(_ name: String, isDeclared: Bool, _ random: inout SeededGenerator) {
        guard let (place, index) = attribute(&random) else { return }
        let (entity, old) = (schema.entities[place].name, schema.entities[place].properties[index].name)
        note(isDeclared ? "rename" : "rename by mapping")
        schema.entities[place].properties[index].name = name
        schema.entities[place].properties[index].originalName = isDeclared ? old : name
        schema.entities[place].uniquenessConstraints = schema.entities[place].uniquenessConstraints.map { names in
            names.map { $0 == old ? name : $0 }
        }
        if !isDeclared { mapping = mapping.renaming("\(final(entity)).\(name)", from: old) }
        touched.formUnion(["\(entity).\(name)", "\(entity).\(old)"])
        moved.insert("\(entity).\(old)")
        forEach(entity) { values in
            values[name] = values[old]
            values[old] = nil
        }
    }

    /// Two properties of one kind exchange their names.
    private mutating func swap(_ random: inout SeededGenerator) {
        guard let (place, first) = attribute(&random) else { return }
        let properties = schema.entities[place].properties
        let entity = schema.entities[place].name
        let others = properties.indices.filter {
            $0 != first && properties[$0].attribute?.kind == properties[first].attribute?.kind
                && properties[$0].isOptional == properties[first].isOptional
                && !touched.contains("\(entity).\(properties[$0].name)")
                && properties[$0].attribute?.defaultValue == properties[first].attribute?.defaultValue
        }
        guard let second = others.randomElement(using: &random) else { return }
        let (a, b) = (properties[first].name, properties[second].name)
        guard !schema.entities[place].uniquenessConstraints.joined().contains(where: { $0 == a || $0 == b }) else {
            return
        }
        // Names that went back would look like names that stay: no schema can say it.
        let before = old.entity(named: entity)?.properties ?? []
        if before.contains(where: { $0.name == a && $0.originalName == b }) { return }
        note("swap")
        schema.entities[place].properties[first].originalName = b
        schema.entities[place].properties[second].originalName = a
        touched.formUnion(["\(entity).\(a)", "\(entity).\(b)"])
        forEach(entity) { values in
            let kept = values[a]
            values[a] = values[b]
            values[b] = kept
        }
    }

    /// Kinds that a rule leads between, and what becomes of a value; nil where the new kind has none for it.
    private static let retypes:
        [(StorageKind, StorageKind, MigrationMapping.Conversion, @Sendable (StoredValue) -> StoredValue?)] = [
            (.int64, .string, .exactly, { if case .integer(let n) = $0 { .string(n.description) } else { nil } }),
            (.int8, .int64, .exactly, { $0 }),
            (.int32, .double, .exactly, { if case .integer(let n) = $0 { .double(Double(n)) } else { nil } }),
            (.int64, .int8, .exactly, { if case .integer(let n) = $0, n >= -128, n <= 127 { $0 } else { nil } }),
            (
                .int64, .int8, .clamping,
                { if case .integer(let n) = $0 { .integer(max(-128, min(127, n))) } else { nil } }
            ),
            (.int64, .int8, .nilIfNot, { if case .integer(let n) = $0, n >= -128, n <= 127 { $0 } else { .null } }),
            (
                .string, .int64, .nilIfNot,
                { if case .string(let s) = $0, let n = Int64(s) { .integer(n) } else { .null } }
            ),
            (.bool, .int64, .exactly, { if case .bool(let flag) = $0 { .integer(flag ? 1 : 0) } else { nil } }),
            (.uuid, .string, .exactly, { if case .uuid(let id) = $0 { .string(id.uuidString) } else { nil } }),
            (
                .date, .double, .exactly,
                { if case .date(let date) = $0 { .double(date.timeIntervalSinceReferenceDate) } else { nil } }
            ),
            (
                .double, .int64, .nilIfNot,
                { if case .double(let d) = $0, d == d.rounded(), abs(d) < 1e18 { .integer(Int64(d)) } else { .null } }
            ),
            (.float, .double, .exactly, { if case .float(let f) = $0 { .double(Double(f)) } else { nil } }),
            (.int32, .decimal, .exactly, { if case .integer(let n) = $0 { .decimal(Decimal(n)) } else { nil } }),
        ]

    private mutating func retype(_ random: inout SeededGenerator, _ names: inout Int) {
        let kinds = Set(Self.retypes.map(\.0))
        guard let (place, index) = attribute(&random, where: { kinds.contains($0.attribute?.kind ?? .coded) }),
            var attribute = schema.entities[place].properties[index].attribute,
            let way = Self.retypes.filter({ $0.0 == attribute.kind }).randomElement(using: &random)
        else { return }
        let entity = schema.entities[place].name
        let original = schema.entities[place].properties[index].name
        guard !schema.entities[place].uniquenessConstraints.joined().contains(original) else { return }
        // Values are converted before duplicates go; here they are gone.
        guard rules.isEmpty else { return }
        note("retype")
        attribute.kind = way.1
        attribute.defaultValue = nil
        schema.entities[place].properties[index].content = .attribute(attribute)
        schema.entities[place].properties[index].isOptional = true
        names += 1
        let name = random.chance(3) ? "n\(names)" : original
        if name != original {
            note("retype and rename")
            schema.entities[place].properties[index].name = name
            if random.chance(2) {
                schema.entities[place].properties[index].originalName = original
            } else {
                schema.entities[place].properties[index].originalName = name
                mapping = mapping.renaming("\(final(entity)).\(name)", from: original)
            }
            forEach(entity) { values in
                values[name] = values[original]
                values[original] = nil
            }
        }
        mapping = mapping.converting("\(final(entity)).\(name)", way.2)
        touched.formUnion(["\(entity).\(name)", "\(entity).\(original)"])
        if name != original { moved.insert("\(entity).\(original)") }
        var refused = 0
        forEach(entity) { values in
            guard case .value(let old)? = values[name], !old.isNull else { return }
            if let new = way.3(old) {
                values[name] = .value(new)
            } else {
                refused += 1
            }
        }
        if refused > 0 { refusal = .values("\(final(entity)).\(name)", refused) }
    }

    private mutating func require(_ random: inout SeededGenerator) {
        guard let (place, index) = attribute(&random, where: \.isOptional),
            let kind = schema.entities[place].properties[index].attribute?.kind
        else { return }
        let entity = schema.entities[place].name
        let name = schema.entities[place].properties[index].name
        // Filled with one value, several would have the same.
        guard !schema.entities[place].uniquenessConstraints.joined().contains(name) else { return }
        note("require")
        schema.entities[place].properties[index].isOptional = false
        touched.insert("\(entity).\(name)")
        let value = Self.value(kind, &random)
        let isFilled = !random.chance(3)
        if isFilled { mapping = mapping.filling("\(final(entity)).\(name)", with: value) }
        var missing = false
        forEach(entity) { values in
            guard case .value(let old)? = values[name], old.isNull else { return }
            if isFilled { values[name] = .value(value) } else { missing = true }
        }
        if missing { refusal = .missing }
    }

    private mutating func relax(_ random: inout SeededGenerator) {
        guard let (place, index) = attribute(&random, where: { !$0.isOptional }) else { return }
        note("relax")
        touched.insert("\(schema.entities[place].name).\(schema.entities[place].properties[index].name)")
        schema.entities[place].properties[index].isOptional = true
    }

    private mutating func unique(_ random: inout SeededGenerator) {
        guard let (place, index) = attribute(&random, where: { [.string, .int64, .uuid].contains($0.attribute?.kind) })
        else { return }
        let entity = schema.entities[place].name
        let name = schema.entities[place].properties[index].name
        guard !schema.entities[place].uniquenessConstraints.contains([name]), rules.isEmpty else { return }
        note("unique")
        touched.insert("\(entity).\(name)")
        schema.entities[place].uniquenessConstraints.append([name])
        var groups: [[UInt64]] = []
        var keys: [StoredValue] = []
        for (number, values) in (content.records[entity] ?? [:]).sorted(by: { $0.key < $1.key }) {
            guard case .value(let key)? = values[name], !key.isNull else { continue }
            if let group = keys.firstIndex(of: key) {
                groups[group].append(number)
            } else {
                keys.append(key)
                groups.append([number])
            }
        }
        let isLast = random.chance(2)
        if random.chance(4) {
            if groups.contains(where: { $0.count > 1 }) { refusal = .duplicates }
            return
        }
        rules.append(.keep(isLast ? .last : .first, on: final(entity), [name]))
        var survivors: [UInt64: UInt64] = [:]
        for group in groups {
            guard let survivor = isLast ? group.last : group.first else { continue }
            for number in group where number != survivor { survivors[number] = survivor }
        }
        let partners = content.partners(of: entity, schema, survivors)
        for group in groups where group.count > 1 {
            guard let survivor = isLast ? group.last : group.first else { continue }
            let gone = Set(group).subtracting([survivor])
            for number in group where number != survivor {
                for (link, value) in content.records[entity]?[number] ?? [:] {
                    guard case .links(let target, let members) = value,
                        case .links(_, let own)? = content.records[entity]?[survivor]?[link]
                    else { continue }
                    content.records[entity]?[survivor]?[link] = .links(target, own.union(members))
                }
                content.records[entity]?[number] = nil
            }
            content.relink { target, number in target == entity && gone.contains(number) ? survivor : number }
        }
        for (owner, property, value) in partners {
            if content.records[owner.0]?[owner.1] == nil { continue }
            content.records[owner.0]?[owner.1]?[property] = value
        }
    }

    /// A property goes, and another one has its name.
    private mutating func beginAnew(_ random: inout SeededGenerator) {
        guard let (place, index) = attribute(&random) else { return }
        let entity = schema.entities[place].name
        let name = schema.entities[place].properties[index].name
        guard !schema.entities[place].uniquenessConstraints.joined().contains(name) else { return }
        note("begin anew")
        var property = Self.attribute(name, &random)
        property.isOptional = true
        schema.entities[place].properties[index] = property
        mapping = mapping.fresh("\(final(entity)).\(name)")
        touched.insert("\(entity).\(name)")
        forEach(entity) { $0[name] = .value(.null) }
    }

    private mutating func addOrDropEntity(_ name: String, _ random: inout SeededGenerator) {
        if schema.entities.count > 1, random.chance(2), touched.isEmpty, rules.isEmpty,
            let gone = schema.entities.randomElement(using: &random)?.name
        {
            note("drop entity")
            drop(entity: gone)
            finals[gone] = nil
            // Those whose name it was to have would have none.
            for (entity, name) in finals where schema.entity(named: entity) == nil || name == gone {
                finals[entity] = nil
            }
            return
        }
        note("add entity")
        schema.entities.append(StoredEntity(name: name, properties: [Self.attribute("p", &random)]))
        touched.insert("\(name).p")
        schema = StoredSchema(version: schema.version, entities: schema.entities)
    }
}

extension RandomStage {
    private mutating func drop(entity gone: String) {
        schema.entities.removeAll { $0.name == gone }
        content.records[gone] = nil
        for place in schema.entities.indices {
            let links = schema.entities[place].properties.filter { $0.relationship?.destination == gone }.map(\.name)
            schema.entities[place].properties.removeAll { links.contains($0.name) }
            forEach(schema.entities[place].name) { values in
                for link in links { values[link] = nil }
            }
        }
    }
}

extension StoredSchema {
    /// The schema with entities under new names, which they declare.
    fileprivate func taking(_ names: [String: String]) -> StoredSchema {
        var entities = entities
        for place in entities.indices {
            for index in entities[place].properties.indices {
                guard case .relationship(var relationship) = entities[place].properties[index].content else { continue }
                relationship.destination = names[relationship.destination] ?? relationship.destination
                entities[place].properties[index].content = .relationship(relationship)
            }
            guard let name = names[entities[place].name] else { continue }
            entities[place].originalName = entities[place].name
            entities[place].name = name
        }
        return StoredSchema(version: version, entities: entities)
    }
}

extension RandomStage.Content {
    fileprivate func taking(_ names: [String: String]) -> Self {
        var result = self
        result.records = [:]
        for (entity, rows) in records {
            result.records[names[entity] ?? entity] = rows.mapValues { values in
                values.mapValues { value in
                    switch value {
                    case .value: value
                    case .link(let target, let number): .link(names[target] ?? target, number)
                    case .links(let target, let numbers): .links(names[target] ?? target, numbers)
                    }
                }
            }
        }
        return result
    }
}
