import FaultWorkload
import Foundation
import MortiseCore
import PackageTestSupport
import Testing

@testable import MortiseAppendLog
@testable import MortiseEngine
import MortiseTestSupport

/// Nodes of an index beneath its root that have rotted in a checkpoint: read long after opening, by whoever comes by.
struct IndexDamageTests {
    private let checkpointPath = logPath + ".checkpoint"
    fileprivate static let count = isFullSize ? 20_000 : 2_000

    /// A node in the file, and how many entries of the index come before its own.
    private struct Node {
        let place: PackedNode.Place
        let rank: Int
    }

    fileprivate static func label(_ rank: Int) -> String { String(format: "box %06d", rank) }

    private func makeLog(on disk: SimulatedFileSystem, _ test: String = #function) throws {
        let configuration = logConfiguration(disk, history: .keep(days: 0))
        var generator = TestGenerator(seed: testSeed(test))
        try withLog(configuration) { context in
            for rank in (0..<Self.count).shuffled(using: &generator) { context.insert(Box(Self.label(rank))) }
            try context.save()
        }
        let store = try openStore(configuration)
        try store.compact()
        try store.close()
    }

    /// All nodes of the labels' index but the root.
    private func nodes(on disk: SimulatedFileSystem) throws -> [Node] {
        let store = try openStore(logConfiguration(disk))
        defer { try? store.close() }
        let index = try #require(store.engine.version.tables["Box"]?.indexes.first)
        #expect(index.count == Self.count)
        var found: [Node] = []
        func look(_ node: IndexNode, from rank: Int) throws {
            var rank = rank
            for (cell, count) in zip(node.cells, node.counts) {
                if case .packed(let packed) = cell {
                    found.append(Node(place: packed.place, rank: rank))
                    try look(packed.read(), from: rank)
                }
                rank += count
            }
        }
        try look(try #require(index.root), from: 0)
        return found
    }

    private func rotten(_ nodes: [Node], of disk: SimulatedFileSystem) throws -> SimulatedFileSystem {
        var bytes = try #require(disk.contents(at: checkpointPath))
        for node in nodes { bytes[Int(node.place.region.offset) + Int(node.place.region.length) / 2] ^= 0x10 }
        return try makeDisk(with: try #require(disk.contents(at: logPath)), checkpoint: bytes)
    }

    private func isDamage(_ error: any Error, of node: Node) -> Bool {
        guard let error = error as? AppendLogError, error.path == checkpointPath,
            case .damagedRegion(let offset, _) = error.fault
        else { return false }
        return offset == Int64(node.place.region.offset)
    }

    @Test func whoeverComesByARottenNodeGetsItsErrorAndNoAnswer() throws {
        let disk = try makeDisk()
        try makeLog(on: disk)
        let all = try nodes(on: disk)
        let levels = Set(all.map(\.place.level))
        #expect(levels == (isFullSize ? [0, 1] : [0]))
        let tried = all.enumerated().filter { $0.offset % 9 == 0 || $0.element.place.level > 0 }.map(\.element)
        #expect(tried.count >= 2)
        for node in tried {
            let other = try rotten([node], of: disk)
            let log = try #require(other.contents(at: logPath))
            for use in Use.all {
                #expect("\(use.name), node at \(node.place.region.offset) of level \(node.place.level)") {
                    try withLog(logConfiguration(other)) { try use.body($0, node.rank) }
                } throws: {
                    isDamage($0, of: node)
                }
                #expect(other.contents(at: logPath) == log)
            }
        }
    }

    /// What a lost node's memory happens to hold must never pass for entries.
    @Test func aTreeHasNoEntriesWhereItsNodesCannotBeRead() throws {
        let disk = try makeDisk()
        try makeLog(on: disk)
        for node in try nodes(on: disk) {
            let store = try openStore(logConfiguration(try rotten([node], of: disk)))
            defer { try? store.close() }
            let index = try #require(store.engine.version.tables["Box"]?.indexes.first)
            for rank in node.rank..<(node.rank + node.place.total) {
                #expect(index.entry(at: rank) == nil)
                if rank % 50 == 0 {
                    let key = KeyBuffer()
                    key.append(string: Self.label(rank))
                    #expect(index.firstRow(key.key) == nil)
                }
            }
            #expect((index.entry(at: node.rank - 1) != nil) == (node.rank > 0))
        }
    }

    @Test func verificationNamesEveryRottenNodeAndSalvageDoesWithout() throws {
        let disk = try makeDisk()
        try makeLog(on: disk)
        let all = try nodes(on: disk)
        let rotten = [all[0], all[all.count / 2], all[all.count - 1]].filter { $0.place.level == 0 }
        #expect(rotten.count >= 2)
        let other = try self.rotten(rotten, of: disk)
        let found = try AppendLogStore.verify(logPath, in: other)
        for node in rotten {
            #expect(found.problems.contains { isDamage($0, of: node) }, "\(found.problems)")
        }
        #expect(found.problems.count == rotten.count, "\(found.problems)")
        _ = try AppendLogStore.salvage(logPath, to: "/data/saved.log", in: other)
        let saved = try withLog(logConfiguration(other, path: "/data/saved.log")) { context in
            try context.fetch(FetchDescriptor<Box>()).map(\.label).sorted()
        }
        #expect(saved == (0..<Self.count).map(Self.label))
    }
}

/// Something that goes by the node whose first entry has a rank.
private struct Use {
    let name: String
    let body: (ModelContext, _ rank: Int) throws -> Void

    init(_ name: String, _ body: @escaping (ModelContext, _ rank: Int) throws -> Void) {
        self.name = name
        self.body = body
    }

    static var all: [Use] {
        [
            Use("a place in the order") { context, rank in
                var descriptor = FetchDescriptor<Box>(sortBy: [SortDescriptor(\.label)])
                (descriptor.fetchOffset, descriptor.fetchLimit) = (rank + 1, 3)
                _ = try context.fetch(descriptor)
            },
            Use("a place in the order turned round") { context, rank in
                var descriptor = FetchDescriptor<Box>(sortBy: [SortDescriptor(\.label, order: .reverse)])
                (descriptor.fetchOffset, descriptor.fetchLimit) = (IndexDamageTests.count - rank - 3, 3)
                _ = try context.fetch(descriptor)
            },
            Use("one key") { context, rank in
                let wanted = IndexDamageTests.label(rank + 1)
                _ = try context.fetch(FetchDescriptor<Box>(predicate: #Predicate { $0.label == wanted }))
            },
            Use("a range") { context, rank in
                let (first, last) = (IndexDamageTests.label(rank + 1), IndexDamageTests.label(rank + 4))
                _ = try context.fetch(
                    FetchDescriptor<Box>(predicate: #Predicate { $0.label >= first && $0.label <= last }))
            },
            Use("an insertion") { context, rank in
                context.insert(Box(IndexDamageTests.label(rank + 1) + " more"))
                try context.save()
            },
            Use("the same value again") { context, rank in
                context.insert(Box(IndexDamageTests.label(rank + 1)))
                try context.save()
            },
            Use("a change") { context, rank in
                let wanted = IndexDamageTests.label(rank + 2)
                let box = try context.fetch(FetchDescriptor<Box>()).first { $0.label == wanted }
                try #require(box).label = "another"
                try context.save()
            },
            Use("deletions") { context, rank in
                let gone = Set((rank..<(rank + 120)).map(IndexDamageTests.label))
                for box in try context.fetch(FetchDescriptor<Box>()) where gone.contains(box.label) {
                    context.delete(box)
                }
                try context.save()
            },
        ]
    }
}
