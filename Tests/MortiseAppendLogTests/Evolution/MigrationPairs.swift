import Foundation
import MortiseCore
import TestSupport

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

    // MARK: Schemas and records to begin with

    static func schema(_ random: inout SeededGenerator, _ names: inout Int) -> StoredSchema {
        func name(_ letter: String) -> String {
            names += 1
            return "\(letter)\(names)"
        }
        let entities = (0..<Int.random(in: 1...3, using: &random)).map { _ in name("E") }
        return StoredSchema(
            version: Schema.Version(1, 0, 0),
            entities: entities.map { entity in
                var properties = (0..<Int.random(in: 1...6, using: &random)).map { _ in
                    attribute(name("p"), &random)
                }
                for _ in 0..<Int.random(in: 0...2, using: &random) {
                    properties.append(link(name("r"), to: entities.randomElement(using: &random) ?? entity, &random))
                }
                return StoredEntity(name: entity, properties: properties)
            }.addingInverses(&random, &names))
    }

    private static let kindsOfValues: [StorageKind] = [
        .bool, .int8, .int32, .int64, .uint64, .float, .double, .decimal, .string, .date, .uuid, .data,
    ]

    private static func attribute(_ name: String, _ random: inout SeededGenerator) -> StoredProperty {
        StoredProperty(
            name: name, isOptional: random.chance(2),
            content: .attribute(StoredAttribute(kind: kindsOfValues.randomElement(using: &random) ?? .string)))
    }

    private static func link(_ name: String, to entity: String, _ random: inout SeededGenerator) -> StoredProperty {
        let isToMany = random.chance(2)
        return StoredProperty(
            name: name, isOptional: !isToMany,
            content: .relationship(StoredRelationship(destination: entity, isToMany: isToMany)))
    }

    static func value(_ kind: StorageKind, _ random: inout SeededGenerator) -> StoredValue {
        let number = [0, 1, -1, 7, 42, 127, -128, 300, .max, .min].randomElement(using: &random) ?? Int64(0)
        switch kind {
        case .bool: return .bool(random.chance(2))
        case .int8: return .integer(Int64(Int8(truncatingIfNeeded: number)))
        case .int32: return .integer(Int64(Int32(truncatingIfNeeded: number)))
        case .uint64: return .unsigned(UInt64(truncatingIfNeeded: number))
        case .float: return .float([0, -0.0, 1.5, .infinity, 1e30].randomElement(using: &random) ?? 0)
        case .double: return .double([0, -0.0, 2.5, 3.5, 0.1, 1e300, -.infinity].randomElement(using: &random) ?? 0)
        case .decimal:
            return .decimal(
                [Decimal(1), Decimal(-7), Decimal(sign: .plus, exponent: -2, significand: 12345)]
                    .randomElement(using: &random) ?? 0)
        case .date:
            return .date(Date(timeIntervalSinceReferenceDate: Double(Int.random(in: -9...9, using: &random)) / 7))
        case .uuid:
            return .uuid(
                UUID(uuid: (UInt8.random(in: 0...3, using: &random), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1)))
        case .data:
            return .data(Data(repeating: 7, count: random.chance(4) ? 5_000 : Int.random(in: 0...3, using: &random)))
        case .string:
            return .string(["", "a", "b", "é", "e\u{301}", "42", "-7", "x y"].randomElement(using: &random) ?? "")
        default: return .integer(number)
        }
    }

    static func content(of schema: StoredSchema, _ random: inout SeededGenerator) -> Content {
        var content = Content()
        for entity in schema.entities {
            for _ in 0..<(random.chance(8) ? 0 : Int.random(in: 1...12, using: &random)) {
                content.records[entity.name, default: [:]][content.next] = [:]
                content.next += 1
            }
        }
        for entity in schema.entities {
            for number in content.records[entity.name]?.keys.sorted() ?? [] {
                for property in entity.properties {
                    if property.relationship?.inverse != nil { continue }
                    let value = Self.value(of: property, in: content, &random)
                    content.records[entity.name]?[number]?[property.name] = value
                }
            }
        }
        for pair in schema.pairs { content.fill(pair, &random) }
        return content
    }

    private static func value(
        of property: StoredProperty, in content: Content, _ random: inout SeededGenerator
    ) -> Content.Value {
        if let attribute = property.attribute {
            return .value(property.isOptional && random.chance(4) ? .null : value(attribute.kind, &random))
        }
        guard let relationship = property.relationship else { return .value(.null) }
        let targets = content.records[relationship.destination]?.keys.sorted() ?? []
        if relationship.isToMany {
            return .links(relationship.destination, Set(targets.filter { _ in random.chance(3) }))
        }
        guard !random.chance(3), let target = targets.randomElement(using: &random) else { return .value(.null) }
        return .link(relationship.destination, target)
    }

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

// MARK: Relationships with inverses

/// Two relationships that are each other's inverse; the first leads to one record and is stored.
struct RandomPair {
    let entity: String
    let name: String
    let destination: String
    let inverse: String
    /// Whether the inverse leads to one record, too.
    let isOneToOne: Bool
}

extension StoredSchema {
    /// The pairs, each once.
    var pairs: [RandomPair] {
        entities.flatMap { entity in
            entity.properties.compactMap { property -> RandomPair? in
                guard let relationship = property.relationship, !relationship.isToMany,
                    let name = relationship.inverse,
                    let back = self.entity(named: relationship.destination)?.properties.first(where: { $0.name == name }
                    )?
                    .relationship
                else { return nil }
                // Of two that lead to one record each, the first by name.
                if !back.isToMany, name < property.name { return nil }
                return RandomPair(
                    entity: entity.name, name: property.name, destination: relationship.destination, inverse: name,
                    isOneToOne: !back.isToMany)
            }
        }
    }
}

extension [StoredEntity] {
    fileprivate func addingInverses(_ random: inout SeededGenerator, _ names: inout Int) -> [StoredEntity] {
        var entities = self
        for _ in 0..<Int.random(in: 0...2, using: &random) {
            guard let first = indices.randomElement(using: &random), let second = indices.randomElement(using: &random)
            else { continue }
            names += 2
            let (name, inverse, isToMany) = ("r\(names - 1)", "r\(names)", random.chance(2))
            entities[first].properties.append(
                StoredProperty(
                    name: name, isOptional: true,
                    content: .relationship(
                        StoredRelationship(destination: self[second].name, isToMany: false, inverse: inverse))))
            entities[second].properties.append(
                StoredProperty(
                    name: inverse, isOptional: !isToMany,
                    content: .relationship(
                        StoredRelationship(destination: self[first].name, isToMany: isToMany, inverse: name))))
        }
        return entities
    }
}

extension RandomStage.Content {
    fileprivate mutating func fill(_ pair: RandomPair, _ random: inout SeededGenerator) {
        let owners = records[pair.entity]?.keys.sorted() ?? []
        var free = Set(records[pair.destination]?.keys.sorted() ?? [])
        for owner in owners { records[pair.entity]?[owner]?[pair.name] = .value(.null) }
        if pair.isOneToOne {
            for number in free { records[pair.destination]?[number]?[pair.inverse] = .value(.null) }
        }
        for owner in owners where !random.chance(3) {
            guard let target = free.sorted().randomElement(using: &random) else { continue }
            records[pair.entity]?[owner]?[pair.name] = .link(pair.destination, target)
            guard pair.isOneToOne else { continue }
            free.remove(target)
            records[pair.destination]?[target]?[pair.inverse] = .link(pair.entity, owner)
        }
    }

    /// What one-to-one relationships lead to when records become one with others: a survivor without a partner gets the first
    /// partner of those that go, and the other partners have none any more.
    fileprivate func partners(
        of entity: String, _ schema: StoredSchema, _ survivors: [UInt64: UInt64]
    ) -> [(owner: (String, UInt64), property: String, value: Value)] {
        var changes: [(owner: (String, UInt64), property: String, value: Value)] = []
        for pair in schema.pairs where pair.isOneToOne {
            var sides: [(String, String, String, String)] = []
            if pair.entity == entity { sides.append((pair.entity, pair.name, pair.destination, pair.inverse)) }
            if pair.destination == entity { sides.append((pair.destination, pair.inverse, pair.entity, pair.name)) }
            for (own, name, other, back) in sides {
                var given: [UInt64: UInt64] = [:]
                for (gone, survivor) in survivors.sorted(by: { $0.key < $1.key }) {
                    guard case .link(_, let partner)? = records[own]?[gone]?[name],
                        other != entity || survivors[partner] == nil
                    else { continue }
                    if case .link? = records[own]?[survivor]?[name] {
                        changes.append(((other, partner), back, .value(.null)))
                    } else if given[survivor] == nil {
                        given[survivor] = partner
                        changes.append(((own, survivor), name, .link(other, partner)))
                        changes.append(((other, partner), back, .link(own, survivor)))
                    } else {
                        changes.append(((other, partner), back, .value(.null)))
                    }
                }
            }
        }
        return changes
    }
}
