import Foundation
import MortiseInMemory
import Synchronization
import Testing

@testable import MortiseCore
@testable import MortiseEngine

/// Bug: the last release of a model on another thread wrote to its context's tables while the context was in use, and a
/// context that went there emptied them. Meant for the thread sanitizer; without it, identity and counts are checked.
@Suite struct LastReleaseTests {
    private static let rounds = MortiseTestSize.isFull ? 400 : 60

    private static func context(_ count: Int) throws -> ModelContext {
        let container = try ModelContainer(
            for: Schema([Berth.self]), configurations: [InMemoryConfiguration("berths")])
        let context = ModelContext(container)
        for number in 0..<count { context.insert(Berth(number)) }
        try context.save()
        return context
    }

    /// What non-isolated code releases, as the deinitializer of a class of the main actor does.
    private final class Carrier: @unchecked Sendable {
        // @unchecked: the one thread that has it last only lets go of it.
        private var things: [AnyObject]
        init(_ things: [AnyObject]) { self.things = things }
    }

    /// Lets go of things on another thread, one after the other.
    private final class Dropper: Sendable {
        private let queue = DispatchQueue(label: "dropper", attributes: .concurrent)
        private let group = DispatchGroup()

        func drop(_ things: [AnyObject]) {
            let carrier = Carrier(things)
            queue.async(group: group) { withExtendedLifetime(carrier) {} }
        }
        func wait() { group.wait() }
    }

    @Test func modelsAreReleasedElsewhereWhileTheContextFetches() throws {
        let count = 700
        let context = try Self.context(count)
        let dropper = Dropper()
        var kept: [Berth] = []
        for round in 0..<Self.rounds {
            let berths = try context.fetch(FetchDescriptor<Berth>())
            #expect(berths.count == count && Set(berths.map(\.number)).count == count)
            #expect(berths.allSatisfy { $0.modelContext === context })
            // A few are held all the time, and stay the ones that stand for their records.
            if round % 10 == 0 { kept = berths.filter { $0.number % 50 == round % 50 } }
            for berth in kept { #expect(berths.contains { $0 === berth }) }
            dropper.drop(berths)
        }
        kept = []
        dropper.wait()
        let berths = try context.fetch(FetchDescriptor<Berth>())
        #expect(Set(berths.map(ObjectIdentifier.init)).count == count)
    }

    @Test func modelsAreReleasedElsewhereWhileOthersAreMadeOfTheSameRows() throws {
        let context = try Self.context(64)
        let dropper = Dropper()
        for _ in 0..<Self.rounds * 20 {
            let berths = try context.fetch(FetchDescriptor<Berth>())
            dropper.drop(berths)
            // The rows' models may just be going: what stands for a row now must be one that is there.
            let again = try context.fetch(FetchDescriptor<Berth>())
            let other = try context.fetch(FetchDescriptor<Berth>())
            for (first, second) in zip(again, other) { #expect(first === second) }
        }
        dropper.wait()
    }

    @Test func modelsAreReleasedElsewhereWhileTheContextSavesAndRefreshes() throws {
        let context = try Self.context(300)
        let writer = ModelContext(context.container)
        let dropper = Dropper()
        for round in 0..<Self.rounds {
            for berth in try writer.fetch(FetchDescriptor<Berth>()) where berth.number % 7 == round % 7 {
                berth.length += 1
            }
            try writer.save()
            let berths = try context.fetch(FetchDescriptor<Berth>())
            for berth in berths where berth.number % 11 == 0 { berth.length += 1 }
            dropper.drop(berths)
            try context.refresh()
            try context.save()
        }
        dropper.wait()
        #expect(try context.fetch(FetchDescriptor<Berth>()).allSatisfy { $0.length > 0 || Self.rounds < 7 })
    }

    @Test func aContextGoesElsewhereWhileItsModelsAreInUse() throws {
        let dropper = Dropper()
        for round in 0..<Self.rounds {
            var context: ModelContext? = try Self.context(20)
            let berths = try context?.fetch(FetchDescriptor<Berth>()) ?? []
            let new = (0..<5).map { Berth(100 + $0) }
            for (berth, other) in zip(new, berths) {
                context?.insert(berth)
                berth.next = other
                other.next = berth
            }
            berths[10].length = 7
            if let going = context { dropper.drop([going] + (round % 2 == 0 ? [] : new)) }
            context = nil
            for berth in berths {
                #expect(berth.number < 20 && berth.length >= 0)
                berth.length += 1
                _ = berth.next?.number
                berth.next = berths[0]
            }
            #expect(berths[10].length == 8)
        }
        dropper.wait()
    }

    @Test func whatIsReleasedElsewhereIsNotKept() throws {
        weak var container: ModelContainer?
        weak var berth: Berth?
        let dropper = Dropper()
        do {
            let context = try Self.context(10)
            container = context.container
            let berths = try context.fetch(FetchDescriptor<Berth>())
            berths[0].next = berths[1]
            berths[1].next = berths[0]
            berth = berths[0]
            dropper.drop([context] + berths)
        }
        dropper.wait()
        #expect(container == nil && berth == nil)
    }
}

enum MortiseTestSize {
    static let isFull = ProcessInfo.processInfo.environment["MORTISE_TEST_SIZE"] == "full"
}

/// Written by hand, since tests of the engine are built without macros.
final class Berth: PersistentModel {
    var persistentBackingData: any BackingData<Berth> = Berth.createBackingData()
    static var schemaMetadata: [Schema.PropertyMetadata] {
        [
            .init(name: "number", keypath: \Berth.number), .init(name: "length", keypath: \Berth.length),
            .init(name: "next", keypath: \Berth.next, metadata: Schema.Relationship(inverse: \Berth.previous)),
            .init(name: "previous", keypath: \Berth.previous),
        ]
    }
    init(backingData: any BackingData<Berth>) { persistentBackingData = backingData }
    init(_ number: Int) {
        self.number = number
        self.length = 0
    }

    var number: Int {
        get { getValue(forKey: \.number) }
        set { setValue(forKey: \.number, to: newValue) }
    }
    var length: Int {
        get { getValue(forKey: \.length) }
        set { setValue(forKey: \.length, to: newValue) }
    }
    var next: Berth? {
        get { getValue(forKey: \.next) }
        set { setValue(forKey: \.next, to: newValue) }
    }
    var previous: Berth? {
        get { getValue(forKey: \.previous) }
        set { setValue(forKey: \.previous, to: newValue) }
    }
}
