#if Tool
import MortiseCore

extension PredicateParser {
    // MARK: Primaries

    mutating func primary() throws(PredicateTextError) -> PredicateOperand {
        let token = current
        switch token.kind {
        case .number(let digits):
            _ = take()
            return PredicateOperand(.constant(.null), .literal(.number(digits)), token.place, name: token.shown)
        case .text(let text):
            _ = take()
            return PredicateOperand(.constant(.null), .literal(.text(text)), token.place, name: token.shown)
        case .sign("("):
            _ = take()
            var inner = try nested { parser throws(PredicateTextError) in try parser.disjunction() }
            inner.place = token.place.through(try expectSign(")"))
            return inner
        case .sign("$"): return try terms == nil ? path() : groupTerm()
        case .word: return try word(token)
        case .sign, .end:
            throw fault(token.place, "expected a property or value, found \(token.shown)")
        }
    }

    private mutating func word(_ token: PredicateToken) throws(PredicateTextError) -> PredicateOperand {
        let isFollowedByName =
            if case .word = peek().kind { !Self.words.contains(peek().keyword ?? "") } else { false }
        switch token.keyword {
        case "nil", "null":
            _ = take()
            return PredicateOperand(.constant(.null), .literal(.null), token.place, name: "nil")
        case "true", "false":
            _ = take()
            return PredicateOperand(
                .constant(.null), .literal(.bool(token.keyword == "true")), token.place, name: token.keyword ?? "")
        case _ where terms != nil: return try groupTerm()
        case "any", "all", "none":
            if isFollowedByName { return try quantified(token) }
        case "count":
            if isFollowedByName { return try counted(token) }
        default: break
        }
        return try path()
    }

    /// `any stops (nights > 3)`, or shorter `any stops.nights > 3`.
    private mutating func quantified(_ token: PredicateToken) throws(PredicateTextError) -> PredicateOperand {
        _ = take()
        let collection = try path(stopsAtRecords: true)
        let variable = variable()
        let isShort = current.isSign(".")
        let test = try inside(collection, variable) { parser throws(PredicateTextError) in
            if isShort {
                _ = parser.take()
                return try parser.nested { parser throws(PredicateTextError) in try parser.comparison() }
            }
            return try parser.parenthesised()
        }
        let condition = try condition(test)
        let expression: QueryExpression =
            switch token.keyword {
            case "all": .all(collection.expression, variable: variable, condition)
            case "any": .exists(collection.expression, variable: variable, condition)
            default: .not(.exists(collection.expression, variable: variable, condition))
            }
        return PredicateOperand(expression, .condition, token.place.through(test.place))
    }

    /// `count stops (nights > 3)`.
    private mutating func counted(_ token: PredicateToken) throws(PredicateTextError) -> PredicateOperand {
        _ = take()
        let collection = try path(stopsAtRecords: true)
        let variable = variable()
        let test = try inside(collection, variable) { parser throws(PredicateTextError) in
            try parser.parenthesised()
        }
        return PredicateOperand(
            .count(.filter(collection.expression, variable: variable, try condition(test))),
            .value(.int64, isOptional: false), token.place.through(test.place), name: "the count")
    }

    private mutating func parenthesised() throws(PredicateTextError) -> PredicateOperand {
        try expectSign("(")
        let inner = try nested { parser throws(PredicateTextError) in try parser.disjunction() }
        try expectSign(")")
        return inner
    }

    /// Runs a part in which names are those of a collection's members.
    private mutating func inside(
        _ collection: PredicateOperand, _ variable: Int,
        _ body: (inout PredicateParser) throws(PredicateTextError) -> PredicateOperand
    ) throws(PredicateTextError) -> PredicateOperand {
        let outer = scope
        switch collection.sort {
        case .records(let entity): scope = .entity(entity, variable: variable)
        case .coded: scope = .coded(variable: variable)
        default:
            throw fault(
                collection.place,
                "expected a to-many relationship, but \(collection.name) is \(collection.sortText)")
        }
        let result = try body(&self)
        scope = outer
        return result
    }

    // MARK: Paths

    /// A property, or a chain of them through to-one relationships.
    mutating func path(stopsAtRecords: Bool = false) throws(PredicateTextError) -> PredicateOperand {
        var result = root()
        var isFirst = true
        var steps = 1
        if current.keyword == "self" {
            result.place = take().place
            isFirst = false
        }
        while true {
            if isFirst {
                result = try step(result, isFirst: true)
                isFirst = false
                continue
            }
            guard current.isSign(".") else { return result }
            if stopsAtRecords, case .records = result.sort, !isEndOfRecords(peek()) { return result }
            let dot = take()
            steps += 1
            if steps > Self.deepest {
                throw fault(dot.place, "this path has more than \(Self.deepest) steps; shorten it")
            }
            result = try step(result, isFirst: false)
        }
    }

    private func isEndOfRecords(_ token: PredicateToken) -> Bool {
        if case .word(let name, _) = token.kind { name == "count" || name == "isEmpty" } else { false }
    }

    private func root() -> PredicateOperand {
        switch scope {
        case .entity(let name, let variable):
            PredicateOperand(.variable(variable), .record(entity: name, isOptional: false), current.place, name: "self")
        case .coded(let variable): PredicateOperand(.variable(variable), .coded, current.place, name: "self")
        }
    }

    private mutating func step(
        _ base: PredicateOperand, isFirst: Bool
    ) throws(PredicateTextError) -> PredicateOperand {
        let start = current.place
        let isSpecial = skipSign("$")
        guard case .word(let name, let isQuoted) = current.kind else {
            throw fault(current.place, "expected the name of a property, found \(current.shown)")
        }
        let place = (isFirst ? start : base.place).through(take().place)
        let full = isFirst ? name : base.name + "." + name
        if isSpecial { return try identifier(base, name, place, full) }
        switch base.sort {
        case .record(let entity, let isOptional):
            return try property(name, of: entity, base, isOptional: isOptional, place, full, start)
        case .records where name == "count" && !isQuoted:
            return PredicateOperand(
                .count(base.expression), .value(.int64, isOptional: false), place, name: full)
        case .records where name == "isEmpty" && !isQuoted:
            return PredicateOperand(.isEmpty(base.expression), .condition, place, name: full)
        case .coded: return PredicateOperand(.member(base.expression, name), .coded, place, name: full)
        case .value(let kind, _) where (kind == .string || kind == .data) && (name == "count" || name == "isEmpty"):
            return name == "count"
                ? PredicateOperand(.count(base.expression), .value(.int64, isOptional: false), place, name: full)
                : PredicateOperand(.isEmpty(base.expression), .condition, place, name: full)
        case .records(let entity):
            throw fault(
                start,
                "\(base.name) is a set of \(entity) records; write \"any \(base.name) (\(name.shown()) …)\", or "
                    + "count or isEmpty after the dot")
        default: throw fault(start, "\(base.name) is \(base.sortText) and has no \"\(name.shown())\"")
        }
    }

    private func identifier(
        _ base: PredicateOperand, _ name: String, _ place: TextPlace, _ full: String
    ) throws(PredicateTextError) -> PredicateOperand {
        guard name == "id", case .record(let entity, _) = base.sort else {
            throw fault(place, "unknown name after \"$\"; $id is the number of a record")
        }
        return PredicateOperand(.identifier(base.expression), .identifier(entity: entity), place, name: full)
    }

    private func property(
        _ name: String, of entity: String, _ base: PredicateOperand, isOptional: Bool, _ place: TextPlace,
        _ full: String, _ start: TextPlace
    ) throws(PredicateTextError) -> PredicateOperand {
        guard let layout = context.layouts[entity], let slot = layout.slot(named: name) else {
            let names = context.layouts[entity]?.slots.map(\.name) ?? []
            let list = names.prefix(12).joined(separator: ", ") + (names.count > 12 ? ", …" : "")
            throw fault(
                start,
                "\(entity) has no property \"\(name.shown())\"" + Suggestion.text(name, among: names)
                    + "; it has \(list.isEmpty ? "none" : list)")
        }
        let property = layout.slots[slot].property
        let expression = QueryExpression.property(
            base.expression, QueryProperty(entity: entity, name: name, slot: slot))
        let isNullable = isOptional || property.isOptional
        switch property.content {
        case .attribute(let attribute):
            if attribute.options.contains(.ephemeral) {
                throw fault(start, "\(full) is ephemeral, so no store holds it")
            }
            if attribute.kind == .coded { return PredicateOperand(expression, .coded, place, name: full) }
            return PredicateOperand(
                expression, .value(attribute.kind, isOptional: isNullable), place, name: full)
        case .relationship(let relationship):
            return PredicateOperand(
                expression,
                relationship.isToMany
                    ? .records(entity: relationship.destination)
                    : .record(entity: relationship.destination, isOptional: isNullable), place, name: full)
        }
    }
}
#endif
