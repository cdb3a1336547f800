import Foundation
import Mortise
import Testing

@Suite(.serialized) struct ScaleTests {
    /// Seconds for each of `count` children that come to one parent.
    private func secondsPerChild(_ count: Int, _ fill: (House, [Poster]) -> Void) throws -> Double {
        let context = ModelContext(try householdContainer())
        let house = House(name: "h")
        context.insert(house)
        try context.save()
        let posters = (0..<count).map { Poster(title: "\($0)") }
        let clock = ContinuousClock()
        let time = try clock.measure {
            fill(house, posters)
            try context.save()
        }
        #expect(house.posters.count == count)
        return time / .seconds(1) / Double(count)
    }

    @Test func oneParentTakesAHundredThousandChildrenInLinearTime() throws {
        let fills: [(House, [Poster]) -> Void] = [
            { house, posters in for poster in posters { poster.house = house } },
            { house, posters in house.posters = posters },
            { house, posters in house.posters += posters },
        ]
        for fill in fills {
            let small = try secondsPerChild(10_000, fill)
            let large = try secondsPerChild(100_000, fill)
            #expect(large < small * 4, "\(small) s for each of 10,000, \(large) s for each of 100,000")
        }
    }

    private func chain(_ count: Int) -> Link {
        let first = Link(0)
        var last = first
        for number in 1..<count {
            let next = Link(number)
            last.next = next
            last = next
        }
        return first
    }

    @Test func aLongListIsInsertedSavedAndDeletedWithoutRecursion() throws {
        let count = 10_000
        let container = try householdContainer()
        let context = ModelContext(container)
        context.insert(chain(count))
        #expect(context.insertedModelsArray.count == count)
        try context.save()
        let other = ModelContext(container)
        #expect(try other.fetchCount(FetchDescriptor<Link>()) == count)
        let head = try #require(
            try other.fetch(FetchDescriptor<Link>(predicate: #Predicate { $0.number == 0 })).first)
        other.delete(head)
        #expect(other.deletedModelsArray.count == count)
        other.rollback()
        other.delete(head)
        try other.save()
        #expect(try context.fetchCount(FetchDescriptor<Link>()) == 0)
        #expect(head.next?.number == 1)
    }

    @Test func aLongListThatIsNeverSavedIsDroppedWithoutRecursion() throws {
        weak var head: Link?
        do {
            let first = chain(100_000)
            head = first
        }
        #expect(head == nil)
        weak var node: Node?
        let context = ModelContext(try householdContainer())
        do {
            let first = Node("0")
            var last = first
            for number in 1..<20_000 {
                let next = Node("\(number)")
                last.next = next
                last = next
            }
            node = first
            context.insert(first)
            context.rollback()
        }
        #expect(node == nil)
    }

    @Test func manyDeletionsOfOneParentsChildrenTakeLinearTime() throws {
        func seconds(_ count: Int) throws -> Double {
            let context = ModelContext(try householdContainer())
            let house = House(name: "h")
            house.posters = (0..<count).map { Poster(title: "\($0)") }
            context.insert(house)
            try context.save()
            let posters = house.posters
            let clock = ContinuousClock()
            let time = try clock.measure {
                for poster in posters { context.delete(poster) }
                try context.save()
            }
            #expect(house.posters.isEmpty)
            return time / .seconds(1) / Double(count)
        }
        let small = try seconds(5_000)
        let large = try seconds(50_000)
        #expect(large < small * 4, "\(small) s for each of 5,000, \(large) s for each of 50,000")
    }
}
