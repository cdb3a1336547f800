import Foundation

// One layout for each type, ever: descriptions are read first, without a lock; then layouts are made of them under the
// lock, where no code of a model runs, and published when everything that they reach is finished.

extension ModelLayout {
    private static let lock = NSLock()
    /// Finished layouts only. What a layout reaches is registered with it.
    nonisolated(unsafe) private static var registry: [ObjectIdentifier: ModelLayout] = [:]

    /// The layout of a model type; made on first use. A provisional one if a default value asks for it, while the metadata
    /// that the default value belongs to is read.
    static func of(_ type: any PersistentModel.Type) -> ModelLayout {
        registered(type) ?? LayoutGathering.perform { $0.layout(of: type) }
    }

    /// The layouts of all types of this process whose entity has that name, such as versions of one model.
    static func all(named entityName: String) -> [ModelLayout] { all.filter { $0.entityName == entityName } }

    /// The layouts of all types of this process that have been asked for.
    static var all: [ModelLayout] { lock.withLock { Array(registry.values) } }

    /// The layouts of the given types, first, and of everything that they reach through relationships and superclasses.
    static func closure(of types: [any PersistentModel.Type]) -> [ModelLayout] {
        LayoutGathering.perform { $0.closure(of: types) }
    }

    fileprivate static func registered(_ type: any PersistentModel.Type) -> ModelLayout? {
        PublishedLayouts.layout(of: ObjectIdentifier(type))
    }

    /// Makes the layouts of types whose descriptions, and those of everything that they reach, have been read. Other
    /// threads may have read the same types: the first to come here makes their layouts.
    fileprivate static func make(
        _ types: [any PersistentModel.Type], from descriptions: [ObjectIdentifier: ModelDescription]
    ) -> [ModelLayout] {
        lock.withLock {
            var fresh: [ModelLayout] = []
            var made: [ObjectIdentifier: ModelLayout] = [:]
            func layout(of type: any PersistentModel.Type) -> ModelLayout? {
                let identity = ObjectIdentifier(type)
                if let known = registry[identity] ?? made[identity] { return known }
                guard let description = descriptions[identity] else { return nil }
                // Superclasses come first: what their relationships go with is decided there.
                let layout = ModelLayout(description, superlayout: description.superclass.flatMap(layout(of:)))
                made[identity] = layout
                fresh.append(layout)
                return layout
            }
            let layouts = types.compactMap(layout(of:))
            for layout in fresh { layout.destinations = layout.destinationTypes.map { $0.flatMap(layout(of:)) } }
            resolveInverses(of: fresh)
            for layout in fresh { layout.finish() }
            registry.merge(made) { known, _ in known }
            if !made.isEmpty { PublishedLayouts.publish(made, among: registry) }
            return layouts
        }
    }

    /// A layout for models that exist before the layouts of what they reach.
    fileprivate static func provisional(_ description: ModelDescription, _ superlayout: ModelLayout?) -> ModelLayout {
        let layout = ModelLayout(description, superlayout: superlayout, isProvisional: true)
        layout.destinations = layout.properties.map { _ in nil }
        resolveInverses(of: [layout])
        layout.finish()
        return layout
    }
}

/// The reading of model types on one thread, from the first call that needs a new layout until that layout is there.
///
/// Default values run meanwhile and may make models of types that are just being read. Those work with provisional layouts,
/// and are linked to each other when the layouts are there.
final class LayoutGathering {
    private var reading: Set<ObjectIdentifier> = []
    private var rereading: Set<ObjectIdentifier> = []
    private var descriptions: [ObjectIdentifier: ModelDescription] = [:]
    private var postponed: [(model: any PersistentModel, link: () -> Void)] = []

    private static let key = "MortiseCore.LayoutGathering"
    private static var current: LayoutGathering? {
        get { Thread.current.threadDictionary[key] as? LayoutGathering }
        set { Thread.current.threadDictionary[key] = newValue }
    }

    fileprivate static func perform<R>(_ body: (LayoutGathering) -> R) -> R {
        if let current { return body(current) }
        let gathering = LayoutGathering()
        current = gathering
        let result = body(gathering)
        current = nil
        for (_, link) in gathering.postponed { link() }
        return result
    }

    /// Calls what links a model to those that it holds when there are layouts for that, once.
    static func postponeLinks(of model: any PersistentModel, _ link: @escaping () -> Void) {
        guard let current, !current.postponed.contains(where: { $0.model === model }) else { return }
        current.postponed.append((model, link))
    }

    fileprivate func layout(of type: any PersistentModel.Type) -> ModelLayout {
        let (types, isComplete) = reach([type])
        if isComplete, let layout = ModelLayout.make(types, from: descriptions).first { return layout }
        return provisional(type)
    }

    fileprivate func closure(of types: [any PersistentModel.Type]) -> [ModelLayout] {
        let (types, isComplete) = reach(types)
        if isComplete { return ModelLayout.make(types, from: descriptions) }
        // Enough for `validate()`, which refuses the schema.
        return types.filter { reading.contains(ObjectIdentifier($0)) }.map(unreadable)
    }

    private func unreadable(_ type: any PersistentModel.Type) -> ModelLayout {
        ModelLayout.provisional(ModelDescription(unreadable: type), nil)
    }

    /// Reads the given types and everything that they reach.
    /// - Returns: all of them, and whether all could be read; not those that are being read already, further up.
    private func reach(
        _ types: [any PersistentModel.Type]
    ) -> (types: [any PersistentModel.Type], isComplete: Bool) {
        var found: [any PersistentModel.Type] = []
        var seen: Set<ObjectIdentifier> = []
        var isComplete = true
        var pending = types
        var next = 0
        while next < pending.count {
            let type = pending[next]
            next += 1
            guard seen.insert(ObjectIdentifier(type)).inserted else { continue }
            found.append(type)
            if let layout = ModelLayout.registered(type) {
                if let parent = layout.superlayout { pending.append(parent.type) }
                pending += layout.destinationTypes.compactMap(\.self)
            } else if let description = description(of: type) {
                if let parent = description.superclass { pending.append(parent) }
                pending += description.properties.compactMap(\.reading.destination)
            } else {
                isComplete = false
            }
        }
        return (found, isComplete)
    }

    /// Nil if the type is being read already, further up.
    private func description(of type: any PersistentModel.Type) -> ModelDescription? {
        let identity = ObjectIdentifier(type)
        if let known = descriptions[identity] { return known }
        guard reading.insert(identity).inserted else { return nil }
        let description = ModelDescription(type)
        reading.remove(identity)
        descriptions[identity] = description
        return description
    }

    /// Reads a type that is being read once more, but not again inside that: the default value that has just made a model
    /// of the type then comes to an end as it did before, and one that asks for the layout without a model does not.
    private func provisional(_ type: any PersistentModel.Type) -> ModelLayout {
        if let layout = ModelLayout.registered(type) { return layout }
        var description = description(of: type)
        if description == nil, rereading.insert(ObjectIdentifier(type)).inserted {
            description = ModelDescription(type)
            rereading.remove(ObjectIdentifier(type))
        }
        guard let description else { return unreadable(type) }
        return ModelLayout.provisional(description, description.superclass.map(provisional))
    }
}
