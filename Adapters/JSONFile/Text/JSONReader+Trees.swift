import MortiseCore

extension JSONReader {
    /// Reads any value as the tree that a `coded` attribute holds: numbers without point and exponent are `integer`, or
    /// `unsigned` beyond `Int64.max`; others are `double`.
    ///
    /// Duplicate keys are refused, after unescaping and under canonical equivalence. The memory of the tree is bounded
    /// by the budget before it is allocated.
    package mutating func readTree(budget: inout TreeBudget) throws(JSONFault) -> StoredValue {
        let start = position
        var open: [OpenContainer] = []
        while true {
            var value: StoredValue
            switch try peek() {
            case .object:
                try charge(TreeBudget.container, parts: 1, from: start, to: &budget)
                try beginObject()
                open.append(OpenContainer(isObject: true))
                value = .null
            case .array:
                try charge(TreeBudget.container, parts: 1, from: start, to: &budget)
                try beginArray()
                open.append(OpenContainer(isObject: false))
                value = .null
            default: value = try readLeaf(from: start, budget: &budget)
            }
            var isComplete = !(isAfterOpening)
            // Attach what is complete, close what ends, and stop before the next value.
            while true {
                if isComplete {
                    guard !open.isEmpty else { return value }
                    open[open.count - 1].attach(value)
                }
                let top = open.count - 1
                if open[top].isObject {
                    if try nextMember(of: &open[top], from: start, budget: &budget) { break }
                    value = .object(open[top].members)
                } else {
                    if try nextElement() {
                        try charge(TreeBudget.element, parts: 1, from: start, to: &budget)
                        break
                    }
                    value = .array(open[top].elements)
                }
                open.removeLast()
                isComplete = true
            }
        }
    }

    private mutating func readLeaf(from start: Int, budget: inout TreeBudget) throws(JSONFault) -> StoredValue {
        switch try peek() {
        case .string:
            let body = try readStringBody()
            try charge(TreeBudget.string(length: body.range.count), from: start, to: &budget)
            position = body.range.lowerBound - 1
            return .string(try readString())
        case .number:
            let number = try readNumber()
            if number.isInteger {
                if let integer = integer(number) { return .integer(integer) }
                if let unsigned = unsigned(number) { return .unsigned(unsigned) }
            } else if let double = double(number) {
                return .double(double)
            }
            throw JSONFault(reason: .numberOutOfRange, offset: number.range.lowerBound)
        case .bool: return .bool(try readBool())
        default:
            try readLiteral("null")
            return .null
        }
    }

    private mutating func nextMember(
        of object: inout OpenContainer, from start: Int, budget: inout TreeBudget
    ) throws(JSONFault) -> Bool {
        guard try advance(to: UInt8(ascii: "}"), expected: "',' or '}'") else { return false }
        guard position < bytes.count else { throw fault(.unexpectedEnd(expected: "a key")) }
        guard bytes[position] == UInt8(ascii: "\"") else {
            throw fault(.unexpectedByte(bytes[position], expected: "a key in double quotes"))
        }
        let keyStart = position
        let body = try readStringBody()
        try charge(
            TreeBudget.member + TreeBudget.string(length: body.range.count), parts: 2, from: start, to: &budget)
        position = keyStart
        object.key = try readString()
        guard object.members[object.key] == nil else {
            throw JSONFault(reason: .duplicateKey(object.key), offset: keyStart)
        }
        try readColon()
        return true
    }

    private func charge(
        _ cost: Int, parts: Int = 0, from start: Int, to budget: inout TreeBudget
    ) throws(JSONFault) {
        guard budget.spend(cost, parts: parts, textLength: position - start) else { throw fault(.valueTooLarge) }
    }
}

/// An array or object whose end has not been read; a stack of them replaces recursion.
private struct OpenContainer {
    let isObject: Bool
    var elements: [StoredValue] = []
    var members: [String: StoredValue] = [:]
    var key = ""

    init(isObject: Bool) { self.isObject = isObject }

    mutating func attach(_ value: StoredValue) {
        if isObject { members[key] = value } else { elements.append(value) }
    }
}
