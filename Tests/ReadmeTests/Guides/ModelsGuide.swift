import Foundation
import Mortise
import Testing

/// The code of the guide "Defining models".
@Suite struct ModelsGuide {
    enum Grade: Int, Codable, Sendable { case easy = 1, fair, hard }

    struct Address: Codable, Hashable, Sendable {
        var street: String
        var city: String
    }

    @Model final class Hut {
        #Unique<Hut>([\.region, \.number])
        #Index<Hut>([\.grade, \.name])

        var region: String
        var number: Int
        var name: String
        var grade: Grade
        var address: Address?
        var openMonths: [Int] = []
        @Transient var isSelected = false
        var title: String { "\(name) (\(region) \(number))" }

        init(region: String, number: Int, name: String, grade: Grade) {
            self.region = region
            self.number = number
            self.name = name
            self.grade = grade
        }
    }

    @Test func enumsAndStructsAreKept() throws {
        let container = try ModelContainer(for: Hut.self, store: "memory:")
        let context = ModelContext(container)
        let hut = Hut(region: "Valais", number: 7, name: "Britannia", grade: .hard)
        hut.address = Address(street: "Postfach 1", city: "Saas-Fee")
        hut.openMonths = [3, 4, 7, 8]
        hut.isSelected = true
        context.insert(hut)
        context.insert(Hut(region: "Uri", number: 7, name: "Albert Heim", grade: .fair))
        try context.save()

        let fresh = ModelContext(container)
        let grade = Grade.hard
        let hard = try fresh.fetch(
            FetchDescriptor<Hut>(predicate: #Predicate { $0.grade == grade }))
        let inTown = try fresh.fetch(
            FetchDescriptor<Hut>(
                predicate: #Predicate { $0.address?.city == "Saas-Fee" }))
        #expect(hard.map(\.name) == ["Britannia"])
        #expect(inTown.map(\.title) == ["Britannia (Valais 7)"])
        #expect(hard.first?.openMonths == [3, 4, 7, 8] && hard.first?.isSelected == false)
        let explanation = try fresh.explain(FetchDescriptor<Hut>(predicate: #Predicate { $0.grade == grade }))
        #expect(!explanation.isFullScan)
    }

    @Test func severalPropertiesAreUniqueTogether() throws {
        let context = ModelContext(try ModelContainer(for: Hut.self, store: "memory:"))
        for number in [7, 8] { context.insert(Hut(region: "Uri", number: number, name: "Old", grade: .easy)) }
        context.insert(Hut(region: "Valais", number: 7, name: "Britannia", grade: .hard))
        context.insert(Hut(region: "Uri", number: 7, name: "Albert Heim", grade: .fair))
        try context.save()
        let names = try context.fetch(FetchDescriptor<Hut>(sortBy: [SortDescriptor(\.name)])).map(\.name)
        #expect(names == ["Albert Heim", "Britannia", "Old"])
    }

    @Model class Outing {
        var title: String
        init(_ title: String) { self.title = title }
    }

    @Model final class Climb: Outing {
        var meters: Int
        init(_ title: String, meters: Int) {
            self.meters = meters
            super.init(title)
        }
    }

    @Test func aClassIsFetchedWithItsSubclasses() throws {
        let context = ModelContext(
            try ModelContainer(for: Outing.self, Climb.self, store: "memory:"))
        context.insert(Outing("Picnic"))
        context.insert(Climb("Eiger", meters: 1_800))
        context.insert(Climb("Rigi", meters: 400))
        try context.save()

        let all = try context.fetch(FetchDescriptor<Outing>())  // of both classes
        let climbs = try context.fetch(FetchDescriptor<Climb>())
        let long = try context.fetch(
            FetchDescriptor<Outing>(
                predicate: #Predicate { ($0 as? Climb)?.meters ?? 0 > 1_000 }))
        #expect(all.count == 3 && climbs.count == 2 && long.map(\.title) == ["Eiger"])
    }
}
