import Foundation
import Mortise
import PackageTestSupport
import Testing

@Model private final class PierPlace {
    #Unique<PierPlace>([\.harbor, \.pier, \.number])
    var harbor: String
    var pier: Int?
    var number: Int
    var name: String
    init(_ harbor: String, _ pier: Int?, _ number: Int, _ name: String = "") {
        (self.harbor, self.pier, self.number, self.name) = (harbor, pier, number, name)
    }
}

@Suite struct FindingByKeysTests {
    private func container(_ kind: String, _ folder: Folder) throws -> ModelContainer {
        try ModelContainer(
            for: PierPlace.self,
            store: kind == "memory" ? "memory:\(UUID())" : "\(kind):\(folder.path("berths.\(kind)"))")
    }

    /// Stored and unsaved models, changes and deletions, against a search by hand.
    @Test(arguments: StoreKinds.versioned + StoreKinds.sqlite, [1, 2])
    func modelsAreFoundByValuesOfSeveralProperties(_ kind: String, _ seed: UInt64) throws {
        let folder = try Folder()
        let context = ModelContext(try container(kind, folder))
        var random = SeededGenerator(seed: seed)
        let (harbors, piers) = (["LIS", "OPO", "e\u{301}"], [nil, 1, 2])
        for step in 0..<120 {
            let all = try context.fetch(FetchDescriptor<PierPlace>())
            let harbor = harbors.randomElement(using: &random) ?? ""
            let (pier, number) = (piers.randomElement(using: &random) ?? nil, Int.random(in: 0..<4, using: &random))
            let expected = all.first { $0.harbor == harbor && $0.pier == pier && $0.number == number }
            let found = try context.first(
                PierPlace.self, where: \.harbor, \.pier, \.number, is: harbor, pier, number)
            #expect(found === expected, "step \(step) of seed \(seed)")
            let two = try context.first(PierPlace.self, where: \.pier, \.number, is: pier, number)
            #expect(two === all.first { $0.pier == pier && $0.number == number }, "step \(step) of seed \(seed)")
            switch Int.random(in: 0..<5, using: &random) {
            case 0: try context.save()
            case 1: if let expected { context.delete(expected) }
            case 2: all.randomElement(using: &random)?.name = "\(step)"
            default:
                let made = try context.findOrCreate(
                    PierPlace.self, where: \.harbor, \.pier, \.number, is: harbor, pier, number
                ) { PierPlace(harbor, pier, number) }
                #expect(expected == nil || made === expected)
                #expect(made.harbor == harbor && made.pier == pier && made.number == number)
            }
        }
    }

    @Test func whatIsNoAttributeIsRefused() throws {
        let context = ModelContext(try container("memory", try Folder()))
        #expect {
            _ = try context.first(PierPlace.self, where: \.harbor, \.name.count, is: "LIS", 3)
        } throws: { error in
            guard case SwiftDataError.unsupportedKeyPath = error else { return false }
            return error.localizedDescription.contains("no stored attribute of PierPlace")
        }
    }

    /// A compound constraint is looked up: few rows are looked at.
    @Test func aConstraintOfSeveralPropertiesLeadsToTheModel() throws {
        let context = ModelContext(try container("memory", try Folder()))
        for number in 0..<2_000 { context.insert(PierPlace("LIS", number % 2, number)) }
        try context.save()
        context.fullScanPolicy = .refuse
        #expect(
            try context.first(PierPlace.self, where: \.harbor, \.pier, \.number, is: "LIS", 1, 1_001)?.number == 1_001)
        #expect(try context.first(PierPlace.self, where: \.harbor, \.pier, \.number, is: "LIS", 0, 1_001) == nil)
        #expect(throws: QueryPlanError.self) {
            try context.first(PierPlace.self, where: \.name, \.number, is: "LIS", 1)
        }
    }
}
