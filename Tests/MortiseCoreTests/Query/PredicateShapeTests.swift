import Foundation
import Testing

@testable import MortiseCore

/// A predicate whose shape is known is lowered to what it would be lowered to by itself.
@Suite struct PredicateShapeTests {
    private func anew<T: PersistentModel>(_ predicate: Predicate<T>) -> LoweredPredicate<T> {
        func lower<E: PredicateExpression<Bool>>(_ expression: E) -> LoweredPredicate<T> {
            LoweredPredicate(anew: expression, predicate.variable)
        }
        return lower(predicate.expression)
    }

    /// What the shape says, once the predicate's own form is there; nil where it is lowered anew each time.
    private func byShape<T: PersistentModel>(_ predicate: Predicate<T>) -> [QueryExpression]? {
        func find<E: PredicateExpression<Bool>>(_ expression: E) -> [QueryExpression]? {
            PredicateShapes.lowered(expression, predicate.variable)
        }
        return find(predicate.expression)
    }

    private func expectSame<T: PersistentModel>(
        _ kind: Comment, at location: SourceLocation = #_sourceLocation, _ make: (Int) -> Predicate<T>
    ) {
        _ = LoweredPredicate(make(0))
        for number in 1..<4 {
            let predicate = make(number)
            #expect(byShape(predicate) == anew(predicate).conjuncts, kind, sourceLocation: location)
            #expect(byShape(predicate) != anew(make(number + 1)).conjuncts, kind, sourceLocation: location)
        }
    }

    // MARK: Every kind of expression

    @Test func valuesTakeTheirOwnPlacesInEveryKind() {
        // Every value differs from every other of the same predicate, so that two that change places are noticed.
        expectSame("comparison") { i in #Predicate<Item> { $0.size < i && i + 10 <= $0.size } }
        expectSame("equality") { i in #Predicate<Item> { $0.size == i && $0.size != i + 10 } }
        expectSame("text") { i in
            let (a, b, c) = ("a\(i)", "b\(i)", "c\(i)")
            return #Predicate<Item> { $0.name.contains(a) || $0.name.starts(with: b) || !($0.name < c) }
        }
        expectSame("arithmetic") { i in
            let (a, b) = (i + 10, i + 20)
            return #Predicate<Item> { -($0.size + i) * a == b }
        }
        expectSame("integer division") { i in
            let (a, b) = (i + 10, i + 20)
            return #Predicate<Item> { $0.size / i == a && $0.size % b != i }
        }
        expectSame("division") { i in
            let (a, b) = (Double(i), Double(i + 10))
            return #Predicate<Item> { $0.weight / a < b }
        }
        expectSame("conditional") { i in
            let (a, b) = (i + 10, i + 20)
            return #Predicate<Item> { ($0.size < i ? a : b) == $0.size }
        }
        expectSame("optionals") { i in
            let a = i + 10
            return #Predicate<Item> { ($0.rank ?? i) == a && $0.rank! > i }
        }
        expectSame("optional chains") { i in
            let (a, b, c) = ("a\(i)", "b\(i)", i + 20)
            return #Predicate<Item> { $0.box?.outer?.label == a && $0.box?.label != b && $0.branch?.floor == c }
        }
        expectSame("lists") { i in
            let (a, b, c) = (i + 10, i + 20, "d\(i)")
            return #Predicate<Item> { $0.numbers.contains(a) || $0.numbers[i] == b || $0.tags.contains(c) }
        }
        expectSame("slices and captured lists") { i in
            let (a, b) = (i + 10, [i + 30, i + 40])
            return #Predicate<Item> {
                $0.numbers[i..<a].contains(i) || b.contains($0.size) || $0.numbers.starts(with: b)
            }
        }
        expectSame("dictionaries") { i in
            let (a, b, c) = ("a\(i)", "b\(i)", i + 10)
            return #Predicate<Item> { $0.marks[a] == i && $0.marks[b, default: c] == i }
        }
        expectSame("contains(where:)") { i in
            let (a, b) = (Double(i), i + 10)
            return #Predicate<Item> { item in item.peers.contains { $0.load > a && $0.rank == b } }
        }
        expectSame("allSatisfy") { i in
            #Predicate<Item> { item in item.numbers.allSatisfy { $0 > i || $0 < item.size } }
        }
        expectSame("filter") { i in
            let a = i + 10
            return #Predicate<Item> { item in item.numbers.filter { $0 > a }.count == i }
        }
        expectSame("nested quantifiers") { i in
            #Predicate<Box> { box in box.items.contains { item in item.peers.contains { $0.rank == i } } }
        }
        expectSame("extremes") { i in
            let a = Double(i)
            return #Predicate<Item> { $0.scores.min() == a && $0.numbers.max() == i }
        }
        expectSame("ranges") { i in
            let a = i + 10
            return #Predicate<Item> { (i..<a).contains($0.size) && (i...$0.size).contains(a) }
        }
        expectSame("types") { i in
            let a = i + 10
            return #Predicate<Item> { ($0 as? Special)?.extra == i || ($0 is Special && $0.size == a) }
        }
        expectSame("composites and enums") { i in
            let (a, b) = ("a\(i)", Place(city: "b", floor: i).floor)
            return #Predicate<Item> { $0.place.city == a || $0.place.floor == b || $0.tone.rawValue == a }
        }
        expectSame("searching") { i in
            let a = "a\(i)"
            return #Predicate<Item> { $0.name.localizedStandardContains(a) }
        }
    }

    @Test func valuesOfEveryTypeAreTaken() {
        expectSame("truth") { i in
            let a = i % 2 == 0
            return #Predicate<Item> { $0.flag == a }
        }
        expectSame("dates and identifiers") { i in
            let day = Date(timeIntervalSinceReferenceDate: Double(i))
            let key = UUID(uuid: (UInt8(i), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
            return #Predicate<Item> { $0.day == day || $0.key == key }
        }
        expectSame("optionals") { i in
            let (a, b) = (i % 2 == 0 ? nil : i, Optional("\(i)"))
            return #Predicate<Item> { $0.rank == a || $0.note == b }
        }
        expectSame("numbers") { i in
            let (a, b) = (Decimal(i), Float(i))
            return #Predicate<Item> { $0.amount == a || $0.share == b }
        }
        expectSame("lists of several lengths") { i in
            let a = Array(repeating: "a", count: i)
            return #Predicate<Item> { a.contains($0.name) }
        }
        expectSame("records") { i in
            let a = Box(BoxValues(serial: i)).persistentModelID
            return #Predicate<Item> { $0.box?.persistentModelID == a }
        }
    }

    // MARK: Telling predicates of one type apart

    @Test func predicatesOfOneTypeDoNotMix() {
        func check(_ predicates: [Predicate<Item>], at location: SourceLocation = #_sourceLocation) {
            for round in 0..<3 {
                for predicate in predicates {
                    let lowered = LoweredPredicate(predicate).conjuncts
                    #expect(lowered == anew(predicate).conjuncts, sourceLocation: location)
                    if round > 0 { #expect(byShape(predicate) == lowered, sourceLocation: location) }
                }
            }
            let texts = Set(predicates.map { "\(LoweredPredicate($0).conjuncts)" })
            #expect(texts.count == predicates.count, "all say something else", sourceLocation: location)
        }
        check([#Predicate { $0.size < 1 }, #Predicate { $0.serial < 1 }, #Predicate { $0.size < 2 }])
        check([
            #Predicate { $0.size < 1 }, #Predicate { $0.size <= 1 }, #Predicate { $0.size > 1 },
            #Predicate { $0.size >= 1 },
        ])
        check([#Predicate { $0.size + 1 == 2 }, #Predicate { $0.size - 1 == 2 }, #Predicate { $0.size * 1 == 2 }])
        check([#Predicate { $0.name.isEmpty }, #Predicate { $0.tags.isEmpty }, #Predicate { $0.flag }])
        // Of one type: which of the variables is read where is all that differs.
        check([
            #Predicate { item in item.numbers.contains { a in item.numbers.contains { b in a == b } } },
            #Predicate { item in item.numbers.contains { a in item.numbers.contains { b in b == a } } },
            #Predicate { item in item.numbers.contains { a in item.numbers.contains { b in a == a } } },
            #Predicate { item in item.numbers.contains { a in item.numbers.contains { b in b == b } } },
        ])
    }

    @Test func keyPathsMadeAtRunTimeAreToldApart() {
        // A key path of a generic function is a new object each time.
        func paths<M: Item>(_ type: M.Type) -> [any KeyPath<M, Int> & Sendable] { [\.size, \.serial] }
        #expect(paths(Special.self)[0] !== paths(Special.self)[0])
        for number in 0..<100 {
            let path = paths(Special.self)[number % 2]
            let made = Predicate<Special> {
                P.build_Equal(lhs: P.build_KeyPath(root: $0, keyPath: path), rhs: P.build_Arg(number))
            }
            #expect(LoweredPredicate(made).conjuncts == anew(made).conjuncts)
            #expect(byShape(made) == anew(made).conjuncts)
        }
    }

    @Test func aSharedVariableIsTheLastOneOfItsKind() {
        // One closure's expression in two places binds the same variable twice.
        let inner = #Predicate<Item> { $0.numbers.contains { $0 > 1 } }
        let joined = inner.and(inner.not())
        #expect(LoweredPredicate(joined).conjuncts == anew(joined).conjuncts)
        #expect(LoweredPredicate(joined).conjuncts == anew(joined).conjuncts)
    }

    // MARK: What has no shape

    @Test func whatIsLeftToCodeIsLookedAtEachTime() {
        let place = Place()
        for _ in 0..<3 {
            let code = LoweredPredicate(#Predicate<Item> { $0.place == place && $0.size == 1 })
            #expect(code.code.count == 1)
            #expect(LoweredPredicate(#Predicate<Item> { $0.loud == "A" }).code.count == 1)
        }
        // The type is that of a predicate with a shape; the property has no storage.
        #expect(LoweredPredicate(#Predicate<Item> { $0.name == "A" }).code.isEmpty)
        #expect(LoweredPredicate(#Predicate<Item> { $0.loud == "A" }).code.count == 1)
    }

    @Test func randomPredicatesAreLoweredAlikeBothWays() {
        var known = 0
        let boxes = (0..<3).map { Box(BoxValues(serial: $0)) }
        for seed in 0..<1_000 as Range<UInt64> {
            let random = RandomPredicate<Item>(seed: seed, boxes: boxes)
            let predicate = Predicate<Item> { variable in
                random.condition(Term<Item>(variable), 2).term.expression
            }
            let expected = anew(predicate)
            for _ in 0..<2 { #expect(LoweredPredicate(predicate).conjuncts == expected.conjuncts, "seed \(seed)") }
            if byShape(predicate) != nil { known += 1 }
        }
        #expect(known > 900)
    }
}
