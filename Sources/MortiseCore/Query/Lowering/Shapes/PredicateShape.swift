import Foundation

/// How predicates of one type of expression are lowered: the outline of the type, and a template for each set of key paths,
/// operators and uses of variables that was met.
final class PredicateShape: Sendable {
    /// Nil if expressions of the type are lowered again each time.
    let outline: PredicateOutline?
    private let forms: [Form]
    /// A type that many call sites share has a form for each; a program that makes key paths at run time must not fill memory.
    private static let limit = 16

    init(_ type: any LowerableExpression.Type) {
        outline = PredicateOutline(type)
        forms = []
    }

    private init(_ outline: PredicateOutline, _ forms: [Form]) {
        self.outline = outline
        self.forms = forms
    }

    /// Whether the shape can keep another form.
    var hasRoom: Bool { outline != nil && forms.count < Self.limit }

    /// An expression's lowered form; nil if the shape has no form of the expression, or a captured value has no stored
    /// form.
    func lowered(_ expression: UnsafeRawPointer, root: PredicateExpressions.VariableID) -> [QueryExpression]? {
        guard let outline else { return nil }
        // The key paths of a call site are the same objects each time; telling that others are equal takes longer.
        let form =
            forms.first { $0.fits(expression, root, outline, byIdentity: true) }
            ?? forms.first { $0.fits(expression, root, outline, byIdentity: false) }
        return form.flatMap { try? $0.conjuncts.map { try $0.filled(from: expression) } }
    }

    /// The shape with one more form: what an expression was lowered to. `template` is the lowered form with
    /// placeholders for captured values, numbered as in the outline; `conjuncts` is the form that filling in the
    /// expression's own values must give. Returns nil if it does not, or if the shape has no outline.
    func adding(
        _ expression: UnsafeRawPointer, root: PredicateExpressions.VariableID, template: [QueryExpression],
        conjuncts: [QueryExpression]
    ) -> PredicateShape? {
        guard let outline,
            let form = Form(expression, root, outline, template.map { LoweredTemplate($0, outline.values) }),
            let filled = try? form.conjuncts.map({ try $0.filled(from: expression) }), filled == conjuncts
        else { return nil }
        return PredicateShape(outline, forms + [form])
    }
}

/// What expressions of one type and one form agree in.
///
/// @unchecked: key paths are immutable; the type does not say so.
private struct Form: @unchecked Sendable {
    private let keyPaths: [AnyKeyPath]
    private let operations: [UInt8]
    /// For each place that reads a variable, which one: 0 is the predicate's own.
    private let variables: [Int]
    let conjuncts: [LoweredTemplate]

    init?(
        _ expression: UnsafeRawPointer, _ root: PredicateExpressions.VariableID, _ outline: PredicateOutline,
        _ conjuncts: [LoweredTemplate]
    ) {
        var keyPaths: [AnyKeyPath] = []
        var operations: [UInt8] = []
        var variables: [Int] = []
        for leaf in outline.leaves {
            switch leaf {
            case .keyPath(let offset): keyPaths.append(Self.keyPath(expression, offset))
            case .operation(let offset): operations.append(expression.load(fromByteOffset: offset, as: UInt8.self))
            case .variable(let offset, let known):
                guard let variable = Self.variable(expression, offset, known, root, outline) else { return nil }
                variables.append(variable)
            }
        }
        self.keyPaths = keyPaths
        self.operations = operations
        self.variables = variables
        self.conjuncts = conjuncts
    }

    func fits(
        _ expression: UnsafeRawPointer, _ root: PredicateExpressions.VariableID, _ outline: PredicateOutline,
        byIdentity: Bool
    ) -> Bool {
        var (keyPath, operation, variable) = (0, 0, 0)
        for leaf in outline.leaves {
            switch leaf {
            case .keyPath(let offset):
                let here = Self.keyPath(expression, offset)
                guard here === keyPaths[keyPath] || (!byIdentity && here == keyPaths[keyPath]) else { return false }
                keyPath += 1
            case .operation(let offset):
                guard expression.load(fromByteOffset: offset, as: UInt8.self) == operations[operation] else {
                    return false
                }
                operation += 1
            case .variable(let offset, let known):
                guard Self.variable(expression, offset, known, root, outline) == variables[variable] else {
                    return false
                }
                variable += 1
            }
        }
        return true
    }

    private static func keyPath(_ expression: UnsafeRawPointer, _ offset: Int) -> AnyKeyPath {
        (expression + offset).assumingMemoryBound(to: AnyKeyPath.self).pointee
    }

    /// Which variable is read at a place: as in lowering the last one with its key, else the predicate's own.
    private static func variable(
        _ expression: UnsafeRawPointer, _ offset: Int, _ known: Int, _ root: PredicateExpressions.VariableID,
        _ outline: PredicateOutline
    ) -> Int? {
        func key(_ offset: Int) -> PredicateExpressions.VariableID {
            expression.load(fromByteOffset: offset, as: PredicateExpressions.VariableID.self)
        }
        let wanted = key(offset)
        for number in (0..<known).reversed() where key(outline.variables[number]) == wanted { return number + 1 }
        return wanted == root ? 0 : nil
    }
}
