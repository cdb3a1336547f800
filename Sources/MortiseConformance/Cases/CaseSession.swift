public import MortiseCore
public import Foundation

/// A context of a case, whose operations go into the case's log.
public final class CaseSession {
    /// The session's name in reports.
    public let name: String
    /// The session's context.
    public let context: ModelContext
    private let log: CaseContext

    init(name: String, context: ModelContext, log: CaseContext) {
        self.name = name
        self.context = context
        self.log = log
    }

    private func note(_ text: String) { log.note("\(name): \(text)") }

    /// Inserts models and records the step for the report.
    public func insert(_ models: any PersistentModel...) {
        note("insert \(models.map { "\(type(of: $0))" }.joined(separator: ", "))")
        for model in models { insert(one: model) }
    }

    private func insert<M: PersistentModel>(one model: M) { context.insert(model) }

    /// Deletes a model and records the step for the report.
    public func delete(_ model: any PersistentModel) {
        note("delete \(model.persistentModelID)")
        delete(one: model)
    }

    private func delete<M: PersistentModel>(one model: M) { context.delete(model) }

    /// Notes a change that the body makes to models.
    public func change(_ what: String, _ body: () throws -> Void) rethrows {
        note("change \(what)")
        try body()
    }

    /// Saves and records the step for the report.
    /// - Throws: what the save throws.
    public func save() throws {
        note("save")
        try context.save()
    }

    /// Inserts and saves.
    public func store(_ models: any PersistentModel...) throws {
        note("insert \(models.map { "\(type(of: $0))" }.joined(separator: ", ")), save")
        for model in models { insert(one: model) }
        try context.save()
    }

    /// Fetches and records the step for the report.
    /// - Throws: what the fetch throws.
    public func fetch<T: PersistentModel>(_ descriptor: FetchDescriptor<T>) throws -> [T] {
        let models = try context.fetch(descriptor)
        note("fetch \(Self.text(descriptor)) → \(models.count)")
        return models
    }

    /// All models of a type, in identity order.
    public func all<T: PersistentModel>(_ type: T.Type) throws -> [T] { try fetch(FetchDescriptor<T>()) }

    /// Counts and records the step for the report.
    /// - Throws: what the fetch throws.
    public func count<T: PersistentModel>(_ descriptor: FetchDescriptor<T>) throws -> Int {
        let count = try context.fetchCount(descriptor)
        note("count \(Self.text(descriptor)) → \(count)")
        return count
    }

    /// Fetches identifiers and records the step for the report.
    /// - Throws: what the fetch throws.
    public func identifiers<T: PersistentModel>(_ descriptor: FetchDescriptor<T>) throws -> [PersistentIdentifier] {
        let identifiers = try context.fetchIdentifiers(descriptor)
        note("fetch identifiers of \(Self.text(descriptor)) → \(identifiers.count)")
        return identifiers
    }

    /// The only model of a type.
    /// - Throws: `ConformanceFailure` unless there is exactly one.
    public func only<T: PersistentModel>(_ type: T.Type) throws -> T {
        let models = try all(type)
        guard let model = models.first, models.count == 1 else {
            throw log.failure(expected: "one \(type)", found: "\(models.count)")
        }
        return model
    }

    /// The first model that matches.
    /// - Throws: `ConformanceFailure` if no model matches.
    public func first<T: PersistentModel>(_ type: T.Type, _ predicate: Predicate<T>) throws -> T {
        try log.require(
            try fetch(FetchDescriptor(predicate: predicate)).first, "a \(type) that matches the predicate")
    }

    static func text<T: PersistentModel>(_ descriptor: FetchDescriptor<T>) -> String {
        var text = "\(T.self)"
        if let predicate = descriptor.predicateText { text += " where \(short(predicate))" }
        if !descriptor.sortBy.isEmpty {
            text +=
                " sorted by "
                + descriptor.sortBy.map { "\($0.keyPath.map { "\($0)" } ?? "?") \($0.order)" }.joined(separator: ", ")
        }
        if let offset = descriptor.fetchOffset { text += " offset \(offset)" }
        if let limit = descriptor.fetchLimit { text += " limit \(limit)" }
        return text
    }

    private static func short(_ text: String) -> String { text.count > 160 ? text.prefix(160) + "…" : text }
}
