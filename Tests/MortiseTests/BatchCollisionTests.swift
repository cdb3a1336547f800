import Foundation
import Mortise
import Testing

/// A batch whose records have the unique values of others: one of them is updated, and where no single record can be meant
/// the error says which, and nothing of the batch is stored.
@Suite struct BatchCollisionTests {
    enum Kind: String, CaseIterable { case memory, json, log }

    private let folder: Folder

    init() throws { folder = try Folder() }

    private func open(_ kind: Kind) throws -> ModelContainer {
        try ModelContainer(
            for: Medal.self, GoldMedal.self,
            store: kind == .memory ? "memory:" : "\(kind.rawValue):\(folder.path("a.\(kind.rawValue)"))")
    }

    private func fill(_ container: ModelContainer) throws {
        let context = ModelContext(container)
        context.insert(Medal(number: 1, holder: "Ada"))
        context.insert(Medal(number: 2, holder: "Bea"))
        context.insert(GoldMedal(number: 3, holder: "Cleo"))
        try context.save()
    }

    private static let filled = ["1 Ada", "2 Bea", "3 Cleo"]

    private func contents(_ context: ModelContext) throws -> [String] {
        try context.fetch(FetchDescriptor<Medal>()).map { "\($0.number) \($0.holder)" }.sorted()
    }

    @discardableResult
    private func insert(_ rows: [(Int, String)], into context: ModelContext) throws -> [PersistentIdentifier] {
        try context.insert(Medal.self, from: rows) { medal, row in
            try medal.set(\.number, to: row.0)
            try medal.set(\.holder, to: row.1)
        }
    }

    @Test(arguments: Kind.allCases, [false, true])
    func aRecordThatCollidesWithTwoIsRefusedAndNothingStored(kind: Kind, hasChanges: Bool) throws {
        var container = try open(kind)
        try fill(container)
        let context = ModelContext(container)
        if hasChanges { context.insert(Medal(number: 9, holder: "unsaved")) }
        let stored = try context.fetch(FetchDescriptor<Medal>(sortBy: [SortDescriptor(\.number)]))
        #expect {
            try insert([(7, "new"), (1, "Bea"), (8, "newer")], into: context)
            try context.save()
        } throws: { error in
            guard case ModelContextError.notUnique("Medal", let properties, _, let model, let other) = error else {
                return false
            }
            let found = Set([model, other])
            return ["number", "holder"].contains(properties.joined())
                && found.isSubset(
                    of: Set(stored.map(\.persistentModelID) + context.insertedModelsArray.map(\.persistentModelID)))
                && "\(error)".contains("of Medal would have the same")
        }
        #expect(try contents(ModelContext(container)) == Self.filled)
        #expect(context.hasChanges == hasChanges)
        context.rollback()
        // It stays usable.
        try insert([(7, "new")], into: context)
        if kind != .memory {
            try container.close()
            container = try open(kind)
        }
        #expect(try contents(ModelContext(container)) == (Self.filled + ["7 new"]).sorted())
        try container.close()
    }

    /// Two records of the batch that no third can agree with.
    @Test(arguments: Kind.allCases) func recordsOfOneBatchCollideWithEachOther(kind: Kind) throws {
        let container = try open(kind)
        try fill(container)
        let context = ModelContext(container)
        #expect {
            try insert([(7, "x"), (8, "y"), (7, "y")], into: context)
        } throws: { error in
            if case ModelContextError.notUnique("Medal", ["holder"], _, _, _) = error { true } else { false }
        }
        #expect(!context.hasChanges)
        #expect(try contents(ModelContext(container)) == Self.filled)
        try container.close()
    }

    /// A record of a superclass cannot take the values of a new record of a subclass. The other way round it can.
    @Test(arguments: Kind.allCases) func aRecordOfASuperclassIsNotUpdated(kind: Kind) throws {
        let container = try open(kind)
        try fill(container)
        let context = ModelContext(container)
        #expect {
            try context.insert(GoldMedal.self, from: [(7, "new"), (2, "Dora")]) { medal, row in
                try medal.set(\.number, to: row.0)
                try medal.set(\.holder, to: row.1)
            }
        } throws: { error in
            guard case ModelContextError.notUnique("GoldMedal", ["number"], _, let new, let old) = error else {
                return false
            }
            // The newcomer and the stored one; once it named that twice.
            return new.entityName == "GoldMedal" && old.entityName == "Medal"
        }
        #expect(!context.hasChanges)
        #expect(try contents(ModelContext(container)) == Self.filled)
        try insert([(3, "Dora")], into: context)
        #expect(try onlyModel(GoldMedal.self, in: ModelContext(container)).holder == "Dora")
        try container.close()
    }

    @Test(arguments: Kind.allCases) func aRecordThatCollidesWithOneUpdatesIt(kind: Kind) throws {
        let container = try open(kind)
        try fill(container)
        let context = ModelContext(container)
        let ada = try #require(try context.fetch(FetchDescriptor<Medal>()).first { $0.number == 1 })
        #expect(try insert([(7, "new"), (1, "Ada Lovelace")], into: context).last == ada.persistentModelID)
        #expect(ada.holder == "Ada Lovelace")
        #expect(try contents(ModelContext(container)) == ["1 Ada Lovelace", "2 Bea", "3 Cleo", "7 new"])
        try container.close()
    }
}

@Model
class Medal {
    @Attribute(.unique) var number: Int
    @Attribute(.unique) var holder: String
    init(number: Int, holder: String) {
        self.number = number
        self.holder = holder
    }
}

@Model
final class GoldMedal: Medal {
    var carats = 18
    override init(number: Int, holder: String) { super.init(number: number, holder: holder) }
}
