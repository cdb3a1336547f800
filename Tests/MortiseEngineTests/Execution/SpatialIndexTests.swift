import Foundation
import MortiseCore
import MortiseInMemory
import Testing

/// An index declared as `.rtree`: an ordered pair, of which the first property narrows the rows and the second, where the
/// first has one value, too.
@Suite struct SpatialIndexTests {
    /// A grid of a hundred by a hundred, in no order.
    private func context() throws -> ModelContext {
        let container = try ModelContainer(for: Schema([Spot.self]), configurations: [InMemoryConfiguration("spots")])
        container.verifiesPushDown = true
        let context = ModelContext(container)
        for number in 0..<10_000 {
            let place = number * 7_919 % 10_000
            context.insert(Spot(x: Double(place % 100), y: Double(place / 100)))
        }
        try context.save()
        return context
    }

    private func check(
        _ context: ModelContext, _ predicate: Predicate<Spot>, finds count: Int, by detail: String, scanning: Int,
        location: SourceLocation = #_sourceLocation
    ) throws {
        var descriptor = FetchDescriptor(predicate: predicate)
        descriptor.fullScanPolicy = .refuse
        let found = try context.explain(descriptor)
        #expect(found.detail == detail && !found.isFullScan, sourceLocation: location)
        #expect(found.rowsScanned == scanning && found.rowsReturned == count, sourceLocation: location)
        let spots = try context.fetch(descriptor)
        #expect(try spots.count == count && spots.allSatisfy { try predicate.evaluate($0) }, sourceLocation: location)
    }

    @Test func aBoxIsFoundByTheIndex() throws {
        let context = try context()
        #expect(context.container.schema.stored.entities[0].indices.map(\.kind) == [.rtree])
        let (left, right, bottom, top) = (10.0, 13.0, 20.0, 29.0)
        let box: Predicate<Spot> = #Predicate { ($0.x >= left && $0.x < right) && ($0.y >= bottom && $0.y <= top) }
        try check(
            context, box, finds: 30,
            by: "index Spot(x, y): x in a range", scanning: 300)
        try check(
            context, #Predicate { $0.x == 7 && $0.y > 90 }, finds: 9, by: "index Spot(x, y): x equal, y in a range",
            scanning: 9)
        try check(
            context, #Predicate { $0.x == 7 && $0.y == 90 }, finds: 1, by: "index Spot(x, y): x equal, y equal",
            scanning: 1)
        try check(
            context, #Predicate { $0.x > 99 && $0.y > 5 }, finds: 0, by: "index Spot(x, y): x in a range", scanning: 0)
        // By its second property alone nothing is narrowed.
        let rows = FetchDescriptor<Spot>(predicate: #Predicate { $0.y == 5 })
        #expect(try context.explain(rows).isFullScan && context.fetchCount(rows) == 100)
    }

    @Test func theIndexFollowsWhatMovesAndGoes() throws {
        let context = try context()
        let corner = FetchDescriptor<Spot>(predicate: #Predicate { $0.x <= 1 && $0.y <= 1 })
        for spot in try context.fetch(corner) { spot.x += 1_000 }
        try context.save()
        #expect(try context.fetchCount(corner) == 0)
        try check(
            context, #Predicate { $0.x >= 1_000 && $0.y <= 1 }, finds: 4, by: "index Spot(x, y): x in a range",
            scanning: 4)
        try context.delete(model: Spot.self, where: #Predicate { $0.x >= 1_000 })
        try check(
            context, #Predicate { $0.x >= 99 && $0.y >= 0 }, finds: 100, by: "index Spot(x, y): x in a range",
            scanning: 100)
    }
}

final class Spot: PersistentModel {
    var persistentBackingData: any BackingData<Spot> = Spot.createBackingData()
    static var schemaMetadata: [Schema.PropertyMetadata] {
        [
            .init(name: "x", keypath: \Spot.x), .init(name: "y", keypath: \Spot.y),
            .init(
                name: "Schema.Index", keypath: \Schema.encodingVersion,
                metadata: Schema.Index<Spot>(.rtree([\.x, \.y]))),
        ]
    }
    init(backingData: any BackingData<Spot>) { persistentBackingData = backingData }
    init(x: Double, y: Double) {
        self.x = x
        self.y = y
    }

    var x: Double {
        get { getValue(forKey: \.x) }
        set { setValue(forKey: \.x, to: newValue) }
    }
    var y: Double {
        get { getValue(forKey: \.y) }
        set { setValue(forKey: \.y, to: newValue) }
    }
}
