import CustomStore
import Foundation
import Mortise
import Testing

@Model private final class Port {
    @Attribute(.unique) var code: String
    var name: String
    var depth: Int?
    init(_ code: String, _ name: String = "", depth: Int? = nil) {
        (self.code, self.name, self.depth) = (code, name, depth)
    }
}

@Suite struct FindingTests {
    private static let stores = StoreKinds.versioned + ["csv"] + StoreKinds.sqlite

    private func container(_ kind: String, _ folder: Folder) throws -> ModelContainer {
        guard kind == "csv" else {
            return try ModelContainer(
                for: Port.self,
                store: kind == "memory" ? "memory:\(UUID())" : "\(kind):\(folder.path("ports.\(kind)"))")
        }
        try FileManager.default.createDirectory(atPath: folder.path("ports"), withIntermediateDirectories: true)
        return try ModelContainer(
            for: Port.self, configurations: CSVConfiguration(folder: URL(fileURLWithPath: folder.path("ports"))))
    }

    @Test(arguments: stores) func oneOrTheFirstIsFound(_ kind: String) throws {
        let folder = try Folder()
        let context = ModelContext(try container(kind, folder))
        for (code, depth) in [("LIS", 12), ("OPO", nil), ("FNC", 12)] { context.insert(Port(code, depth: depth)) }
        try context.save()
        context.insert(Port("PDL", depth: 9))
        let byCode = FetchDescriptor<Port>(sortBy: [SortDescriptor(\.code)])
        #expect(try context.fetchFirst(byCode)?.code == "FNC")
        #expect(try context.fetchFirst(FetchDescriptor<Port>())?.code == "LIS")
        var none = byCode
        none.fetchLimit = 0
        #expect(try context.fetchFirst(none) == nil)
        #expect(try context.fetchOne(none) == nil)
        var second = byCode
        second.fetchOffset = 1
        #expect(try context.fetchFirst(second)?.code == "LIS")
        #expect(try context.fetchOne(FetchDescriptor<Port>(predicate: #Predicate { $0.depth == 9 }))?.code == "PDL")
        #expect(try context.fetchOne(FetchDescriptor<Port>(predicate: #Predicate { $0.depth == 1 })) == nil)
        #expect(throws: ModelContextError.severalModels(entity: "Port")) {
            try context.fetchOne(FetchDescriptor<Port>(predicate: #Predicate { $0.depth == 12 }))
        }
        // By a value, stored or not, with and without one.
        #expect(try context.first(Port.self, where: \.code, is: "OPO")?.depth == nil)
        #expect(try context.first(Port.self, where: \.code, is: "PDL")?.depth == 9)
        #expect(try context.first(Port.self, where: \.depth, is: nil)?.code == "OPO")
        #expect(try context.first(Port.self, where: \.depth, is: 12)?.code == "LIS")
        #expect(try context.first(Port.self, where: \.code, is: "XXX") == nil)
        let lisbon = try #require(try context.first(Port.self, where: \.code, is: "LIS"))
        lisbon.code = "LX"
        #expect(try context.first(Port.self, where: \.code, is: "LIS") == nil)
        #expect(try context.first(Port.self, where: \.code, is: "LX") === lisbon)
        context.delete(lisbon)
        #expect(try context.first(Port.self, where: \.code, is: "LX") == nil)
    }

    @Test(arguments: stores) func whatIsNotThereIsCreatedOnce(_ kind: String) throws {
        let folder = try Folder()
        let container = try container(kind, folder)
        let context = ModelContext(container)
        var made = 0
        func port(_ code: String) throws -> Port {
            try context.findOrCreate(Port.self, where: \.code, is: code) {
                made += 1
                return Port(code)
            }
        }
        for round in 0..<3 {
            for number in 0..<40 { #expect(try port("P\(number)").code == "P\(number)") }
            #expect(made == 40)
            if round == 1 { try context.save() }
        }
        #expect(try context.fetchCount(FetchDescriptor<Port>()) == 40)
        struct Refused: Error {}
        #expect(throws: Refused.self) {
            try context.findOrCreate(Port.self, where: \.code, is: "new") { throw Refused() }
        }
        #expect(try context.fetchCount(FetchDescriptor<Port>()) == 40)
        #expect(!context.hasChanges)
        // Two contexts that create one at the same time have one in the end.
        let other = ModelContext(container)
        let (mine, theirs) = (
            try port("twin"), try other.findOrCreate(Port.self, where: \.code, is: "twin") { Port("twin") }
        )
        try other.save()
        try context.save()
        #expect(
            try ModelContext(container).fetchCount(FetchDescriptor<Port>(predicate: #Predicate { $0.code == "twin" }))
                == 1)
        #expect(mine.persistentModelID == theirs.persistentModelID)
    }

    @Test func whatIsNoAttributeOfTheModelIsRefused() throws {
        let context = ModelContext(try memory(Port.self))
        for body in [
            { _ = try context.first(Port.self, where: \.code.count, is: 3) },
            { _ = try context.first(Port.self, where: \.persistentModelID.entityName, is: "Port") },
        ] {
            #expect {
                try body()
            } throws: { error in
                if case SwiftDataError.unsupportedKeyPath = error { true } else { false }
            }
        }
    }

    @Test func aLimitOfTheDescriptorDoesNotHideThatThereAreSeveral() throws {
        let context = ModelContext(try memory(Port.self))
        context.insert(Port("a"))
        context.insert(Port("b"))
        var descriptor = FetchDescriptor<Port>()
        descriptor.fetchLimit = 1
        #expect(throws: ModelContextError.severalModels(entity: "Port")) { try context.fetchOne(descriptor) }
    }
}
