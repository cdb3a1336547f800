extension ModelContext {
    /// Some of the matching models, in the requested order: the first ones, or those behind a cursor.
    ///
    ///     let first = try context.page(descriptor, size: 50)
    ///     let second = try context.page(descriptor, after: first.next, size: 50)
    ///
    /// Models that are equal in all sort keys are in order of insertion, which is part of the place that a cursor names. So all
    /// pages together have each model once. Models that were changed, inserted or deleted meanwhile are where they belong now: on a
    /// later page, on one before, or on none. Unsaved changes count; see `PageCursor` for places beside unsaved models.
    ///
    /// A page is asked for in parts. All of them are of one version, where the store has versions. From a store without any, a page may
    /// be of before and after a change that is made meanwhile: what that moves may be missing, and comes no more than once.
    ///
    /// Where an index has exactly the sort keys and the class has no subclasses, a page costs as much as its models, however deep it
    /// is; `explainPage` shows that. Where the index goes on with other properties, models that are equal in all sort keys are read
    /// together, and those of several classes are read from the place on. All matching models are sorted for a page behind a text with
    /// other than ASCII characters, and for keys with a comparator of strings. Keys may have different directions. The descriptor's
    /// limit and offset do not matter.
    /// - Parameters:
    ///   - descriptor: the same for all pages, values in its predicate included: `date < .now` is another one each time. Parts of the
    ///     predicate that are left to code are compared by their text, without the values in them.
    ///   - cursor: `next` of the page before; nil begins with the first model.
    ///   - size: the most models on the page; at least 1.
    /// - Returns: the page. It has fewer models than `size` only at the end.
    /// - Throws: `PageError` for a cursor of another descriptor or store, and for keys that only code can compare; what `fetch(_:)`
    ///   throws.
    public func page<T: PersistentModel>(
        _ descriptor: FetchDescriptor<T>, after cursor: PageCursor? = nil, size: Int
    ) throws -> Page<T> {
        try PageRun(descriptor, cursor, isBackward: false, size: size, in: state).page
    }

    /// The matching models before a cursor, in the requested order: as `page(_:after:size:)`, towards the first model.
    /// - Parameters:
    ///   - descriptor: the same for all pages.
    ///   - cursor: `previous` of the page behind.
    ///   - size: the most models on the page; at least 1.
    /// - Returns: the page. It has fewer models than `size` only at the beginning.
    /// - Throws: as `page(_:after:size:)`.
    public func page<T: PersistentModel>(
        _ descriptor: FetchDescriptor<T>, before cursor: PageCursor, size: Int
    ) throws -> Page<T> {
        try PageRun(descriptor, cursor, isBackward: true, size: size, in: state).page
    }

    /// Fetches a page and reports how: one explanation for each of the parts of the order that were asked for, at most a few for each
    /// sort key.
    /// - Throws: as `page(_:after:size:)`.
    public func explainPage<T: PersistentModel>(
        _ descriptor: FetchDescriptor<T>, after cursor: PageCursor? = nil, size: Int
    ) throws -> [FetchExplanation] {
        try PageRun(descriptor, cursor, isBackward: false, size: size, in: state, explains: true).explanations
    }

    /// As `explainPage(_:after:size:)`, for `page(_:before:size:)`.
    /// - Throws: as `page(_:after:size:)`.
    public func explainPage<T: PersistentModel>(
        _ descriptor: FetchDescriptor<T>, before cursor: PageCursor, size: Int
    ) throws -> [FetchExplanation] {
        try PageRun(descriptor, cursor, isBackward: true, size: size, in: state, explains: true).explanations
    }
}
