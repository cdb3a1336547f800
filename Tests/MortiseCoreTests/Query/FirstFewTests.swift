import Testing

@testable import MortiseCore

@Suite struct FirstFewTests {
    @Test(arguments: [0, 1, 2, 63, 64, 65, 300, 2_000])
    func theFirstOnesAreThoseOfTheWholeInOrder(limit: Int) {
        let ascending = Array(0..<1_000)
        let mixed = ascending.map { ($0 * 7_919) % 1_000 }
        for stream in [ascending, ascending.reversed(), mixed, ascending.map { $0 / 10 }] {
            var few = FirstFew<Int>(limit)
            for element in stream { few.add(element, by: <) }
            #expect(few.sorted(by: <) == Array(stream.sorted().prefix(limit)))
            #expect(few.last.map { last in stream.count { $0 <= last } >= limit } ?? true)
        }
    }

    @Test func aNegativeLimitKeepsNothing() {
        var few = FirstFew<Int>(-1)
        for element in 0..<1_000 { few.add(element, by: <) }
        #expect(few.sorted(by: <) == [])
    }

    @Test func noMoreThanTwiceTheLimitIsKept() {
        var few = FirstFew<Int>(300)
        for element in (0..<10_000).reversed() {
            few.add(element, by: <)
            #expect(few.kept.count < 600)
        }
    }
}
