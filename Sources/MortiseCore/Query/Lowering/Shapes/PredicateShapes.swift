import Foundation
import Synchronization

/// The shapes of the predicates that were lowered, by the types of their expressions: a call site's predicates all have one,
/// and the next one is lowered by putting the values that it captured into the last one's form.
enum PredicateShapes {
    private static let limit = 4096
    private static let known = Mutex<[ObjectIdentifier: PredicateShape]>([:])

    /// Nil if the predicate has to be lowered, whose result should then be cached.
    static func lowered<Model: PersistentModel, E: PredicateExpression>(
        _ expression: E, _ variable: PredicateExpressions.Variable<Model>
    ) -> [QueryExpression]? {
        guard let shape = known.withLock({ $0[ObjectIdentifier(E.self)] }) else { return nil }
        return withUnsafePointer(to: expression) { shape.lowered(UnsafeRawPointer($0), root: variable.key) }
    }

    /// Caches how a predicate without parts left to code was lowered.
    static func remember<Model: PersistentModel, E: PredicateExpression>(
        _ expression: E, _ variable: PredicateExpressions.Variable<Model>, as conjuncts: [QueryExpression]
    ) where E.Output == Bool {
        let key = ObjectIdentifier(E.self)
        guard let type = LowerableTypes.of(E.self) else { return }
        let known = known.withLock { $0[key] }
        let shape = known ?? PredicateShape(type)
        var grown: PredicateShape?
        if shape.hasRoom, let outline = shape.outline {
            let template = LoweredPredicate<Model>(templateOf: expression, variable)
            if template.code.isEmpty, template.placeholders == outline.values.count {
                grown = withUnsafePointer(to: expression) {
                    shape.adding(
                        UnsafeRawPointer($0), root: variable.key, template: template.conjuncts, conjuncts: conjuncts)
                }
            }
        }
        guard let new = grown ?? (known == nil ? shape : nil) else { return }
        Self.known.withLock { known in
            if known.count >= limit { known.removeAll() }
            known[key] = new
        }
    }
}
