import Foundation
import MortiseCore

/// What a program did not come out as.
struct Difference: Error, CustomStringConvertible {
    /// The step after which it showed.
    let step: Int
    let description: String
}

/// Does a program's steps with models, contexts and a store, and compares with the reference after every step.
final class Runner {
    let world: World
    private let kind: StoreKind
    private let folder: String
    private let schema: Schema
    private let classes: [World.Entity: any GeneratedModel.Type]
    private let accessors: [World.Entity: [(property: World.Property, accessor: Accessor)]]
    private var container: ModelContainer?
    private var contexts: [ModelContext] = []
    private(set) var reference: Reference
    /// The models of each context by number, and those that are in none.
    private var handles: [[Int: any GeneratedModel]] = [[:], [:]]
    private var free: [Int: any GeneratedModel] = [:]
    /// Of what is stored, as last seen.
    private var identifiers: [Int: PersistentIdentifier] = [:]
    /// Models that have left their context.
    private var gone: [[Int: any GeneratedModel]] = [[:], [:]]

    private init(_ world: World, _ kind: StoreKind, in folder: String) throws {
        self.world = world
        self.kind = kind
        self.folder = folder
        let classes = Worlds.classes(of: world)
        self.classes = classes
        schema = Schema(world.entities.compactMap { classes[$0] as (any PersistentModel.Type)? })
        var accessors: [World.Entity: [(property: World.Property, accessor: Accessor)]] = [:]
        for entity in world.entities {
            accessors[entity] = world.properties(entity).compactMap { property, slot in
                guard let end = world.end(property), let target = world.target(property), let type = classes[target]
                else { return nil }
                return (property, Accessor(slot: slot, end: end, target: type))
            }
        }
        self.accessors = accessors
        reference = Reference(world: world)
        try open()
    }

    /// - Parameter trace: prints each step before it is done.
    /// - Returns: nil where all was as the reference has it.
    static func run(
        _ steps: [Step], in world: World, on kind: StoreKind, folder: String, trace: Bool = false
    ) -> Difference? {
        let files = FileManager.default
        try? files.removeItem(atPath: folder)
        try? files.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? files.removeItem(atPath: folder) }
        var step = 0
        weak var container: ModelContainer?
        do {
            let runner = try Runner(world, kind, in: folder)
            container = runner.container
            for (index, next) in steps.enumerated() where runner.reference.allows(next) {
                step = index
                if trace { print("\(kind.rawValue): \(next.text(in: world))") }
                for each in [next] + kind.additions(after: next) where runner.reference.allows(each) {
                    try runner.perform(each)
                    try runner.compare()
                }
            }
            step = steps.count
            try runner.finish(leaking: { container = $0 })
        } catch {
            return Difference(step: step, description: "\(error)")
        }
        if container != nil {
            return Difference(step: steps.count, description: "the container is still there after all was let go of")
        }
        return nil
    }

    private struct Wrong: Error, CustomStringConvertible {
        let description: String
        init(_ description: String) { self.description = description }
    }

    // MARK: Opening and closing

    private func open() throws {
        let container = try kind.open(schema, in: folder)
        self.container = container
        contexts = [ModelContext(container), ModelContext(container)]
        for context in contexts.indices { try pin(context) }
    }

    /// Makes a context read its version.
    private func pin(_ context: Int) throws {
        for type in roots { for model in try fetch(type, contexts[context]) { handles[context][model.n] = model } }
    }

    private var roots: [any GeneratedModel.Type] {
        world.entities.filter { $0.level == 0 }.compactMap { classes[$0] }
    }

    private func fetch(_ type: any GeneratedModel.Type, _ context: ModelContext) throws -> [any GeneratedModel] {
        func open<T: GeneratedModel>(_: T.Type) throws -> [any GeneratedModel] {
            try context.fetch(FetchDescriptor<T>())
        }
        return try open(type)
    }

    private func count(_ type: any GeneratedModel.Type, _ context: ModelContext) throws -> Int {
        func open<T: GeneratedModel>(_: T.Type) throws -> Int { try context.fetchCount(FetchDescriptor<T>()) }
        return try open(type)
    }

    private func close() throws {
        guard let container, kind != .memory else { return }
        try kind.prepareToClose(container)
        try container.close()
        let faults = try kind.faults(schema, in: folder)
        if let fault = faults.first { throw Wrong("verify: \(fault)") }
    }

    private func finish(leaking watch: (ModelContainer?) -> Void) throws {
        // What is not saved goes with the contexts: some programs end in the middle of things.
        dropContexts()
        free = [:]
        if kind != .memory {
            try close()
            container = nil
            contexts = []
            try open()
            try compareStore("after closing and opening")
            dropContexts()
        }
        // Models that never were in a context, and are related, keep each other and all that they refer to.
        watch(reference.free.records.isEmpty ? container : nil)
        contexts = []
        container = nil
    }

    private func dropContexts() {
        contexts = []
        handles = [[:], [:]]
        gone = [[:], [:]]
    }

    // MARK: Steps

    private func perform(_ step: Step) throws {
        switch step {
        case .make(let number, let entity, let assignments, let context):
            guard let type = classes[entity], let accessors = accessors[entity] else { return }
            let relationships = try accessors.compactMap {
                property, accessor -> (slot: Int, initializer: any Initializer)? in
                guard let assignment = assignments.first(where: { $0.property == property }) else {
                    return accessor.kind == .many ? (accessor.slot, accessor.initializer(for: [])) : nil
                }
                let values = try assignment.values.map { try model($0, context) }
                return (accessor.slot, accessor.initializer(for: values))
            }
            let made = type.make(InitialState(n: number, v: 0, relationships: relationships))
            // What `@Model` puts at the end of an initializer.
            made._linkInitialValues()
            free[number] = made
            if let context { insert(made, into: context) }
        case .insert(let number, let context): insert(try model(number, nil), into: context)
        case .set(let number, let property, let values, let context):
            let model = try model(number, context)
            try accessor(property, model).write(try values.map { try self.model($0, context) }, to: model)
        case .append(let number, let property, let value, let context):
            let model = try model(number, context)
            try accessor(property, model).update(model, adding: try self.model(value, context), removing: nil)
        case .remove(let number, let property, let value, let context):
            let model = try model(number, context)
            try accessor(property, model).update(model, adding: nil, removing: try self.model(value, context))
        case .change(let number, let value, let context): try model(number, context).v = value
        case .delete(let number, let context):
            func delete<T: GeneratedModel>(_ model: T) { contexts[context].delete(model) }
            delete(try model(number, context))
        case .reinsert(let number, let new, let context):
            // Asking a context what is deleted follows the delete rules.
            if handles[context][number] == nil, gone[context][number] == nil { reference.process(in: context) }
            guard
                let model = handles[context].removeValue(forKey: number) ?? gone[context].removeValue(forKey: number)
                    ?? cascaded(number, context)
            else { throw Wrong("the program has no m\(number) any more") }
            insert(model, into: context)
            if new != number { model.n = new }
            handles[context][new] = model
        case .release(let number): free[number] = nil
        case .process(let context): contexts[context].processPendingChanges()
        case .fetch(let context), .refetch(let context):
            reference.apply(step)
            if case .refetch = step {
                for number in reference.contexts[context].live { handles[context][number] = nil }
            }
            try compareFetches(context)
            return
        case .save(let context):
            try save(context)
            return
        case .rollback(let context): contexts[context].rollback()
        case .discard(let context):
            handles[context] = [:]
            gone[context] = [:]
            guard let container else { return }
            contexts[context] = ModelContext(container)
            try pin(context)
        case .reopen:
            dropContexts()
            if kind == .memory {
                guard let container else { return }
                contexts = [ModelContext(container), ModelContext(container)]
                for context in contexts.indices { try pin(context) }
            } else {
                try close()
                container = nil
                try open()
            }
        }
        reference.apply(step)
        settle()
    }

    private func insert(_ model: any GeneratedModel, into context: Int) {
        func insert<T: GeneratedModel>(_ model: T) { contexts[context].insert(model) }
        insert(model)
    }

    /// Sorts the models by what the reference has made of them.
    private func settle() {
        for index in contexts.indices {
            let state = reference.contexts[index]
            for (number, model) in free where state.now.records[number] != nil {
                handles[index][number] = model
                free[number] = nil
            }
            for (number, model) in handles[index] where state.now.records[number] == nil {
                gone[index][number] = model
                handles[index][number] = nil
            }
            for (number, model) in gone[index] where state.now.records[number] != nil {
                handles[index][number] = handles[index][number] ?? model
                gone[index][number] = nil
            }
        }
    }

    private func save(_ context: Int) throws {
        var expected = reference
        // A program may want to insert again what a cascade deletes.
        for model in contexts[context].deletedModelsArray {
            guard let model = model as? any GeneratedModel else { continue }
            handles[context][model.n] = handles[context][model.n] ?? model
        }
        let hasChanges = contexts[context].hasChanges
        expected.process(in: context)
        let state = expected.contexts[context]
        if !hasChanges, !state.inserted.isEmpty || !state.deleted.isEmpty { throw Wrong("hasChanges has to be true") }
        if hasChanges, !expected.hasChanges(context) { throw Wrong("hasChanges has to be false") }
        var faults = expected.save(context, hasChanges: hasChanges)
        do {
            try contexts[context].save()
            if !faults.isEmpty { throw Wrong("save() has to fail (\(describe(faults))) and did not") }
        } catch let wrong as Wrong {
            throw wrong
        } catch {
            // Only the other side of what was changed is gone: whether that fails a save is left open.
            var refused = reference
            let alternative = refused.refuseVanished(context)
            if case ModelContextError.noSuchModel = error, !alternative.isEmpty {
                faults = alternative
                expected = refused
            }
            if faults.isEmpty { throw Wrong("save() has to succeed and threw \(error)") }
            try check(error, faults, context, "save()")
            do {
                try contexts[context].save()
            } catch {
                try check(error, faults, context, "a second save()")
                reference = expected
                settle()
                return
            }
            throw Wrong("a second save() has to fail (\(describe(faults))) and did not")
        }
        reference = expected
        settle()
        try compareStore("after save()")
    }

    /// Whether an error says what is wrong.
    private func check(_ error: any Error, _ faults: Set<Fault>, _ context: Int, _ attempt: String) throws {
        func matches(_ fault: Fault) -> Bool {
            func isModel(_ number: Int, _ identifier: PersistentIdentifier) -> Bool {
                guard let model = handles[context][number] ?? gone[context][number] else { return true }
                return model.persistentModelID == identifier
            }
            switch (fault, error) {
            case (.missing(let number, let property), ModelValidationError.missingValue(_, let name, let model)),
                (.refers(let number, let property), ModelValidationError.refersToDeleted(_, let name, let model, _)),
                (.missing(let number, let property), ModelValidationError.refersToDeleted(_, let name, let model, _)),
                (.refers(let number, let property), ModelValidationError.missingValue(_, let name, let model)),
                (.denied(let number, let property), ModelValidationError.deletionDenied(_, let name, let model, _)):
                return world.name(property) == name && isModel(number, model)
            case (.vanished(let number), ModelContextError.noSuchModel(let model)): return isModel(number, model)
            default:
                // A required relationship without inverse: nothing but the store knows of it.
                guard case .missing(_, let property) = fault, world.links[property.link]?.right == nil else {
                    return false
                }
                return "\(error)".contains(world.name(property))
            }
        }
        if !faults.contains(where: matches) {
            throw Wrong("\(attempt) has to fail because of \(describe(faults)) and threw \(error)")
        }
    }

    private func describe(_ faults: Set<Fault>) -> String {
        faults.map { fault in
            switch fault {
            case .missing(let number, let property):
                "m\(number).\(world.name(property)), which is required, has no model"
            case .denied(let number, let property): "m\(number).\(world.name(property)) denies the deletion"
            case .refers(let number, let property): "m\(number).\(world.name(property)) refers to a deleted model"
            case .vanished(let number): "m\(number) was deleted by others"
            }
        }.sorted().joined(separator: "; ")
    }

    // MARK: Finding models

    private func accessor(_ property: World.Property, _ model: any GeneratedModel) throws -> Accessor {
        guard let accessor = accessors[type(of: model).entity]?.first(where: { $0.property == property })?.accessor
        else {
            throw Wrong("\(type(of: model).entity.name) has no \(world.name(property))")
        }
        return accessor
    }

    /// A model that is held, else one that another one leads to, as in a program that has let go of it.
    private func model(_ number: Int, _ context: Int?) throws -> any GeneratedModel {
        if let model = free[number] ?? context.flatMap({ handles[$0][number] }) { return model }
        if let context {
            var pending = Array(handles[context].filter { reference.contexts[context].isLive($0.key) })
            var seen = Set(pending.map(\.key))
            while let (_, next) = pending.popLast() {
                for found in try related(to: next, context) where seen.insert(found.n).inserted {
                    handles[context][found.n] = found
                    if found.n == number { return found }
                    pending.append((found.n, found))
                }
            }
            if let identifier = identifiers[number],
                let model = contexts[context].model(for: identifier) as? any GeneratedModel, model.n == number
            {
                handles[context][number] = model
                return model
            }
        }
        throw Wrong("m\(number) is nowhere to be found")
    }

    /// A model that a cascade has deleted and that the program has never had before.
    private func cascaded(_ number: Int, _ context: Int) -> (any GeneratedModel)? {
        contexts[context].deletedModelsArray.lazy.compactMap { $0 as? any GeneratedModel }.first { $0.n == number }
    }

    private func related(to model: any GeneratedModel, _ context: Int) throws -> [any GeneratedModel] {
        (accessors[type(of: model).entity] ?? []).flatMap { property, accessor -> [any GeneratedModel] in
            guard reference.shown(model.n, property, in: context) != nil else { return [] }
            return accessor.read(model)
        }
    }

    // MARK: Comparing

    private func compare() throws {
        for (number, model) in free where !reference.lost.contains(number) { try compare(model, number, nil) }
        for context in contexts.indices {
            let state = reference.contexts[context]
            // Asking follows the delete rules, which is a step of its own.
            if state.unprocessed.isEmpty {
                let hasChanges = contexts[context].hasChanges
                if !hasChanges, reference.differsFromStore(context) { throw Wrong("hasChanges has to be true") }
                if hasChanges, !reference.hasChanges(context) { throw Wrong("hasChanges has to be false") }
            }
            for number in state.now.records.keys.sorted() {
                if let deletion = state.deleted[number] {
                    guard let model = handles[context][number] else { continue }
                    if !model.isDeleted { throw Wrong("m\(number).isDeleted has to be true") }
                    if deletion.isProcessed { try readAll(model) }
                } else if let model = handles[context][number] {
                    try compare(model, number, context)
                } else if state.inserted.contains(number) {
                    try compare(try model(number, context), number, context)
                }
            }
            for (number, model) in gone[context] where state.departed[number] != nil {
                if !model.isDeleted { throw Wrong("m\(number).isDeleted has to be true after the save") }
                if model.modelContext != nil { throw Wrong("m\(number).modelContext has to be nil after the save") }
                try readAll(model)
            }
        }
    }

    /// Deleted models are asked for what they have, whatever it is: getters must not end the process.
    private func readAll(_ model: any GeneratedModel) throws {
        for (_, accessor) in accessors[type(of: model).entity] ?? [] where accessor.kind != .required {
            _ = accessor.read(model)
        }
    }

    private func compare(_ model: any GeneratedModel, _ number: Int, _ context: Int?) throws {
        let name = context == 1 ? "m\(number)'" : "m\(number)"
        if model.n != number { throw Wrong("\(name).n is \(model.n)") }
        if let v = reference.record(number, in: context)?.v, v != model.v {
            throw Wrong("\(name).v is \(model.v), not \(v)")
        }
        if model.isDeleted { throw Wrong("\(name).isDeleted has to be false") }
        if model.modelContext !== context.map({ contexts[$0] }) {
            throw Wrong("\(name).modelContext has to be \(context == nil ? "nil" : "the context it was inserted into")")
        }
        for (property, accessor) in accessors[type(of: model).entity] ?? [] {
            guard let expected = reference.shown(number, property, in: context) else { continue }
            let found = accessor.read(model)
            if found.map(\.n).sorted() != expected {
                throw Wrong("\(name).\(world.name(property)) is \(text(found.map(\.n))), not \(text(expected))")
            }
            if let context {
                for other in found where handles[context][other.n] == nil { handles[context][other.n] = other }
                for other in found where handles[context][other.n] !== other {
                    throw Wrong("\(name).\(world.name(property)) has another object for m\(other.n)")
                }
            }
        }
    }

    private func text(_ numbers: [Int]) -> String {
        "[\(numbers.sorted().map { "m\($0)" }.joined(separator: ", "))]"
    }

    private func compareFetches(_ context: Int) throws {
        settle()
        let state = reference.contexts[context]
        for entity in world.entities {
            guard let type = classes[entity] else { continue }
            let expected = state.live.filter { state.now.records[$0].map { entity.includes($0.entity) } ?? false }
            // Either may be the first to follow the delete rules and to read the latest version.
            let countsFirst = state.now.records.count.isMultiple(of: 2)
            var count = countsFirst ? try self.count(type, contexts[context]) : 0
            let found = try fetch(type, contexts[context])
            if !countsFirst { count = try self.count(type, contexts[context]) }
            if count != expected.count {
                throw Wrong("a count of \(entity.name) finds \(count), not \(text(expected))")
            }
            if found.map(\.n).sorted() != expected {
                throw Wrong("a fetch of \(entity.name) finds \(text(found.map(\.n))), not \(text(expected))")
            }
            for model in found {
                if let known = handles[context][model.n], known !== model {
                    throw Wrong("a fetch of \(entity.name) makes another object of m\(model.n)")
                }
                handles[context][model.n] = model
            }
        }
    }

    /// Compares what is stored, as a context that has just been made sees it.
    private func compareStore(_ when: String) throws {
        guard let container else { return }
        let context = ModelContext(container)
        var found: [Int: any GeneratedModel] = [:]
        for type in roots { for model in try fetch(type, context) { found[model.n] = model } }
        identifiers.merge(found.mapValues(\.persistentModelID)) { $1 }
        let expected = reference.store
        if Set(found.keys) != Set(expected.records.keys) {
            throw Wrong("\(when) the store has \(text(Array(found.keys))), not \(text(Array(expected.records.keys)))")
        }
        for (number, model) in found.sorted(by: { $0.key < $1.key }) {
            guard let record = expected.records[number] else { continue }
            if type(of: model).entity != record.entity {
                throw Wrong("\(when) m\(number) is stored as \(type(of: model).entity.name), not \(record.entity.name)")
            }
            if model.v != record.v { throw Wrong("\(when) m\(number).v is \(model.v), not \(record.v)") }
            for (property, accessor) in accessors[record.entity] ?? [] {
                let related = reference.partners(of: number, property, in: expected.pairs).sorted()
                let stored = accessor.read(model).map(\.n).sorted()
                if stored != related {
                    throw Wrong("\(when) m\(number).\(world.name(property)) is \(text(stored)), not \(text(related))")
                }
            }
        }
    }
}
