import Foundation
import MortiseAppendLog
import MortiseCore
import MortiseEngine
import MortiseInMemory
import MortiseJSONFile
import MortiseTestSupport

/// The same records in one store, with one context that holds the unsaved changes.
final class QueryWorld {
    let name: String
    private(set) var context: ModelContext
    /// In identity order: what is stored, then what is new.
    private(set) var items: [Item] = []
    private(set) var boxes: [Box] = []
    private(set) var container: ModelContainer
    private var stored: [Item]?

    /// - Parameter reopens: whether the records are read back from a file before they are queried.
    init(
        _ name: String, _ configuration: any DataStoreConfiguration, _ data: QueryData, reopens: Bool = false
    ) throws {
        self.name = name
        container = try Self.open(configuration)
        context = ModelContext(container)
        for values in data.boxes {
            let box = Box(values)
            boxes.append(box)
            context.insert(box)
        }
        for (box, values) in zip(boxes, data.boxes) { box.outer = find(boxes, values.outer) }
        for values in data.items { insert(values) }
        try context.save()
        if reopens {
            try container.close()
            container = try Self.open(configuration)
            context = ModelContext(container)
            items = try context.fetch(FetchDescriptor())
            boxes = try context.fetch(FetchDescriptor())
        }
        for change in data.changes { apply(change) }
    }

    private static func open(_ configuration: any DataStoreConfiguration) throws -> ModelContainer {
        try ModelContainer(for: Schema([Item.self, Special.self, Box.self]), configurations: [configuration])
    }

    private func find(_ boxes: [Box], _ serial: Int?) -> Box? { boxes.first { $0.serial == serial } }

    private func insert(_ values: ItemValues) {
        let item = values.isSpecial ? Special(values) : Item(values)
        context.insert(item)
        link(item, values)
        items.append(item)
    }

    private func link(_ item: Item, _ values: ItemValues) {
        item.box = find(boxes, values.box)
        item.peers = values.peers.compactMap { find(boxes, $0) }
    }

    private func apply(_ change: QueryData.Change) {
        switch change {
        case .insert(let values): insert(values)
        case .update(let serial, let values):
            guard let item = items.first(where: { $0.serial == serial }) else { return }
            item.take(values)
            link(item, values)
        case .delete(let serial):
            guard let place = items.firstIndex(where: { $0.serial == serial }) else { return }
            context.delete(items.remove(at: place))
        case .updateBox(let serial, let values):
            guard let box = find(boxes, serial) else { return }
            box.take(values)
            box.outer = find(boxes, values.outer)
        case .deleteBox(let serial):
            guard let place = boxes.firstIndex(where: { $0.serial == serial }) else { return }
            context.delete(boxes.remove(at: place))
        }
    }

    /// The models as stored, seen by a context without changes.
    func storedItems() throws -> [Item] {
        if let stored { return stored }
        let found = try ModelContext(container).fetch(FetchDescriptor<Item>())
        stored = found
        return found
    }

    /// - Parameter hasIndexes: whether the engine by itself has the models' indexes, which the file stores always have.
    static func all(_ data: QueryData, hasIndexes: Bool) throws -> [QueryWorld] {
        // Files of the same name on disks of their own, in memory: only what the adapters write and read is wanted.
        let path = "/world-\(UUID().uuidString)"
        return [
            hasIndexes
                ? try QueryWorld("engine", InMemoryConfiguration(), data)
                : try QueryWorld("engine without indexes", UnindexedConfiguration(), data),
            try QueryWorld("residual", ScanningConfiguration(), data),
            try QueryWorld("plain", PlainConfiguration(), data),
            try QueryWorld(
                "JSON file", JSONFileConfiguration(path: "\(path).json", in: SimulatedFileSystem()), data, reopens: true
            ),
            try QueryWorld(
                "append log", AppendLogConfiguration(path: "\(path).log", in: SimulatedFileSystem()), data,
                reopens: true),
        ]
    }
}
