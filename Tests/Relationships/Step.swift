/// One thing that a program does. Models are numbered in the order in which programs make them; contexts are 0 and 1.
enum Step: Hashable, Sendable {
    /// Makes a model with the relationships given, by init accessors, and inserts it where a context is given.
    case make(Int, World.Entity, [Assignment], into: Int?)
    case insert(Int, into: Int)
    /// Sets a property: to-one to none or one model, to-many to any.
    case set(Int, World.Property, [Int], in: Int?)
    case append(Int, World.Property, Int, in: Int?)
    case remove(Int, World.Property, Int, in: Int?)
    case change(Int, to: Int, in: Int?)
    case delete(Int, in: Int)
    /// Inserts a deleted model again. Where its deletion is saved it becomes a new record, and gets a new number.
    case reinsert(Int, as: Int, in: Int)
    /// Lets go of a model that no context has; what refers to it has to keep it.
    case release(Int)
    case process(in: Int)
    case fetch(in: Int)
    /// Lets go of all models that are in a context, and fetches them again.
    case refetch(in: Int)
    case save(in: Int)
    case rollback(in: Int)
    /// Drops a context with what it has not saved, and makes another.
    case discard(Int)
    /// Drops the contexts, closes the store and opens it again.
    case reopen

    struct Assignment: Hashable, Sendable {
        let property: World.Property
        let values: [Int]
    }
}

extension Step {
    /// The step as Swift would say it.
    func text(in world: World) -> String {
        func name(_ context: Int) -> String { context == 0 ? "context" : "other" }
        func model(_ number: Int, _ context: Int?) -> String { context == 1 ? "m\(number)'" : "m\(number)" }
        func list(_ property: World.Property, _ values: [Int], _ context: Int?) -> String {
            let names = values.map { model($0, context) }
            return world.end(property)?.kind == .many ? "[\(names.joined(separator: ", "))]" : names.first ?? "nil"
        }
        switch self {
        case .make(let number, let entity, let assignments, let context):
            let arguments = assignments.map { ", \(world.name($0.property)): \(list($0.property, $0.values, context))" }
            return "let m\(number) = \(entity.name)(n: \(number)\(arguments.joined()))"
                + (context.map { "; \(name($0)).insert(m\(number))" } ?? "")
        case .insert(let number, let context): return "\(name(context)).insert(m\(number))"
        case .set(let number, let property, let values, let context):
            return "\(model(number, context)).\(world.name(property)) = \(list(property, values, context))"
        case .append(let number, let property, let value, let context):
            return "\(model(number, context)).\(world.name(property)).append(\(model(value, context)))"
        case .remove(let number, let property, let value, let context):
            return "\(model(number, context)).\(world.name(property)).removeAll { $0 === \(model(value, context)) }"
        case .change(let number, let value, let context): return "\(model(number, context)).v = \(value)"
        case .delete(let number, let context): return "\(name(context)).delete(\(model(number, context)))"
        case .reinsert(let number, let new, let context):
            return "\(name(context)).insert(\(model(number, context)))   // again"
                + (new == number ? "" : "; m\(number).n = \(new), from here on m\(new)")
        case .release(let number): return "m\(number) = nil   // what refers to it keeps it"
        case .process(let context): return "\(name(context)).processPendingChanges()"
        case .fetch(let context): return "try \(name(context)).fetch(…)   // of every entity"
        case .refetch(let context): return "try \(name(context)).fetch(…)   // having let go of all models"
        case .save(let context): return "try \(name(context)).save()"
        case .rollback(let context): return "\(name(context)).rollback()"
        case .discard(let context): return "\(name(context)) = ModelContext(container)   // dropping the old one"
        case .reopen: return "try container.close(); container = try ModelContainer(…)   // both contexts anew"
        }
    }
}
