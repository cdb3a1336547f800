extension RecordLayout {
    /// Where the values of each slot are in records of an older layout of the same entity, by name and by original name.
    ///
    /// A property whose original name the older layout has comes from there, so that two properties can exchange their names;
    /// but not again once the older layout has the property itself under that original name. Every other property comes from
    /// the one of its own name, if no property of this layout was renamed from that. Whether both hold values of one kind is
    /// not looked at.
    /// - Returns: for each slot of this layout the slot of the older one; nil for a property that is new.
    public func origins(in old: RecordLayout) -> [Int?] {
        Self.origins(of: slots.map(Name.init), in: old.slots.map(Name.init))
    }

    /// As `origins(in:)` of a layout that has some of the slots only.
    func origins(of slots: [Int], in old: RecordLayout) -> [Int?] {
        Self.origins(of: slots.map { Name(self.slots[$0]) }, in: old.slots.map(Name.init))
    }

    /// What properties are told apart by.
    struct Name {
        let name: String
        /// Equal to `name` for a property that was not renamed.
        let originalName: String
        /// Without a value in any storage.
        var isEphemeral = false

        var isRenamed: Bool { originalName != name }
    }

    static func origins(of names: [Name], in old: [Name]) -> [Int?] {
        let before = Places(old)
        func place(of new: Name, called name: String) -> Int? {
            before.byName[name]?.first { new.isEphemeral || !old[$0].isEphemeral }
        }
        // Most are what they were, and a schema may have thousands.
        guard names.contains(where: \.isRenamed) else { return names.map { place(of: $0, called: $0.name) } }
        let after = Places(names)
        func isDone(_ new: Name) -> Bool {
            new.isRenamed && before.byName[new.name]?.contains { old[$0].originalName == new.originalName } == true
        }
        func chained(_ new: Name) -> Int? {
            guard new.isRenamed else { return nil }
            return before.byOriginalName[new.originalName]?.first {
                (new.isEphemeral || !old[$0].isEphemeral) && after.byName[old[$0].name] == nil
            }
        }
        let renamed = names.map { new -> Int? in
            guard new.isRenamed, !isDone(new) else { return nil }
            if let keeper = after.byName[new.originalName]?.first.map({ names[$0] }),
                isDone(keeper) || (!keeper.isRenamed && chained(new) != nil)
            {
                return nil
            }
            return place(of: new, called: new.originalName)
        }
        let taken = Set(renamed.compactMap(\.self))
        return zip(names, renamed).map { new, origin in
            if let origin { return origin }
            if let same = place(of: new, called: new.name), !taken.contains(same) { return same }
            return chained(new)
        }
    }

    /// Where names are, in order.
    private struct Places {
        private(set) var byName: [String: [Int]]
        /// Of those that were renamed.
        private(set) var byOriginalName: [String: [Int]] = [:]

        init(_ names: [Name]) {
            byName = Dictionary(minimumCapacity: names.count)
            for (place, name) in names.enumerated() {
                byName[name.name, default: []].append(place)
                if name.isRenamed { byOriginalName[name.originalName, default: []].append(place) }
            }
        }
    }
}

extension RecordLayout.Name {
    fileprivate init(_ slot: RecordLayout.Slot) {
        self.init(
            name: slot.name, originalName: slot.property.originalName,
            isEphemeral: slot.property.attribute?.options.contains(.ephemeral) == true)
    }
}
