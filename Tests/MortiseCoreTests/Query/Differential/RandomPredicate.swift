import Foundation
import MortiseCore
import PackageTestSupport

/// A condition and the smaller ones of which it is made, for shrinking.
struct Condition {
    let term: Term<Bool>
    var parts: [Condition] = []
}

/// Makes random expressions, the same for the same seed. None of them traps in Foundation: what may is guarded.
final class RandomPredicate<Root: Item> {
    var random: SeededGenerator
    /// The models that predicates capture.
    let boxes: [Box]

    init(seed: UInt64, boxes: [Box]) {
        random = SeededGenerator(seed: seed)
        self.boxes = boxes
    }

    func one<T>(_ choices: [T]) -> T { random.pick(choices) }

    func scope<V, R>(_ make: @escaping (Term<V>) -> Term<R>) -> Scope<V, R> {
        let start = random
        let sample = make(Term<V>(P.Variable<V>()))
        return Scope(sample: sample.expression) { variable in
            self.random = start
            return make(variable)
        }
    }

    // MARK: Conditions

    func condition(_ item: Term<Root>, _ depth: Int) -> Condition {
        guard depth > 0 else { return Condition(term: test(item, 0)) }
        switch random.below(9) {
        case 0, 1:
            let (a, b) = (condition(item, depth - 1), condition(item, depth - 1))
            return Condition(term: both(a.term, b.term), parts: [a, b])
        case 2, 3:
            let (a, b) = (condition(item, depth - 1), condition(item, depth - 1))
            return Condition(term: either(a.term, b.term), parts: [a, b])
        case 4:
            let a = condition(item, depth - 1)
            return Condition(term: not(a.term), parts: [a])
        case 5:
            let (a, b, c) = (condition(item, depth - 1), condition(item, depth - 1), condition(item, depth - 1))
            return Condition(term: choose(a.term, b.term, c.term), parts: [a, b, c])
        default: return Condition(term: test(item, depth))
        }
    }

    /// One test of an item.
    func test(_ item: Term<Root>, _ depth: Int) -> Term<Bool> {
        switch random.below(22) {
        case 19: return serialTest(item)
        case 20: return castTest(item)
        case 0, 1: return order(int(item, depth), int(item, depth))
        case 2: return order(double(item, depth), double(item, depth))
        case 3: return order(string(item, depth), string(item, depth))
        case 4: return textTest(item, depth)
        case 5: return optionalTest(item, depth)
        case 6: return scalarTest(item)
        case 7: return listTest(item, depth)
        case 8: return relationTest(item, depth)
        case 9: return boxTest(item[\.box], depth)
        case 10: return typeTest(item, depth)
        case 11: return rangeTest(item, depth)
        case 12: return placeTest(item)
        case 13: return guardedTest(item, depth)
        case 14: return item[\.flag]
        case 15: return equal(item[\.flag], .value(random.chance(percent: 50)), negated: random.chance(percent: 30))
        case 16: return enumTest(item)
        case 17: return captureTest(item)
        case 18: return dictionaryTest(item, depth)
        default: return equal(choose(item[\.flag], int(item, 0), int(item, 0)), int(item, 0))
        }
    }

    func order<T: Comparable & Codable & Sendable>(_ a: Term<T>, _ b: Term<T>) -> Term<Bool> {
        switch random.below(6) {
        case 0: equal(a, b)
        case 1: equal(a, b, negated: true)
        case 2: compare(a, b, .less)
        case 3: compare(a, b, .lessOrEqual)
        case 4: compare(a, b, .greater)
        default: compare(a, b, .greaterOrEqual)
        }
    }

    // MARK: Values

    func int(_ item: Term<Root>, _ depth: Int) -> Term<Int> {
        guard depth > 0 else {
            return switch random.below(5) {
            case 0, 1: .value(random.below(9) - 4)
            case 2: coalesce(item[\.rank], .value(random.below(3)))
            case 3: item[\.place][\.floor]
            default: item[\.size]
            }
        }
        switch random.below(14) {
        case 0: return calculate(int(item, 0), int(item, depth - 1), one([.add, .subtract, .multiply]))
        case 1: return divide(int(item, depth - 1), .value(one([1, 2, 3, -2])), remainder: false)
        case 2: return divide(int(item, depth - 1), .value(one([1, 2, 3, -2])), remainder: true)
        case 3: return negative(int(item, depth - 1))
        case 4: return choose(test(item, depth - 1), int(item, depth - 1), int(item, 0))
        case 5: return string(item, depth - 1)[\.count]
        case 6: return item[\.tags][\.count]
        case 7: return item[\.peers][\.count]
        case 8: return filter(item[\.numbers], scope { self.order($0, .value(self.random.below(5) - 2)) })[\.count]
        case 9: return coalesce(extreme(item[\.numbers], maximum: random.chance(percent: 50)), .value(random.below(3)))
        case 10:
            return coalesce(item[\.numbers][random.chance(percent: 50) ? \.first : \.last], .value(random.below(3)))
        case 11: return slice(item[\.numbers], .value(0..<0))[\.count]
        case 12: return coalesce(item[\.level], .value(.attic))[\.rawValue]
        default: return coalesce(chain(item[\.box], optional: scope { $0[\.rank] }), int(item, 0))
        }
    }

    func double(_ item: Term<Root>, _ depth: Int) -> Term<Double> {
        guard depth > 0 else {
            return switch random.below(4) {
            case 0: .value(one(Pool.doubles))
            case 1: coalesce(item[\.ratio], .value(one(Pool.doubles)))
            default: item[\.weight]
            }
        }
        return switch random.below(7) {
        case 0: calculate(double(item, depth - 1), double(item, 0), one([.add, .subtract, .multiply]))
        case 1: divide(double(item, 0), double(item, depth - 1))
        case 2: negative(double(item, depth - 1))
        case 3: coalesce(extreme(item[\.scores], maximum: random.chance(percent: 50)), .value(one(Pool.doubles)))
        case 4:
            divide(
                .value(1),
                coalesce(extreme(item[\.scores], maximum: random.chance(percent: 50)), .value(one(Pool.doubles))))
        case 5: coalesce(chain(item[\.box], scope { $0[\.load] }), double(item, 0))
        default: choose(test(item, 0), double(item, 0), double(item, 0))
        }
    }

    func string(_ item: Term<Root>, _ depth: Int) -> Term<String> {
        guard depth > 0 else {
            return switch random.below(6) {
            case 0, 1: .value(one(Pool.strings))
            case 2: coalesce(item[\.note], .value(one(Pool.strings)))
            case 3: item[\.place][\.city]
            default: item[\.name]
            }
        }
        return switch random.below(6) {
        case 0: coalesce(chain(item[\.box], scope { $0[\.label] }), string(item, 0))
        case 1: choose(test(item, depth - 1), string(item, 0), string(item, 0))
        case 2: coalesce(extreme(item[\.tags], maximum: random.chance(percent: 50)), string(item, 0))
        case 3: coalesce(chain(item[\.branch], scope { $0[\.city] }), string(item, 0))
        case 4: item[\.tone][\.rawValue]
        default:
            coalesce(
                chain(item[\.box], optional: scope { box in chain(box[\.outer], self.scope { $0[\.label] }) }),
                string(item, 0))
        }
    }
}
