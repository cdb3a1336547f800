import Foundation
import Mortise
import Testing

private enum Old: VersionedSchema {
    static var versionIdentifier: Schema.Version { Schema.Version(1, 0, 0) }
    static var models: [any PersistentModel.Type] { [Parcel.self] }

    @Model final class Parcel {
        var weight: Int
        init(_ weight: Int) { self.weight = weight }
    }
}

private enum New: VersionedSchema {
    static var versionIdentifier: Schema.Version { Schema.Version(2, 0, 0) }
    static var models: [any PersistentModel.Type] { [Parcel.self] }

    @Model final class Parcel {
        var weight: Int
        var label: String = ""
        init(_ weight: Int) { self.weight = weight }
    }
}

/// What the stage of the plan does, in the task of the test.
private enum Stage {
    @TaskLocal static var progress: Progress?
    @TaskLocal static var cancels = false
    /// Whether the code never asks whether it was cancelled.
    @TaskLocal static var isDeaf = false
    @TaskLocal static var seen: Fractions?
}

private final class Fractions: @unchecked Sendable {
    // @unchecked: only the thread that opens the container changes it, and the test reads it afterwards.
    var all: [Double] = []
}

private enum Plan: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] { [Old.self, New.self] }
    static var migrationOptions: MigrationOptions {
        var options = MigrationOptions()
        options.progress = { _ in
            if let progress = Stage.progress { Stage.seen?.all.append(progress.fractionCompleted) }
        }
        return options
    }
    static var stages: [MigrationStage] {
        [
            .custom(from: Old.self, to: New.self, mapping: .inferred) { _, new in
                for record in try new.records("Parcel") {
                    try new.update(record.id, ["label": .string("parcel")])
                    if Stage.cancels { Stage.progress?.cancel() }
                    if !Stage.isDeaf { try new.checkCancellation() }
                }
            }
        ]
    }
}

@Suite struct OpeningProgressTests {
    private func configuration(_ name: String, _ folder: Folder) -> AppendLogConfiguration {
        AppendLogConfiguration(name, path: folder.path("\(name).log"))
    }

    private func fill(_ name: String, _ folder: Folder) throws {
        let container = try ModelContainer(
            for: Schema(versionedSchema: Old.self), configurations: [configuration(name, folder)])
        let context = ModelContext(container)
        for weight in 0..<300 { context.insert(Old.Parcel(weight)) }
        try context.save()
        try container.close()
    }

    private func open(_ folder: Folder, _ progress: Progress) async throws -> ModelContainer {
        try await ModelContainer.open(
            for: Schema(versionedSchema: New.self), migrationPlan: Plan.self,
            configurations: [configuration("parcels", folder)], progress: progress)
    }

    @Test func whatIsShownGrowsToTheEnd() async throws {
        let folder = try Folder()
        try fill("parcels", folder)
        let progress = Progress(totalUnitCount: 1)
        let seen = Fractions()
        let container = try await Stage.$progress.withValue(progress) {
            try await Stage.$seen.withValue(seen) { try await open(folder, progress) }
        }
        #expect(seen.all.count > 2 && seen.all == seen.all.sorted() && seen.all.allSatisfy { (0...0.91).contains($0) })
        #expect(seen.all.last ?? 0 > 0.5)
        #expect(progress.fractionCompleted == 1 && progress.isFinished)
        let labels = try ModelContext(container).fetch(FetchDescriptor<New.Parcel>()).map(\.label)
        #expect(labels == Array(repeating: "parcel", count: 300))
        try container.close()

        // Nothing is left to do; the same progress serves again.
        try await open(folder, progress).close()
        #expect(progress.isFinished && progress.fractionCompleted == 1)
    }

    @Test(arguments: [false, true]) func cancellingItLeavesTheStoreAsItWas(isDeaf: Bool) async throws {
        let folder = try Folder()
        try fill("parcels", folder)
        let cancelled = Progress(totalUnitCount: 1)
        cancelled.cancel()
        await #expect(throws: CancellationError.self) { try await open(folder, cancelled) }
        let progress = Progress(totalUnitCount: 1)
        await #expect(throws: CancellationError.self) {
            try await Stage.$progress.withValue(progress) {
                try await Stage.$cancels.withValue(true) {
                    try await Stage.$isDeaf.withValue(isDeaf) { try await open(folder, progress) }
                }
            }
        }
        #expect(!progress.isFinished)
        let old = try ModelContainer(
            for: Schema(versionedSchema: Old.self), configurations: [configuration("parcels", folder)])
        #expect(try ModelContext(old).fetchCount(FetchDescriptor<Old.Parcel>()) == 300)
    }
}
