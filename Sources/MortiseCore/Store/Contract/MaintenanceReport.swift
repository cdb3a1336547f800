/// The result of a maintenance operation: figures and problems. It has names and numbers, never values of records.
public struct MaintenanceReport: Sendable, Hashable {
    /// A count that a report gives.
    public struct Figure: Sendable, Hashable {
        /// What was counted, in a few words such as "transactions dropped".
        public let name: String
        /// The count.
        public let value: Int64

        /// Makes a figure; `name` is a plural noun such as "records read".
        public init(_ name: String, _ value: Int64) {
            self.name = name
            self.value = value
        }
    }

    /// The counts, in the order of reporting.
    public var figures: [Figure]
    /// The problems, each with its position in the store; empty if the store is sound.
    public var problems: [String]
    /// Remarks that are not problems.
    public var notes: [String]

    /// Makes a report. Without problems the store is sound.
    public init(figures: [Figure] = [], problems: [String] = [], notes: [String] = []) {
        self.figures = figures
        self.problems = problems
        self.notes = notes
    }
}
