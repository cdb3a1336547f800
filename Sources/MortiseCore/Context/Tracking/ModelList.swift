/// Models in the order in which they were added, each once, found and removed in constant time: a model knows its place
/// in the one list that it is in.
struct ModelList: Sequence {
    /// The models of one table that are in the list.
    private struct Part {
        let table: ObjectIdentifier
        /// An upper bound: models that leave their table before they leave the list are still counted.
        var count = 0
        /// The places that they were added in, ascending; of those that have left as well.
        var places: [Int] = []
    }

    private var models: [(any PersistentModel)?] = []
    private(set) var count = 0
    /// Where models are by their identifiers, as far as `indexed`; made for those who ask.
    private var places: [PersistentIdentifier: Int] = [:]
    private var indexed = 0
    /// The entities of all models that have been in the list since it was empty.
    private(set) var entities: Set<String> = []
    private var parts: [Part] = []
    private var lastPart = 0
    private var indexes = ValueIndexes()

    var isEmpty: Bool { count == 0 }

    mutating func append(_ model: any PersistentModel) {
        if contains(model) { return }
        if let table = model._host?.takeUnretainedValue() { countIn(table) }
        models.append(model)
        model._modelState.place = UInt32(truncatingIfNeeded: models.count)
        count += 1
    }

    private mutating func countIn(_ table: ModelHost) {
        if part(of: table) == nil {
            lastPart = parts.count
            parts.append(Part(table: ObjectIdentifier(table)))
            entities.insert(table.entityName)
        }
        parts[lastPart].count += 1
        parts[lastPart].places.append(models.count)
    }

    // Models mostly come many of one table after the other.
    private mutating func part(of table: ModelHost) -> Int? {
        if lastPart < parts.count, parts[lastPart].table == ObjectIdentifier(table) { return lastPart }
        guard let part = parts.firstIndex(where: { $0.table == ObjectIdentifier(table) }) else { return nil }
        lastPart = part
        return part
    }

    /// An upper bound of how many models of a table are in the list.
    func count(of table: ModelHost) -> Int { parts.first { $0.table == ObjectIdentifier(table) }?.count ?? 0 }

    /// The models of a table, in the list's order. Those of other tables are not gone through.
    func models(of table: ModelHost) -> [any PersistentModel] {
        guard let part = parts.first(where: { $0.table == ObjectIdentifier(table) }) else { return [] }
        return part.places.compactMap { model(in: $0, of: table) }
    }

    private func model(in place: Int, of table: ModelHost) -> (any PersistentModel)? {
        guard let model = models[place], model._host?.takeUnretainedValue() === table else { return nil }
        return model
    }

    mutating func remove(_ model: any PersistentModel) {
        guard contains(model) else { return }
        if let table = model._host?.takeUnretainedValue(), let part = part(of: table) {
            parts[part].count -= 1
        }
        models[Int(model._place) - 1] = nil
        model._modelState.place = 0
        count -= 1
        if count == 0 {
            self = ModelList()
        } else if models.count > 32, count < models.count / 2 {
            close()
        }
    }

    /// Closes the gaps that models have left.
    private mutating func close() {
        for part in parts.indices { parts[part].places.removeAll { models[$0] == nil } }
        var moved: [Int] = []
        moved.reserveCapacity(models.count)
        for (place, model) in models.enumerated() {
            moved.append(place == 0 ? 0 : moved[place - 1] + (models[place - 1] == nil ? 0 : 1))
            model?._modelState.place = UInt32(truncatingIfNeeded: moved[place] + 1)
        }
        for part in parts.indices {
            for place in parts[part].places.indices {
                parts[part].places[place] = moved[parts[part].places[place]]
            }
        }
        models.removeAll { $0 == nil }
        (places, indexed) = ([:], 0)
        indexes = ValueIndexes()
    }

    /// An index may be left over from another list, so the entry there decides.
    func contains(_ model: any PersistentModel) -> Bool {
        let place = Int(model._place)
        return place > 0 && place <= models.count && models[place - 1] === model
    }
    var underestimatedCount: Int { count }

    /// The model in a place, counted from 1; nil if it has left.
    func model(at place: Int) -> (any PersistentModel)? {
        place > 0 && place <= models.count ? models[place - 1] : nil
    }

    /// The model with an identifier that no model has lost while it is in the list.
    mutating func first(_ identifier: PersistentIdentifier) -> (any PersistentModel)? {
        while indexed < models.count {
            if let model = models[indexed] { places[model.persistentModelID] = indexed }
            indexed += 1
        }
        guard let place = places[identifier], let model = models[place], model.persistentModelID == identifier else {
            return nil
        }
        return model
    }

    struct Iterator: IteratorProtocol {
        fileprivate var models: IndexingIterator<[(any PersistentModel)?]>

        mutating func next() -> (any PersistentModel)? {
            while let next = models.next() {
                if let model = next { return model }
            }
            return nil
        }
    }

    func makeIterator() -> Iterator { Iterator(models: models.makeIterator()) }
}

// MARK: - Finding by value

extension ModelList {
    /// Fewer models are gone through faster than they are looked up.
    private static let fewest = 32

    /// The models of a table that may have one of the values in a slot, each once and in the list's order, and possibly
    /// others; nil if going through all of them is as good.
    mutating func candidates(in table: ModelHost, at slot: Int, _ values: [StoredValue]) -> [any PersistentModel]? {
        guard count(of: table) > Self.fewest, let part = part(of: table) else { return nil }
        table.indexedSlots.insert(slot)
        let found = indexes.places(
            of: values, in: ObjectIdentifier(table), at: slot, models, among: parts[part].places)
        return found.compactMap { model(in: $0, of: table) }
    }

    /// The same for the one of several keys that the fewest models may have. A key that few have is not compared with those behind it.
    mutating func candidates(in table: ModelHost, _ keys: [LookupKey]) -> [any PersistentModel]? {
        guard var best = keys.first else { return nil }
        if keys.count > 1, count(of: table) > Self.fewest, let part = part(of: table) {
            var least = Int.max
            for key in keys where least > Self.fewest {
                table.indexedSlots.insert(key.slot)
                let count = indexes.count(
                    of: key.values, in: ObjectIdentifier(table), at: key.slot, models, among: parts[part].places)
                if count < least { (least, best) = (count, key) }
            }
        }
        return candidates(in: table, at: best.slot, best.values)
    }

    /// Notes that the model in a place has another value in a slot.
    mutating func noteValue(_ value: StoredValue, at slot: Int, in table: ModelHost, place: Int) {
        indexes.add(value, place - 1, in: ObjectIdentifier(table), at: slot, of: count(of: table))
    }

    /// Forgets what was noted of values, because many have changed.
    mutating func forgetValues() { indexes = ValueIndexes() }
}

/// The places of a list's models by their values in some slots of some tables. Each is made when it is first asked, goes on
/// where it ended when the list has grown, and may name places whose models have other values by now.
private struct ValueIndexes {
    private struct Key: Hashable {
        let table: ObjectIdentifier
        let slot: Int
    }
    private struct Index {
        var places: [LookupValue: [Int]] = [:]
        /// The places of models that have not set the value, or to one that cannot be stored.
        var others: [Int] = []
        /// How many of the table's places are in it, and where in the list the next one can be.
        var (count, end) = (0, 0)
        /// How many places were added again.
        var surplus = 0

        mutating func extend(over models: [(any PersistentModel)?], among all: [Int], at slot: Int) {
            for place in all[count...] {
                guard let model = models[place] else { continue }
                if let value = model._comparableValue(at: slot) {
                    places[LookupValue(value), default: []].append(place)
                } else {
                    others.append(place)
                }
            }
            count = all.count
            end = (all.last ?? -1) + 1
        }
    }
    private var all: [Key: Index] = [:]

    /// `among` are the places of the table.
    mutating func places(
        of values: [StoredValue], in table: ObjectIdentifier, at slot: Int, _ models: [(any PersistentModel)?],
        among places: [Int]
    ) -> [Int] {
        guard let own = upToDate(in: table, at: slot, models, among: places) else { return [] }
        let index = all.values[own]
        if values.count == 1, index.others.isEmpty {
            guard let found = index.places[LookupValue(values[0])] else { return [] }
            if found.count < 2 { return found }
        }
        return Set(values.flatMap { index.places[LookupValue($0)] ?? [] } + index.others).sorted()
    }

    /// How many places `places` would look through.
    mutating func count(
        of values: [StoredValue], in table: ObjectIdentifier, at slot: Int, _ models: [(any PersistentModel)?],
        among places: [Int]
    ) -> Int {
        guard let own = upToDate(in: table, at: slot, models, among: places) else { return 0 }
        return values.reduce(all.values[own].others.count) {
            $0 + (all.values[own].places[LookupValue($1)]?.count ?? 0)
        }
    }

    /// Where an index is that has all places of its table.
    private mutating func upToDate(
        in table: ObjectIdentifier, at slot: Int, _ models: [(any PersistentModel)?], among places: [Int]
    ) -> Dictionary<Key, Index>.Index? {
        let key = Key(table: table, slot: slot)
        if all.index(forKey: key) == nil { all[key] = Index() }
        // In its place: taking it out and putting it back is dearer than the look-up.
        guard let own = all.index(forKey: key) else { return nil }
        if all.values[own].count < places.count { all.values[own].extend(over: models, among: places, at: slot) }
        return own
    }

    mutating func add(_ value: StoredValue, _ place: Int, in table: ObjectIdentifier, at slot: Int, of count: Int) {
        let key = Key(table: table, slot: slot)
        guard let end = all[key]?.end, 0..<end ~= place else { return }
        let value = LookupValue(value)
        if all[key]?.places[value]?.last == place { return }
        all[key]?.places[value, default: []].append(place)
        all[key]?.surplus += 1
        // A value that changes again and again would fill it.
        if let surplus = all[key]?.surplus, surplus > count { all[key] = nil }
    }
}
