import Foundation
import MortiseCore
import MortiseInMemory
import PackageTestSupport

/// Live results on an actor, of a context that others change: sequences of differences and of values, an observer that is told by
/// itself, and an observer of the history.
actor Consumer {
    func run(seed: UInt64) async -> String? {
        do {
            return try await runRounds(seed)
        } catch {
            return "a consumer threw \(error)"
        }
    }

    private func runRounds(_ seed: UInt64) async throws -> String? {
        var random = SeededGenerator(seed: seed)
        let container = try ModelContainer(
            for: Schema([Item.self, Folder.self, Tag.self]), configurations: [InMemoryConfiguration()])
        let (context, writer) = (ModelContext(container), ModelContext(container))
        writer.author = "writer"
        for _ in 0..<random.pick([0, 20, 400]) { writer.insert(Program.item(&random)) }
        try writer.save()
        var descriptor = FetchDescriptor<Item>(
            predicate: #Predicate { $0.score > 0 }, sortBy: [SortDescriptor(\.name), SortDescriptor(\.rank)])
        descriptor.fetchLimit = random.pick([nil, nil, 7])
        let observer = try ResultsObserver<Item, Never>(fetchDescriptor: descriptor, modelContext: context)
        let history = try HistoryObserver(
            observedModels: [Item.self], authors: ["writer"], modelContainer: container)
        var changes = context.changes(of: descriptor).makeAsyncIterator()
        var counts = context.values(of: .count, in: FetchDescriptor<Item>()).makeAsyncIterator()
        var sums = context.values(of: .sum(\.rank), in: FetchDescriptor<Item>()).makeAsyncIterator()
        var rows: [PersistentIdentifier] = []
        var isFirst = true
        var (lastCount, lastSum): (Int?, Int?) = (nil, nil)
        for round in 0..<10 {
            let before = history.eventCounter
            for _ in 0..<random.pick([1, 5, 20]) {
                let items = try writer.fetch(FetchDescriptor<Item>())
                if random.chance(2) { writer.insert(Program.item(&random)) }
                if let item = items.randomElement(using: &random) {
                    if random.chance(3) { writer.delete(item) } else { item.rank = random.pick([nil, 1, 2, 3]) }
                }
                try writer.save()
            }
            // First in order, so that it is seen in any window.
            let last = Item(name: " \(999 - round)", score: 1, rank: 1, kind: nil)
            writer.insert(last)
            try writer.save()
            let expected = try writer.fetchIdentifiers(descriptor)
            while rows.first != last.persistentModelID {
                guard let change = try await changes.next(isolation: self) else { return "the sequence ended" }
                if isFirst, !change.isReset || change.oldCount != 0 { return "the first element is no reset" }
                isFirst = false
                if change.oldCount != rows.count { return "\(change.oldCount) rows before, not \(rows.count)" }
                rows = change.applied(to: rows) { $0 }
            }
            if rows != expected { return "the sequence led to \(rows.count) rows, a fetch finds \(expected.count)" }
            try await wait(until: { observer.results.first === context.registered(last) })
            if observer.results.map(\.persistentModelID) != expected { return "the observer shows other rows" }
            let count = try writer.fetchCount(FetchDescriptor<Item>())
            // A value that has not changed is not told again.
            while lastCount != count { lastCount = try await counts.next(isolation: self) }
            let sum = try writer.aggregate(FetchDescriptor<Item>(), .sum(\.rank))
            while lastSum != sum { lastSum = try await sums.next(isolation: self) }
            try await wait(until: { history.eventCounter != before })
            if history.eventCounter == before { return "the history's observer did not count" }
            if let fault = try await pending(context, descriptor, &changes, &rows) { return fault }
        }
        return await ends(container)
    }

    /// Lets others run until something holds, or ten seconds have passed.
    private func wait(until condition: () -> Bool) async throws {
        let end = ContinuousClock.now + .seconds(10)
        while !condition(), .now < end { try await Task.sleep(for: .milliseconds(1)) }
    }

    /// Unsaved changes are told, and so is that they are dropped.
    private func pending(
        _ context: ModelContext, _ descriptor: FetchDescriptor<Item>,
        _ changes: inout ResultsChanges<Item>.AsyncIterator, _ rows: inout [PersistentIdentifier]
    ) async throws -> String? {
        context.insert(Item(name: "", score: 2, rank: nil, kind: nil))
        guard let come = try await changes.next(isolation: self) else { return "the sequence ended" }
        rows = come.applied(to: rows) { $0 }
        if try rows != context.fetchIdentifiers(descriptor) { return "an unsaved model was not told" }
        context.rollback()
        guard let gone = try await changes.next(isolation: self) else { return "the sequence ended" }
        rows = gone.applied(to: rows) { $0 }
        return try rows == context.fetchIdentifiers(descriptor) ? nil : "a rollback was not told"
    }

    /// A consumer that waits ends when its task is cancelled.
    private func ends(_ container: ModelContainer) async -> String? {
        let task = Task {
            let context = ModelContext(container)
            var changes = context.changes(of: FetchDescriptor<Item>()).makeAsyncIterator()
            var count = 0
            while try await changes.next(isolation: self) != nil { count += 1 }
            return count
        }
        await Task.yield()
        task.cancel()
        switch await task.result {
        case .success(let count): return count <= 1 ? nil : "\(count) elements of nothing"
        case .failure(let error): return "cancelled, it threw \(error)"
        }
    }
}

extension ModelContext {
    fileprivate func registered(_ model: Item) -> Item? { registeredModel(for: model.persistentModelID) }
}
