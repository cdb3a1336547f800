import Foundation

/// Tells how far a migration has come, and ends it where its task or its `Progress` is cancelled.
final class MigrationMeter {
    /// What the opening of a container reports to; see `ModelContainer.open`.
    final class Reporting: @unchecked Sendable {
        // @unchecked: only the thread that opens the container changes it, and the fields of the progress, which another may read
        // and cancel. It gets no children: off Apple the set of those is not guarded.
        private let progress: Progress
        private var stores: Int64 = 0

        static let units: Int64 = 1_000

        init(_ progress: Progress, stores: Int) {
            self.progress = progress
            progress.completedUnitCount = 0
            progress.totalUnitCount = Int64(stores) * Self.units
        }

        /// The number of units that come before another store's.
        func begin() -> Int64 {
            stores += 1
            return (stores - 1) * Self.units
        }

        func advance(to units: Int64) { progress.completedUnitCount = max(progress.completedUnitCount, units) }

        /// Notes that all stores are open.
        func finish() { progress.completedUnitCount = progress.totalUnitCount }

        /// - Throws: `CancellationError` if it was cancelled.
        func checkCancellation() throws { if progress.isCancelled { throw CancellationError() } }

        /// - Throws: `CancellationError` if the task, or what the opening reports to, was cancelled.
        static func checkCancellation() throws {
            try Task.checkCancellation()
            try MigrationMeter.reporting?.checkCancellation()
        }
    }
    @TaskLocal static var reporting: Reporting?
    /// Whether code of a plan runs: stores that it opens are not those that the opening reports on.
    @TaskLocal static var isInStage = false
    /// Whether this thread migrates stores: who opens one of them there would wait for itself.
    @TaskLocal static var isMigrating = false

    private let report: (@Sendable (MigrationProgress) -> Void)?
    private let store: String
    private let versions: (from: Schema.Version, to: Schema.Version)
    private let stages: Int
    private let records: Int
    private var stage = 0
    private var part = MigrationProgress.Part.mapping
    private var completed = 0
    private var last: ContinuousClock.Instant?
    private let reporting: Reporting?
    private let firstUnit: Int64

    init(
        _ report: (@Sendable (MigrationProgress) -> Void)?, store: String, from: Schema.Version, to: Schema.Version,
        stages: Int, records: Int
    ) {
        self.report = report
        self.store = store
        self.stages = stages
        self.records = records
        versions = (from, to)
        reporting = Self.isInStage ? nil : Self.reporting
        firstUnit = reporting?.begin() ?? 0
    }

    func beginStage() { stage += 1 }

    /// - Throws: `CancellationError`.
    func begin(_ part: MigrationProgress.Part) throws {
        (self.part, completed) = (part, 0)
        try advance(by: 0, isBeginning: true)
    }

    /// - Throws: `CancellationError`.
    func advance(by count: Int, isBeginning: Bool = false) throws {
        completed += count
        if part != .writing { try Reporting.checkCancellation() }
        reporting?.advance(to: firstUnit + units)
        guard let report else { return }
        let now = ContinuousClock.now
        if !isBeginning, let last, now - last < .milliseconds(100) { return }
        last = now
        report(
            MigrationProgress(
                store: store, from: versions.from, to: versions.to, stage: max(1, min(stage, stages)), stages: stages,
                part: part, completed: completed, records: records))
    }

    /// Notes that the outcome is durable.
    func end() { reporting?.advance(to: firstUnit + Reporting.units) }

    /// How far this is, in thousandths: a stage is half mapping and half code, and a tenth is kept for writing.
    private var units: Int64 {
        let mapped = Double(min(completed, records)) / Double(max(records, 1))
        let ofStage =
            switch part {
            case .mapping: mapped / 2
            case .code: 0.5
            case .writing: 1.0
            }
        let done = Double(max(stage, 1) - 1) + ofStage
        return Int64(Double(Reporting.units) * 0.9 * min(done / Double(max(stages, 1)), 1))
    }
}
