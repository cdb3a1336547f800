import FaultWorkload
import Foundation
import MortiseCore
import MortiseEngine
import Testing

@testable import MortiseAppendLog
import MortiseTestSupport

/// Values that a newer program has saved and this one's types do not know, however they get here.
///
/// They once came through as verified where a table had been verified before, or was made by the first of them: a getter
/// then gave the default, or ended the process.
struct UnknownRemoteValueTests {
    private func older(_ disk: any FileSystem, allowsSave: Bool = true) throws -> ModelContainer {
        try ModelContainer(
            for: Schema([OlderProgram.Paint.self]), configurations: [configuration(disk, allowsSave: allowsSave)])
    }

    private func newer(_ disk: any FileSystem) throws -> ModelContainer {
        try ModelContainer(for: Schema([NewerProgram.Paint.self]), configurations: [configuration(disk)])
    }

    private func configuration(_ disk: any FileSystem, allowsSave: Bool = true) -> AppendLogConfiguration {
        var configuration = AppendLogConfiguration(
            path: logPath, allowsSave: allowsSave, sharing: allowsSave ? .shared : .exclusive, in: disk)
        configuration.allocationStep = 4_096
        return configuration
    }

    private func save(_ container: ModelContainer, _ paints: [(String, NewerProgram.Color)]) throws {
        let context = ModelContext(container)
        for (name, color) in paints { context.insert(NewerProgram.Paint(name, color)) }
        try context.save()
    }

    private func names(_ context: ModelContext, _ prefix: String = "") throws -> [String] {
        try context.fetch(FetchDescriptor<OlderProgram.Paint>(predicate: #Predicate { $0.name.starts(with: prefix) }))
            .map { "\($0.name) \($0.color)" }
    }

    private func expectUnknown(at location: SourceLocation = #_sourceLocation, _ body: () throws -> Void) {
        #expect(sourceLocation: location) {
            try body()
        } throws: {
            guard case .invalidStoredValue("Paint", "color", _, "\"blue\"")? = $0 as? ModelContextError else {
                return false
            }
            return true
        }
    }

    @Test(arguments: [true, false])
    func whatAnotherProcessSavesIsVerified(allowsSave: Bool) throws {
        let disk = try makeDisk()
        let other = try newer(disk.process(100))
        let container = try older(disk.process(101), allowsSave: allowsSave)
        let context = ModelContext(container)
        #expect(try names(context) == [])
        // A table that is made by it, then one that was verified before.
        try save(other, [("a", .blue)])
        expectUnknown { _ = try names(context) }
        try save(other, [("b", .red), ("c", .red)])
        expectUnknown { _ = try names(context) }
        // What can be read of the same chunk is.
        #expect(try names(context, "b") == ["b red"])
        #expect(try names(ModelContext(container), "c") == ["c red"])
        #expect(try context.fetchCount(FetchDescriptor<OlderProgram.Paint>()) == 3)
        try container.close()
        try other.close()
    }

    @Test func aModelIsNotMovedToAValueThatItsTypeDoesNotKnow() throws {
        let disk = try makeDisk()
        let other = try newer(disk.process(100))
        try save(other, (0..<700).map { ("paint \($0)", .red) })
        let container = try older(disk.process(101))
        let context = ModelContext(container)
        let models = try context.fetch(FetchDescriptor<OlderProgram.Paint>())
        #expect(models.count == 700)
        let writing = ModelContext(other)
        let wanted = "paint 300"
        let changed = try #require(
            try writing.fetch(FetchDescriptor<NewerProgram.Paint>(predicate: #Predicate { $0.name == wanted })).first)
        changed.color = .blue
        try writing.save()
        expectUnknown { _ = try context.fetchCount(FetchDescriptor<OlderProgram.Paint>()) }
        #expect(models.allSatisfy { $0.color == .red })
        // A context without a model of it goes by it.
        #expect(try names(ModelContext(container), "paint 299") == ["paint 299 red"])
        expectUnknown { _ = try names(ModelContext(container), "paint 300") }
        try container.close()
        try other.close()
    }

    @Test func whatIsBehindACheckpointIsVerifiedLikeWhatItHas() throws {
        let disk = try makeDisk()
        let first = try newer(disk)
        try save(first, [("a", .red)])
        try first.store(AppendLogStore.self)?.checkpoint()
        try save(first, [("b", .blue)])
        try first.close()
        let container = try older(disk)
        expectUnknown { _ = try names(ModelContext(container)) }
        #expect(try names(ModelContext(container), "a") == ["a red"])
        try container.close()
    }

    @Test func theFirstFetchReadsNoMoreChunksThanItNeeds() throws {
        let disk = try makeDisk()
        var counts: [Int] = []
        for size in [2_000, 12_000] {
            let container = try newer(disk)
            try save(container, (0..<size).map { ("paint \(size) \($0)", .red) })
            try container.store(AppendLogStore.self)?.checkpoint()
            try container.close()
            let again = try older(disk)
            // To verify an answer takes all chunks.
            again.verifiesPushDown = false
            let before = disk.trace.count
            let wanted = "paint \(size) 700"
            let found = try ModelContext(again).fetch(
                FetchDescriptor<OlderProgram.Paint>(predicate: #Predicate { $0.name == wanted }))
            #expect(found.map(\.color) == [.red])
            counts.append(
                disk.trace.dropFirst(before).count { $0.operation == .read && $0.path == logPath + ".checkpoint" })
            try again.close()
        }
        #expect(counts[1] <= counts[0] + 3, "\(counts)")
    }
}

enum OlderProgram {
    enum Color: String, Codable, CaseIterable { case red }

    final class Paint: PersistentModel {
        var persistentBackingData: any BackingData<Paint> = Paint.createBackingData()
        static var schemaMetadata: [Schema.PropertyMetadata] {
            [
                .init(name: "name", keypath: \Paint.name, metadata: Schema.Attribute(.unique)),
                .init(name: "color", keypath: \Paint.color),
            ]
        }
        init(backingData: any BackingData<Paint>) { persistentBackingData = backingData }
        var name: String {
            get { getValue(forKey: \.name) }
            set { setValue(forKey: \.name, to: newValue) }
        }
        var color: Color {
            get { getValue(forKey: \.color) }
            set { setValue(forKey: \.color, to: newValue) }
        }
    }
}

enum NewerProgram {
    enum Color: String, Codable, CaseIterable { case red, blue }

    final class Paint: PersistentModel {
        var persistentBackingData: any BackingData<Paint> = Paint.createBackingData()
        static var schemaMetadata: [Schema.PropertyMetadata] {
            [
                .init(name: "name", keypath: \Paint.name, metadata: Schema.Attribute(.unique)),
                .init(name: "color", keypath: \Paint.color),
            ]
        }
        init(backingData: any BackingData<Paint>) { persistentBackingData = backingData }
        init(_ name: String, _ color: Color) {
            self.name = name
            self.color = color
        }
        var name: String {
            get { getValue(forKey: \.name) }
            set { setValue(forKey: \.name, to: newValue) }
        }
        var color: Color {
            get { getValue(forKey: \.color) }
            set { setValue(forKey: \.color, to: newValue) }
        }
    }
}
