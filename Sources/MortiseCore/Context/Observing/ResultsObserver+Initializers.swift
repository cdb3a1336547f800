public import Foundation

extension ResultsObserver where SectionTitle == Never {
    /// Observes what a descriptor fetches, in a context.
    /// - Throws: what the first fetch throws.
    public convenience init(
        fetchDescriptor: FetchDescriptor<Element> = FetchDescriptor<Element>(),
        modelContext: ModelContext,
        isolation: isolated (any Actor)? = #isolation
    ) throws {
        try self.init(fetchDescriptor, nil, modelContext, isolation: isolation)
    }

    /// Observes the models that meet a condition, in an order, in a context.
    /// - Throws: what the first fetch throws.
    public convenience init(
        filterBy: Predicate<Element>? = nil,
        sortBy: [SortDescriptor<Element>]? = nil,
        modelContext: ModelContext,
        isolation: isolated (any Actor)? = #isolation
    ) throws {
        try self.init(
            FetchDescriptor(predicate: filterBy, sortBy: sortBy ?? []), nil, modelContext, isolation: isolation)
    }

    /// Observes what a descriptor fetches, in a context of its own.
    /// - Throws: what the first fetch throws.
    public convenience init(
        fetchDescriptor: FetchDescriptor<Element> = FetchDescriptor<Element>(),
        modelContainer: ModelContainer,
        isolation: isolated (any Actor)? = #isolation
    ) throws {
        try self.init(fetchDescriptor, nil, ModelContext(modelContainer), isolation: isolation)
    }

    /// Observes the models that meet a condition, in an order, in a context of its own.
    /// - Throws: what the first fetch throws.
    public convenience init(
        filterBy: Predicate<Element>? = nil,
        sortBy: [SortDescriptor<Element>]? = nil,
        modelContainer: ModelContainer,
        isolation: isolated (any Actor)? = #isolation
    ) throws {
        try self.init(
            FetchDescriptor(predicate: filterBy, sortBy: sortBy ?? []), nil, ModelContext(modelContainer),
            isolation: isolation)
    }
}

extension ResultsObserver where SectionTitle == String {
    /// Observes what a descriptor fetches, in sections by a property, in a context.
    /// - Throws: what the first fetch throws.
    public convenience init(
        fetchDescriptor: FetchDescriptor<Element> = FetchDescriptor<Element>(),
        sectionBy: KeyPath<Element, String>,
        modelContext: ModelContext,
        isolation: isolated (any Actor)? = #isolation
    ) throws {
        try self.init(fetchDescriptor, LiveSection(sectionBy), modelContext, isolation: isolation)
    }

    /// Observes what a descriptor fetches, in sections by a property that may be nil, which counts as an empty title, in a
    /// context.
    /// - Throws: what the first fetch throws.
    public convenience init(
        fetchDescriptor: FetchDescriptor<Element> = FetchDescriptor<Element>(),
        sectionBy: KeyPath<Element, String?>,
        modelContext: ModelContext,
        isolation: isolated (any Actor)? = #isolation
    ) throws {
        try self.init(fetchDescriptor, LiveSection(sectionBy), modelContext, isolation: isolation)
    }

    /// Observes the models that meet a condition, in an order, in sections by a property, in a context.
    /// - Throws: what the first fetch throws.
    public convenience init(
        filterBy: Predicate<Element>? = nil,
        sortBy: [SortDescriptor<Element>]? = nil,
        sectionBy: KeyPath<Element, String>,
        modelContext: ModelContext,
        isolation: isolated (any Actor)? = #isolation
    ) throws {
        try self.init(
            FetchDescriptor(predicate: filterBy, sortBy: sortBy ?? []), LiveSection(sectionBy), modelContext,
            isolation: isolation)
    }

    /// Observes the models that meet a condition, in an order, in sections by a property that may be nil, which counts as
    /// an empty title, in a context.
    /// - Throws: what the first fetch throws.
    public convenience init(
        filterBy: Predicate<Element>? = nil,
        sortBy: [SortDescriptor<Element>]? = nil,
        sectionBy: KeyPath<Element, String?>,
        modelContext: ModelContext,
        isolation: isolated (any Actor)? = #isolation
    ) throws {
        try self.init(
            FetchDescriptor(predicate: filterBy, sortBy: sortBy ?? []), LiveSection(sectionBy), modelContext,
            isolation: isolation)
    }

    /// Observes what a descriptor fetches, in sections by a property, in a context of its own.
    /// - Throws: what the first fetch throws.
    public convenience init(
        fetchDescriptor: FetchDescriptor<Element> = FetchDescriptor<Element>(),
        sectionBy: KeyPath<Element, String>,
        modelContainer: ModelContainer,
        isolation: isolated (any Actor)? = #isolation
    ) throws {
        try self.init(fetchDescriptor, LiveSection(sectionBy), ModelContext(modelContainer), isolation: isolation)
    }

    /// Observes what a descriptor fetches, in sections by a property that may be nil, which counts as an empty title, in a
    /// context of its own.
    /// - Throws: what the first fetch throws.
    public convenience init(
        fetchDescriptor: FetchDescriptor<Element> = FetchDescriptor<Element>(),
        sectionBy: KeyPath<Element, String?>,
        modelContainer: ModelContainer,
        isolation: isolated (any Actor)? = #isolation
    ) throws {
        try self.init(fetchDescriptor, LiveSection(sectionBy), ModelContext(modelContainer), isolation: isolation)
    }

    /// Observes the models that meet a condition, in an order, in sections by a property, in a context of its own.
    /// - Throws: what the first fetch throws.
    public convenience init(
        filterBy: Predicate<Element>? = nil,
        sortBy: [SortDescriptor<Element>]? = nil,
        sectionBy: KeyPath<Element, String>,
        modelContainer: ModelContainer,
        isolation: isolated (any Actor)? = #isolation
    ) throws {
        try self.init(
            FetchDescriptor(predicate: filterBy, sortBy: sortBy ?? []), LiveSection(sectionBy),
            ModelContext(modelContainer), isolation: isolation)
    }

    /// Observes the models that meet a condition, in an order, in sections by a property that may be nil, which counts as
    /// an empty title, in a context of its own.
    /// - Throws: what the first fetch throws.
    public convenience init(
        filterBy: Predicate<Element>? = nil,
        sortBy: [SortDescriptor<Element>]? = nil,
        sectionBy: KeyPath<Element, String?>,
        modelContainer: ModelContainer,
        isolation: isolated (any Actor)? = #isolation
    ) throws {
        try self.init(
            FetchDescriptor(predicate: filterBy, sortBy: sortBy ?? []), LiveSection(sectionBy),
            ModelContext(modelContainer), isolation: isolation)
    }
}
