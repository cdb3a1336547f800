import Foundation
import MortiseCore

extension Translator {
    // MARK: Members of relationships

    /// The members of a to-many relationship, or some of them; nil for other collections.
    func members(_ expression: QueryExpression, _ variables: Variables, depth: Int) -> MembersOperand? {
        if depth > Self.deepest { return nil }
        switch expression {
        case .property(let base, let property):
            guard case .record(let owner)? = operand(base, variables, depth: depth + 1),
                let entity = mapping.entities[property.entity], entity.slots.indices.contains(property.slot)
            else { return nil }
            return members(of: owner, entity.slots[property.slot])
        case .filter(let base, let variable, let test):
            guard var found = members(base, variables, depth: depth + 1) else { return nil }
            var inner = variables
            inner[variable] = .record(found.member)
            let test = condition(test, holds: true, inner, depth: depth + 1)
            guard test.isExact else { return nil }
            found.conditions.append(test.sql)
            return found
        case .variable(let number):
            if case .members(let members)? = variables[number] { return members }
            return nil
        default: return nil
        }
    }

    private func members(of owner: RecordOperand, _ slot: TableMapping.Slot) -> MembersOperand? {
        guard slot.slot.role.isToMany, let destination = mapping.entities[slot.destination] else { return nil }
        let scope = Scope()
        // A record that was cast to another entity, and is null therefore, has no members.
        let number = owner.number
        func member(_ table: Int) -> RecordOperand {
            RecordOperand(row: .table(table), entity: destination, casts: nil, mayBeNull: false)
        }
        switch slot.place {
        case .inverse(let column, _):
            let table = add(destination.table, to: scope)
            return MembersOperand(
                scope: scope, conditions: [.compare(.equal, .column(table: table, name: column), number)],
                member: member(table))
        case .links(let links), .backLinks(let links):
            let isOwner = if case .links = slot.place { true } else { false }
            let (own, other) =
                isOwner
                ? (TableMapping.Link.owner, TableMapping.Link.member)
                : (TableMapping.Link.member, TableMapping.Link.owner)
            let link = add(links, to: scope)
            let table = scope.join(destination.table, targetOf: link, column: other) { newNumber(in: scope) }
            return MembersOperand(
                scope: scope, conditions: [.compare(.equal, .column(table: link, name: own), number)],
                member: member(table))
        default: return nil
        }
    }

    func selection(_ members: MembersOperand, _ more: [SQLExpression]) -> SQLSelection {
        let conditions = members.conditions + more.filter { $0 != .truth(true) }
        return SQLSelection(
            tables: members.scope.tables, condition: conditions.count == 1 ? conditions[0] : .and(conditions))
    }

    /// Whether there is a member for which a condition holds, or none.
    func exists(
        _ all: QueryExpression, _ variable: Int, _ test: QueryExpression, holds: Bool, _ variables: Variables,
        depth: Int
    ) -> Fragment {
        guard let members = members(all, variables, depth: depth + 1) else { return .unknown }
        var inner = variables
        inner[variable] = .record(members.member)
        let test = condition(test, holds: true, inner, depth: depth + 1)
        return exists(members, test, holds: holds)
    }

    private func exists(_ members: MembersOperand, _ test: Fragment, holds: Bool) -> Fragment {
        // Where too many members fulfil the test, too few records have none.
        if !holds, !test.isExact { return .unknown }
        if test.sql == .truth(false) { return .truth(!holds) }
        return Fragment(.exists(selection(members, [test.sql]), isNegated: !holds), isExact: test.isExact)
    }

    func isEmpty(_ base: QueryExpression, holds: Bool, _ variables: Variables, depth: Int) -> Fragment {
        if let members = members(base, variables, depth: depth + 1) {
            return exists(members, .truth(true), holds: !holds)
        }
        switch operand(base, variables, depth: depth + 1) {
        case .constant(.string(let text))?: return .truth(text.isEmpty == holds)
        case .constant(.null)?: return .truth(holds)
        case .scalar(let sql, let kind, let mayBeNull)? where kind == .string || kind == .data:
            let empty = SQLExpression.value(kind == .string ? .text("") : .blob(Data()))
            // Null has no elements.
            guard holds else { return Fragment(.compare(.unequal, sql, empty)) }
            return .or([Fragment(.compare(.equal, sql, empty))] + (mayBeNull ? [Fragment(.isNull(sql))] : []))
        default: return .unknown
        }
    }

    // MARK: Elements

    /// Whether a collection has an element, or has not.
    func contains(
        _ all: QueryExpression, _ element: QueryExpression, holds: Bool, _ variables: Variables, depth: Int
    ) -> Fragment {
        if case .range(.constant(let lower), .constant(let upper), let isClosed) = all {
            // Otherwise evaluation throws.
            guard ValueSemantics.holds(.lessOrEqual, lower, upper) else { return .unknown }
            let bounds = [
                compare(.greaterOrEqual, element, .constant(lower), holds: holds, variables, depth: depth + 1),
                compare(
                    isClosed ? .lessOrEqual : .less, element, .constant(upper), holds: holds, variables,
                    depth: depth + 1),
            ]
            return holds ? .and(bounds) : .or(bounds)
        }
        guard let wanted = operand(element, variables, depth: depth + 1) else { return .unknown }
        if let members = members(all, variables, depth: depth + 1) {
            switch wanted {
            case .record(let record):
                return exists(
                    members, Fragment(.compare(.equal, members.member.number, record.number)), holds: holds)
            case .constant(.identifier(let identifier)):
                return exists(members, self.record(members.member, isOneOf: [identifier], true), holds: holds)
            case .constant(.null): return .truth(!holds)
            default: return .unknown
            }
        }
        var values: [StoredValue] = []
        switch all {
        case .list(let elements):
            for element in elements {
                guard case .constant(let value) = element else { return .unknown }
                values.append(value)
            }
        case .constant(.array(let elements)): values = elements
        default: return .unknown
        }
        return self.element(wanted, isOneOf: values, holds)
    }

    private func element(_ wanted: Operand, isOneOf values: [StoredValue], _ holds: Bool) -> Fragment {
        let hasNull = values.contains(where: \.isNull)
        switch wanted {
        case .constant(let value):
            return .truth(values.contains { ValueSemantics.areEqual($0, value) } == holds)
        case .record(let record):
            var identifiers: [PersistentIdentifier] = []
            for value in values where !value.isNull {
                guard case .identifier(let identifier) = value else { return .unknown }
                identifiers.append(identifier)
            }
            let found = self.record(record, isOneOf: identifiers, holds)
            guard hasNull else { return found }
            return holds ? .or([found, isNull(wanted, true)]) : .and([found, isNull(wanted, false)])
        case .scalar(let sql, let kind, let mayBeNull):
            guard kind != .coded else { return .unknown }
            var listed: [SQLValue] = []
            for value in values where !value.isNull {
                guard let form = compared(value, as: kind) else { return .unknown }
                // NaN is equal to nothing.
                if kind.hasNaN, form.isNaN { continue }
                listed.append(form)
            }
            let found: Fragment =
                listed.isEmpty
                ? .truth(!holds) : Fragment(holds ? .isIn(sql, listed) : .isNotIn(sql, listed))
            guard mayBeNull else { return found }
            if holds { return hasNull ? .or([found, Fragment(.isNull(sql))]) : found }
            if hasNull { return .and([found, Fragment(.isNotNull(sql))]) }
            return .or([found, Fragment(.isNull(sql))])
        case .members: return .unknown
        }
    }

    // MARK: Text

    /// Whether a text begins with another, or contains it. Bytes lead to a superset: characters may go on where bytes end.
    func text(
        _ base: QueryExpression, _ part: QueryExpression, isPrefix: Bool, holds: Bool, _ variables: Variables,
        depth: Int
    ) -> Fragment {
        guard holds, case .scalar(let sql, .string, mayBeNull: false)? = operand(base, variables, depth: depth + 1),
            case .constant(.string(let part))? = operand(part, variables, depth: depth + 1)
        else { return .unknown }
        if part.isEmpty { return .truth(true) }
        let composed = CanonicalText.composed(part)
        let key = mapping.dialect == .sqlite ? composed : EscapedText.escaped(composed)
        guard isPrefix else { return Fragment(.hasPart(sql, .value(.text(key))), isExact: false) }
        let from = SQLExpression.compare(.greaterOrEqual, sql, .value(.text(key)))
        guard let end = Self.textAfterAll(beginningWith: key) else { return Fragment(from, isExact: false) }
        return Fragment(.and([from, .compare(.less, sql, .value(.text(end)))]), isExact: false)
    }

    /// The least text that comes after all that begin with another; nil if nothing comes after them.
    private static func textAfterAll(beginningWith text: String) -> String? {
        var scalars = Array(text.unicodeScalars)
        while let last = scalars.popLast() {
            // Surrogates are no scalars.
            let next = last.value == 0xD7FF ? 0xE000 : last.value + 1
            guard let scalar = Unicode.Scalar(next) else { continue }
            scalars.append(scalar)
            var found = String.UnicodeScalarView()
            found.append(contentsOf: scalars)
            return String(found)
        }
        return nil
    }
}
