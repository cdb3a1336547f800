import Foundation
import Mortise
import Testing

@Suite struct PropertyBehaviourTests {
    let container: ModelContainer
    let context: ModelContext

    init() throws {
        container = try memory(Gauge.self)
        context = ModelContext(container)
    }

    @Test func observersRunOnSettingAndNotOnMaterializing() throws {
        let gauge = Gauge()
        #expect(gauge.heralds.isEmpty && gauge.echoes.isEmpty)
        gauge.level = 3
        gauge.level += 1
        #expect(gauge.heralds == [3, 4])
        #expect(gauge.echoes == [0, 3])
        context.insert(gauge)
        try context.save()
        #expect(gauge.heralds == [3, 4])
        let other: Gauge = try onlyModel(in: ModelContext(container))
        #expect(other.level == 4)
        #expect(other.doubled == 8)
        #expect(other.heralds.isEmpty && other.echoes.isEmpty)
        gauge.level = 9
        context.rollback()
        #expect(gauge.level == 4)
        #expect(gauge.heralds == [3, 4, 9])
    }

    @Test func privatePropertiesAreStored() throws {
        let gauge = Gauge()
        gauge.whisper("psst")
        context.insert(gauge)
        try context.save()
        let other: Gauge = try onlyModel(in: ModelContext(container))
        #expect(other.overhear() == "psst")
    }

    @Test func transientPropertiesStayWithTheObjectAndAreNoChanges() throws {
        let gauge = Gauge()
        context.insert(gauge)
        try context.save()
        gauge.scratch = "here"
        #expect(!context.hasChanges)
        try context.refresh()
        #expect(gauge.scratch == "here")
        let other: Gauge = try onlyModel(in: ModelContext(container))
        #expect(other.scratch == nil)
    }

    @Test func ephemeralAttributesAreTrackedAndStayInMemoryButAreNotStored() throws {
        let gauge = Gauge()
        gauge.progress = 0.75
        gauge.mood = .cross
        gauge.note = "mine"
        context.insert(gauge)
        try context.save()
        #expect(gauge.progress == 0.75)
        #expect(gauge.mood == .cross)
        #expect(gauge.note == "mine")
        gauge.progress = 0.9
        #expect(context.hasChanges)
        try context.save()
        #expect(gauge.progress == 0.9)
        #expect(!context.hasChanges)
        let other: Gauge = try onlyModel(in: ModelContext(container))
        #expect(other.progress == 0.25)
        #expect(other.mood == .glad)
        #expect(other.note == nil)
    }

    @Test func codeOverAnyModelReadsAndWritesByKeyPath() throws {
        func bump<T: PersistentModel>(_ model: T, _ path: ReferenceWritableKeyPath<T, Int>) {
            model[keyPath: path] += 1
        }
        func count<T: PersistentModel>(_ type: T.Type, _ context: ModelContext) throws -> Int {
            try context.fetchCount(FetchDescriptor<T>())
        }
        func first<T: PersistentModel>(
            _ context: ModelContext, where predicate: Predicate<T>, by path: any KeyPath<T, Int> & Sendable
        ) throws -> T? {
            try context.fetch(FetchDescriptor(predicate: predicate, sortBy: [SortDescriptor(path)])).first
        }
        let gauge = Gauge()
        context.insert(gauge)
        bump(gauge, \.level)
        #expect(gauge.echoes == [0])
        try context.save()
        #expect(try count(Gauge.self, context) == 1)
        #expect(try first(context, where: #Predicate<Gauge> { $0.level == 1 }, by: \.level) === gauge)
        #expect(gauge.getValue(forKey: \.level) == 1)
        gauge.setValue(forKey: \.level, to: 5)
        #expect(gauge.level == 5)
    }
}
