import Foundation
import MortiseCore
import PackageTestSupport

extension RandomPredicate {
    func textTest(_ item: Term<Root>, _ depth: Int) -> Term<Bool> {
        switch random.below(7) {
        case 0, 1: search(string(item, depth), string(item, 0), .contains)
        case 6: search(string(item, depth), string(item, 0), .localized)
        case 2: search(string(item, depth), string(item, 0), .starts)
        case 3: string(item, depth)[\.isEmpty]
        case 4: matches(string(item, 0), one(["a.b", "^$", "[a-z]+", "é", "b$", "\\d"]))
        default: equal(string(item, 0)[\.count], .value(random.below(3)))
        }
    }

    func optionalTest(_ item: Term<Root>, _ depth: Int) -> Term<Bool> {
        let negated = random.chance(percent: 50)
        return switch random.below(12) {
        case 0: isNil(item[\.note], negated: negated)
        case 1: equal(item[\.note], .value(random.chance(percent: 30) ? nil : one(Pool.strings)), negated: negated)
        case 2: isNil(item[\.rank], negated: negated)
        case 3: equal(item[\.rank], .value(random.chance(percent: 30) ? nil : random.below(5) - 2), negated: negated)
        case 4: equal(item[\.ratio], .value(random.chance(percent: 30) ? nil : one(Pool.doubles)), negated: negated)
        case 5: equal(item[\.day], .value(random.chance(percent: 30) ? nil : one(Pool.dates)), negated: negated)
        case 6: isNil(item[\.box], negated: negated)
        case 7: isNil(item[\.branch], negated: negated)
        case 8:
            equal(
                chain(item[\.note], scope { $0[\.count] }), .value(random.chance(percent: 20) ? nil : random.below(3)))
        case 9: equal(item[\.big], .value(random.chance(percent: 30) ? nil : one(Pool.bigs)), negated: negated)
        case 10: isNil(chain(item[\.box], optional: scope { $0[\.rank] }), negated: negated)
        default: isNil(extreme(item[\.scores], maximum: negated), negated: random.chance(percent: 50))
        }
    }

    func scalarTest(_ item: Term<Root>) -> Term<Bool> {
        switch random.below(9) {
        case 0: order(item[\.amount], .value(one(Pool.decimals)))
        case 1: order(calculate(item[\.amount], .value(one(Pool.decimals)), one([.add, .subtract])), .value(1))
        case 2: order(coalesce(item[\.day], .value(one(Pool.dates))), .value(one(Pool.dates)))
        case 3: order(item[\.share], .value(Float(one(Pool.doubles))))
        case 4: order(item[\.key], .value(one(Pool.keys)))
        case 5: equal(item[\.blob], .value(one(Pool.blobs)), negated: random.chance(percent: 50))
        case 6: order(item[\.tiny], .value(one([0, 1, .max, .min])))
        case 7: order(coalesce(item[\.big], .value(one(Pool.bigs))), .value(one(Pool.bigs)))
        default: equal(item[\.blob][\.count], .value(random.below(3)))
        }
    }

    func enumTest(_ item: Term<Root>) -> Term<Bool> {
        let negated = random.chance(percent: 40)
        return switch random.below(5) {
        case 0: equal(item[\.tone], .value(one(Tone.allCases)), negated: negated)
        case 1: equal(item[\.level], .value(random.chance(percent: 30) ? nil : one(Level.allCases)), negated: negated)
        case 2: contains(.value([one(Tone.allCases), one(Tone.allCases)]), item[\.tone])
        case 3: equal(item[\.tone][\.rawValue], .value(one(Tone.allCases).rawValue), negated: negated)
        default: isNil(item[\.level], negated: negated)
        }
    }

    func captureTest(_ item: Term<Root>) -> Term<Bool> {
        switch random.below(4) {
        case 0: return contains(.value((0..<random.below(8)).map { _ in one(Pool.strings) }), item[\.name])
        case 1: return contains(.value((0..<random.below(8)).map { _ in random.below(9) - 4 }), item[\.size])
        case 2: return contains(.value((0..<random.below(8)).map { _ in one(Pool.doubles) }), item[\.weight])
        default:
            guard !boxes.isEmpty else { return contains(.value([]), item[\.key]) }
            return equal(
                chain(item[\.box], scope { $0[\.persistentModelID] }), .value(one(boxes).persistentModelID),
                negated: random.chance(percent: 30))
        }
    }

    /// The unique number, and lists and ranges of what has an index.
    func serialTest(_ item: Term<Root>) -> Term<Bool> {
        let low = random.below(120)
        return switch random.below(6) {
        case 0: equal(item[\.serial], .value(low))
        case 1: contains(.value((0..<random.below(9)).map { _ in random.below(200) }), item[\.serial])
        case 2: order(item[\.serial], .value(low))
        case 3:
            inRange(.value(low), .value(low + random.below(90)), closed: random.chance(percent: 50), item[\.serial])
        case 4:
            contains(.value((0..<random.below(5)).map { $0 == 2 ? nil : random.below(5) - 2 } as [Int?]), item[\.rank])
        default: both(item[\.flag], order(item[\.serial], .value(low)))
        }
    }

    /// `as!`, behind the test without which it would trap.
    func castTest(_ item: Term<Root>) -> Term<Bool> {
        both(
            isKind(item, Special.self),
            random.chance(percent: 50)
                ? order(forceCast(item, Special.self)[\.extra], int(item, 0))
                : equal(
                    forceCast(item, Special.self)[\.hint], .value(random.chance(percent: 30) ? nil : one(Pool.strings)),
                    negated: random.chance(percent: 50)))
    }

    func placeTest(_ item: Term<Root>) -> Term<Bool> {
        let place = item[\.place]
        return switch random.below(9) {
        case 0: order(place[\.city], .value(one(Pool.strings)))
        case 1: order(place[\.floor], int(item, 0))
        case 2: order(coalesce(place[\.opened], .value(one(Pool.dates))), .value(one(Pool.dates)))
        case 3: order(place[\.price], .value(one(Pool.decimals)))
        case 4: order(place[\.share], .value(one([0, 0.1, 3])))
        case 5: order(place[\.code], .value(one(Pool.keys)))
        case 6: order(place[\.price], item[\.amount])
        case 7: equal(chain(item[\.branch], optional: scope { $0[\.opened] }), item[\.place][\.opened])
        default: order(calculate(place[\.share], .value(2), .multiply), item[\.share])
        }
    }

    func listTest(_ item: Term<Root>, _ depth: Int) -> Term<Bool> {
        switch random.below(15) {
        case 13: contains(item[\.numbers], run: .value((0..<random.below(3)).map { _ in random.below(5) - 2 }))
        case 0: contains(item[\.tags], string(item, 0))
        case 1: contains(item[\.numbers], int(item, 0))
        case 2: contains(item[\.scores], double(item, 0))
        case 3: contains(item[\.tags], where: scope { search($0, self.string(item, 0), .starts) })
        case 4: allSatisfy(item[\.numbers], scope { self.order($0, self.int(item, depth > 0 ? 1 : 0)) })
        case 5: starts(item[\.numbers], with: .value((0..<random.below(3)).map { _ in random.below(4) - 2 }))
        case 6: item[\.tags][\.isEmpty]
        case 7: equal(item[\.numbers], .value((0..<random.below(3)).map { _ in random.below(5) - 2 }))
        case 8: contains(item[\.days], .value(one(Pool.dates)))
        case 9:
            order(
                coalesce(extreme(item[\.days], maximum: random.chance(percent: 50)), .value(one(Pool.dates))),
                .value(one(Pool.dates)))
        case 10: equal(item[\.tags], item[\.tags], negated: true)
        case 11:
            order(
                coalesce(filter(item[\.tags], scope { search($0, .value("a"), .contains) })[\.first], .value("q")),
                string(item, 0))
        case 12: equal(item[\.tags][\.first], .value(random.chance(percent: 30) ? nil : one(Pool.strings)))
        default: allSatisfy(item[\.scores], scope { self.order($0, self.double(item, 0)) })
        }
    }

    func dictionaryTest(_ item: Term<Root>, _ depth: Int) -> Term<Bool> {
        let key = Term.value(one(["a", "b", "é", "e\u{301}", "z"]))
        return switch random.below(3) {
        case 0: equal(lookUp(item[\.marks], key), .value(random.chance(percent: 30) ? nil : random.below(4)))
        case 1: order(lookUp(item[\.marks], key, default: int(item, 0)), int(item, 0))
        default: isNil(lookUp(item[\.marks], key), negated: random.chance(percent: 50))
        }
    }

    func relationTest(_ item: Term<Root>, _ depth: Int) -> Term<Bool> {
        switch random.below(5) {
        case 0: return item[\.peers][\.isEmpty]
        case 1: return contains(item[\.peers], where: scope { self.boxLeaf($0, item) })
        case 2: return allSatisfy(item[\.peers], scope { self.boxLeaf($0, item) })
        case 3: return equal(filter(item[\.peers], scope { self.boxLeaf($0, item) })[\.count], .value(random.below(3)))
        default:
            return contains(
                item[\.peers],
                where: scope { peer in
                    contains(peer[\.items], where: self.scope { self.order($0[\.size], self.int(item, 0)) })
                })
        }
    }

    func boxLeaf(_ box: Term<Box>, _ item: Term<Root>) -> Term<Bool> {
        switch random.below(6) {
        case 0: order(box[\.label], string(item, 0))
        case 1: order(coalesce(box[\.rank], .value(0)), int(item, 0))
        case 2: order(box[\.load], double(item, 0))
        case 3: order(box[\.items][\.count], .value(random.below(4)))
        case 4: isNil(box[\.outer], negated: random.chance(percent: 50))
        default: contains(box[\.guests], where: scope { self.order($0[\.size], self.int(item, 0)) })
        }
    }

    func boxTest(_ box: Term<Box?>, _ depth: Int) -> Term<Bool> {
        switch random.below(6) {
        case 0:
            return equal(
                chain(box, scope { $0[\.label] }), .value(random.chance(percent: 30) ? nil : one(Pool.strings)))
        case 1:
            return equal(
                chain(box, optional: scope { $0[\.rank] }), .value(random.chance(percent: 30) ? nil : random.below(3)))
        case 2:
            return equal(
                chain(box, optional: scope { chain($0[\.outer], self.scope { $0[\.label] }) }),
                .value(random.chance(percent: 30) ? nil : one(Pool.strings)), negated: random.chance(percent: 50))
        case 3:
            return coalesce(
                chain(box, scope { contains($0[\.items], where: self.scope { $0[\.flag] }) }), .value(false))
        case 4: return order(coalesce(chain(box, scope { $0[\.items][\.count] }), .value(-1)), .value(random.below(5)))
        default:
            return coalesce(chain(box, scope { allSatisfy($0[\.guests], self.scope { $0[\.flag] }) }), .value(true))
        }
    }

    func typeTest(_ item: Term<Root>, _ depth: Int) -> Term<Bool> {
        switch random.below(4) {
        case 0: isKind(item, Special.self)
        case 1:
            equal(
                chain(cast(item, Special.self), scope { $0[\.extra] }),
                .value(random.chance(percent: 30) ? nil : random.below(5)))
        case 2:
            equal(
                chain(cast(item, Special.self), optional: scope { $0[\.hint] }),
                .value(random.chance(percent: 30) ? nil : one(Pool.strings)))
        default: coalesce(chain(cast(item, Special.self), scope { self.order($0[\.size], .value(0)) }), .value(false))
        }
    }

    func rangeTest(_ item: Term<Root>, _ depth: Int) -> Term<Bool> {
        let low = random.below(5) - 3
        switch random.below(4) {
        case 0:
            return inRange(
                .value(low), .value(low + random.below(4)), closed: random.chance(percent: 50), int(item, depth))
        case 1: return inRange(.value(-1.5), .value(1), closed: random.chance(percent: 50), double(item, depth))
        case 2: return inRange(.value("a"), .value("é"), closed: random.chance(percent: 50), string(item, 0))
        default:
            return inRange(
                .value(Pool.dates[0]), .value(Pool.dates[3]), closed: true, coalesce(item[\.day], .value(Pool.dates[1]))
            )
        }
    }

    /// Tests that would trap without the condition before them.
    func guardedTest(_ item: Term<Root>, _ depth: Int) -> Term<Bool> {
        switch random.below(6) {
        case 0: both(isNil(item[\.rank], negated: true), order(unwrap(item[\.rank]), int(item, 0)))
        case 1: either(isNil(item[\.box], negated: false), order(unwrap(item[\.box])[\.label], string(item, 0)))
        case 2:
            both(
                compare(item[\.numbers][\.count], .value(1), .greater),
                order(element(item[\.numbers], .value(1)), int(item, 0)))
        case 3:
            both(
                equal(item[\.size], .value(0), negated: true),
                order(divide(.value(12), item[\.size], remainder: random.chance(percent: 50)), int(item, 0)))
        case 4:
            both(
                compare(item[\.tags][\.count], .value(1), .greater),
                order(slice(item[\.tags], .value(0..<2))[\.count], .value(2)))
        default:
            both(
                compare(item[\.size], .value(0), .greater),
                contains(
                    item[\.peers],
                    where: scope { self.order(divide($0[\.items][\.count], item[\.size], remainder: false), .value(1)) }
                ))
        }
    }
}
