/// What opening a store with a migration plan would do to it.
public struct MigrationPreview: Sendable, Hashable {
    /// One stage that is due.
    public struct Stage: Sendable, Hashable {
        /// The version before the stage.
        public let from: Schema.Version
        /// The version after it.
        public let to: Schema.Version
        /// Whether the stage has code. A preview runs none: what follows may come out otherwise when it has run.
        public let hasCode: Bool
        /// What differs in the schema after the stage, in words, by entity and property.
        public let changes: [String]
        /// Records and values that the stage has no place for; nil if it drops nothing.
        public let loss: SchemaLoss?
        /// Why the stage would be refused as the records are; nil if it would not. Stages after it were not looked at.
        public let refusal: String?

        init(
            from: Schema.Version, to: Schema.Version, hasCode: Bool, changes: [String], loss: SchemaLoss?,
            refusal: String?
        ) {
            self.from = from
            self.to = to
            self.hasCode = hasCode
            self.changes = changes
            self.loss = loss
            self.refusal = refusal
        }
    }

    /// The name of the store's configuration.
    public let store: String
    /// The version that the store holds, by the plan's numbers where the plan has it.
    public let from: Schema.Version
    /// The version that it would come to.
    public let to: Schema.Version
    /// The stages that are due, in order; empty if the store would be opened as it is.
    public let stages: [Stage]
    /// How many records the store has.
    public let records: Int
    /// Whether the records keep their identifiers, and the store if it has records, as far as that can be said; true if nothing is
    /// due.
    public let keepsIdentifiers: Bool
    /// Whether the records are copied into a new store, which takes the place of the old one and has no history; false if nothing is due.
    public let isCopy: Bool
    /// The room on the disk that the stages take, as far as it is known; nil if nothing is due or the store does not know.
    public let space: MigrationSpace?

    /// How long opening the store is likely to take, as an estimate: between the time in which the preview has gone through the records, as
    /// a migration does, and three times as long, with the writing of `space` at 20 MB a second. Nil if nothing is due, if a stage would
    /// be refused, or if one has a closure that takes a context, a source or a target, as nobody knows how long that runs.
    public let time: ClosedRange<Duration>?

    init(
        store: String, from: Schema.Version, to: Schema.Version, stages: [Stage], records: Int,
        keepsIdentifiers: Bool, isCopy: Bool, space: MigrationSpace?, time: ClosedRange<Duration>?
    ) {
        self.store = store
        self.from = from
        self.to = to
        self.stages = stages
        self.records = records
        self.keepsIdentifiers = keepsIdentifiers
        self.isCopy = isCopy
        self.space = space
        self.time = time
    }

    /// The estimate for stages of which a preview has taken that long.
    static func time(_ taken: Duration, writing space: MigrationSpace?) -> ClosedRange<Duration> {
        let bytes = max(0, space?.needed ?? 0)
        return taken...(taken * 3 + Duration.milliseconds(bytes / bytesWrittenInAMillisecond))
    }

    private static let bytesWrittenInAMillisecond: Int64 = 20_000
}

extension MigrationPreview: CustomStringConvertible {
    /// The stages, one a line, with what each would drop or be refused for.
    public var description: String {
        let count = SchemaLoss.plural(records, "record")
        if stages.isEmpty { return "\(store): version \(from), \(count), nothing to do" }
        let lines = stages.map { stage in
            var words = ["  \(stage.from) to \(stage.to)\(stage.hasCode ? ", with code" : "")"]
            words += stage.changes.map { "    \($0)" }
            if let loss = stage.loss { words.append("    drops \(loss)") }
            if let refusal = stage.refusal { words.append("    is refused: \(refusal)") }
            return words.joined(separator: "\n")
        }
        let room = space.map { space in
            "  takes up to \(space.needed) bytes"
                + (space.free.map { $0 < space.needed ? ", and only \($0) are free" : " of \($0) that are free" } ?? "")
        }
        return
            (["\(store): version \(from) to \(to), \(count)"] + lines
            + [way.map { "  \($0)" }, duration.map { "  \($0)" }, room].compactMap(\.self))
            .joined(separator: "\n")
    }

    /// The time in words; nil where it is not known, or less than a second.
    package var duration: String? {
        guard let time, time.upperBound >= .seconds(1) else { return nil }
        func seconds(_ duration: Duration) -> Int { Int((duration / .seconds(1)).rounded(.up)) }
        let (least, most) = (seconds(time.lowerBound), seconds(time.upperBound))
        return least == most ? "takes about \(most) s" : "takes \(least) to \(most) s"
    }

    /// What becomes of the store's identity, in words; nil for a store that stays itself.
    package var way: String? {
        switch (isCopy, keepsIdentifiers) {
        case (true, true): "is copied into a new store, in which records keep their identifiers"
        case (true, false): "is copied into a new store, in which records get new identifiers"
        case (false, true): nil
        case (false, false): "gives the records new identifiers"
        }
    }
}
