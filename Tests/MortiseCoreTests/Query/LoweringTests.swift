import Foundation
import Testing

@testable import MortiseCore

/// Each condition of a predicate is lowered by itself; what one of them cannot say stays with it.
@Suite struct LoweringTests {
    private func texts<T: PersistentModel>(_ predicate: Predicate<T>) -> [String] {
        LoweredPredicate(predicate).conjuncts.map { "\($0)" }
    }

    @Test func aPartThatIsNotKnownLeavesTheOtherConditionsLowered() {
        let predicate = Predicate<Item> {
            P.build_Conjunction(
                lhs: P.build_Equal(lhs: P.build_KeyPath(root: $0, keyPath: \.size), rhs: P.build_Arg(1)),
                rhs: P.build_Conjunction(
                    lhs: P.build_Negation(Unknown()),
                    rhs: P.build_Equal(lhs: P.build_KeyPath(root: $0, keyPath: \.flag), rhs: P.build_Arg(true))))
        }
        let lowered = LoweredPredicate(predicate)
        #expect(lowered.code.count == 1 && lowered.conjuncts.count == 3)
        #expect("\(lowered.conjuncts[0])" == "size == 1" && "\(lowered.conjuncts[2])" == "flag == true")
        #expect("\(lowered.conjuncts[1])".contains("Negation<Unknown> is not known"))
    }

    @Test func aPropertyWithoutStorageLeavesTheOtherConditionsLowered() {
        let first = LoweredPredicate(#Predicate<Item> { $0.loud == "A" && $0.size == 1 })
        #expect(first.code.count == 1 && first.conjuncts.count == 2 && "\(first.conjuncts[1])" == "size == 1")
        let last = LoweredPredicate(#Predicate<Item> { $0.size == 1 && $0.loud == "A" })
        #expect(last.code.count == 1 && last.conjuncts.count == 2 && "\(last.conjuncts[0])" == "size == 1")
    }

    @Test func eachConditionCountsItsOwnVariables() {
        let predicate = #Predicate<Item> { item in
            item.numbers.contains { $0 > 1 } && item.numbers.contains { a in item.numbers.contains { b in a == b } }
        }
        #expect(
            texts(predicate) == [
                "numbers.contains { $1 in $1 > 1 }",
                "numbers.contains { $1 in numbers.contains { $2 in $1 == $2 } }",
            ])
    }

    @Test func aVariableThatIsBoundTwiceIsTheLastOne() {
        // One closure's expression in two places binds the same variable twice.
        let inner = #Predicate<Item> { $0.numbers.contains { $0 > 1 } }
        #expect(
            texts(inner.or(inner.not())) == [
                "numbers.contains { $1 in $1 > 1 } || !numbers.contains { $2 in $2 > 1 }"
            ])
    }

    @Test func predicatesOfOneTypeAreToldApart() {
        #expect(texts(#Predicate<Item> { $0.size < 1 }) == ["size < 1"])
        #expect(texts(#Predicate<Item> { $0.serial < 2 }) == ["serial < 2"])
        #expect(texts(#Predicate<Item> { $0.size >= 3 }) == ["size >= 3"])
        #expect(texts(#Predicate<Item> { $0.note == "a" }) == ["note == \"a\""])
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
            #expect(texts(made) == ["\(number % 2 == 0 ? "size" : "serial") == \(number)"])
        }
    }
}

extension LoweringTests {
    /// In generic code the key path of `id` is the protocol's, whatever property of the model it leads to.
    @Test func anIdentifierOfTheModelsOwnIsNotTheRecords() throws {
        func find<M: PersistentModel>(_ id: M.ID, _ type: M.Type) -> Predicate<M> where M.ID == PersistentIdentifier {
            #Predicate { $0.id == id }
        }
        let (first, second) = (Alias(), Alias())
        first.other = second
        let predicate = find(second.persistentModelID, Alias.self)
        #expect(try predicate.evaluate(first) && LoweredPredicate(predicate).code.count == 1)
        let own = second.persistentModelID
        #expect(
            LoweredPredicate(#Predicate<Alias> { $0.persistentModelID == own }).conjuncts.map { "\($0)" }
                == ["$0.persistentModelID == \(QueryExpression.constant(.identifier(own)))"])
    }
}

private final class Alias: PersistentModel {
    var persistentBackingData: any BackingData<Alias> = Alias.createBackingData()
    static var schemaMetadata: [Schema.PropertyMetadata] { [.init(name: "other", keypath: \Alias.other)] }
    init(backingData: any BackingData<Alias>) { persistentBackingData = backingData }
    init() {}

    var id: PersistentIdentifier { (other ?? self).persistentModelID }
    var other: Alias? {
        get { getValue(forKey: \.other) }
        set { setValue(forKey: \.other, to: newValue) }
    }
}

/// An expression of somebody else.
private struct Unknown: StandardPredicateExpression {
    typealias Output = Bool
    func evaluate(_ bindings: PredicateBindings) throws -> Bool { false }
}
