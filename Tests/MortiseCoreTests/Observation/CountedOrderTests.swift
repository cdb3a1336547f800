import Testing
import PackageTestSupport

@testable import MortiseCore

/// The order of live results against an array.
@Suite struct CountedOrderTests {
    private static let steps = isFullSize ? 200_000 : 4000

    /// Rows with few keys, so that most of them are tied.
    @Test(arguments: [1, 3, 1000]) func anOrderIsAsAnArray(_ keys: Int) {
        let seed = testSeed("anOrderIsAsAnArray(\(keys))")
        var random = SeededGenerator(seed: seed)
        var key: [UInt32: Int] = [:]
        var array: [UInt32] = []
        var order = CountedOrder()
        func precedes(_ a: UInt32, _ b: UInt32) -> Bool { (key[a] ?? 0, a) < (key[b] ?? 0, b) }
        var next: UInt32 = 0
        var grows = true
        for step in 0..<Self.steps {
            if array.count > 3000 { grows = false }
            if array.isEmpty { grows = true }
            if random.chance(percent: grows ? 65 : 35) {
                // Far apart at times, so that the table of leaves changes its form.
                next += random.chance(percent: 2) ? UInt32(random.below(5000)) : 1
                key[next] = random.below(keys)
                let place = array.firstIndex { !precedes($0, next) } ?? array.count
                array.insert(next, at: place)
                let found = order.insert(next) { precedes($0, next) }
                #expect(found == place)
            } else if let row = array.isEmpty ? nil : random.pick(array) {
                #expect(order.position(of: row) == array.firstIndex(of: row))
                array.removeAll { $0 == row }
                let wasThere = order.remove(row)
                #expect(wasThere)
                #expect(!order.contains(row))
            }
            if step % 97 == 0 {
                #expect(Array(order.snapshot) == array)
                let check = order.check()
                #expect(check.isSound && (array.count < 500 || check.fill >= 0.33), "step \(step): \(check)")
            }
        }
    }

    @Test func aSnapshotStaysAsItWas() {
        var random = SeededGenerator(seed: testSeed())
        var order = CountedOrder(0..<2000)
        var kept: [(CountedOrder.Snapshot, [UInt32])] = []
        for step in 0..<4000 {
            if step % 50 == 0 { kept.append((order.snapshot, Array(order.snapshot))) }
            let row = UInt32(random.below(4000))
            if !order.remove(row) { order.insert(row) { $0 < row } }
        }
        for (snapshot, rows) in kept { #expect(Array(snapshot) == rows) }
        #expect(order.check().isSound)
    }

    @Test(arguments: [0, 1, 95, 96, 97, 6000, 50_000]) func rowsInOrderAreTakenAsTheyAre(_ count: Int) {
        let order = CountedOrder((0..<UInt32(count)).reversed())
        #expect(order.count == count)
        #expect(order.snapshot.elementsEqual((0..<UInt32(count)).reversed()))
        #expect(order.check().isSound)
        if count > 0 { #expect(order.position(of: 0) == count - 1) }
        if count > 1000 { #expect(order.check().fill > 0.7) }
    }

    @Test func rowsThatComeInOrderFillTheirLeaves() {
        var order = CountedOrder()
        for row in 0..<UInt32(20_000) { order.append(row) }
        #expect(order.check().fill > 0.95)
        for row in 0..<UInt32(20_000) where row % 3 != 0 { order.remove(row) }
        #expect(order.check().isSound)
        #expect(order.check().fill > 0.33)
    }

    @Test func aTableOfHandlesIsAsADictionary() {
        var random = SeededGenerator(seed: testSeed())
        var table = HandleTable()
        var numbers: [UInt32: UInt32] = [:]
        var range = 100
        for step in 0..<Self.steps {
            if step % 2000 == 0 { range = random.pick([10, 100, 1000, 100_000]) }
            let handle = UInt32(random.below(range))
            if random.chance(percent: 55) {
                let number = UInt32(random.below(1000))
                table.set(handle, number)
                numbers[handle] = number
            } else {
                table.remove(handle)
                numbers[handle] = nil
            }
            #expect(table[handle] == numbers[handle])
            #expect(table.count == numbers.count)
            if step % 500 == 0 { for (handle, number) in numbers { #expect(table[handle] == number) } }
        }
    }
}
