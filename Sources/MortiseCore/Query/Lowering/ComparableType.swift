import Foundation

/// Whether comparing values of a type says the same as comparing their stored forms.
enum ComparableType {
    static func checkEquality(_ type: any Any.Type) throws {
        if let fault = equality.value(of: type, { type in fault { try findEquality(type) } }) {
            throw NotLowerable(reason: fault)
        }
    }

    private static let equality = TypeCache<String?>()
    private static let order = TypeCache<String?>()
    private static let kinds = TypeCache<StorageKind?>()

    private static func fault(_ check: () throws -> Void) -> String? {
        do {
            try check()
            return nil
        } catch {
            return (error as? NotLowerable)?.reason ?? "\(error)"
        }
    }

    private static func findEquality(_ type: any Any.Type) throws {
        let plain = (type as? any OptionalValue.Type)?.wrappedType ?? type
        if plain is any PersistentModel.Type || plain == PersistentIdentifier.self || plain == ComparisonResult.self
            || plain == Character.self
        {
            return
        }
        if plain is any UnorderedElements.Type {
            throw NotLowerable(reason: "\(plain) is stored in an undefined order")
        }
        if let sequence = plain as? any SequenceElement.Type { return try findEquality(sequence.elementType) }
        switch StorageKind(of: plain) {
        case nil: throw NotLowerable(reason: "\(plain) is not stored")
        // A type with a coded form has its own equality.
        case .coded: throw NotLowerable(reason: "\(plain) compares by its own code")
        default: return
        }
    }

    /// Refuses an optional in a dictionary: a key with nil and a missing key are the same in stored form.
    static func checkNotOptional(_ type: any Any.Type) throws {
        if type is any OptionalValue.Type { throw NotLowerable(reason: "a dictionary of optionals") }
    }

    static func checkOrder(_ type: any Any.Type) throws {
        if let fault = order.value(of: type, { type in fault { try findOrder(type) } }) {
            throw NotLowerable(reason: fault)
        }
    }

    private static func findOrder(_ type: any Any.Type) throws {
        if type is any PersistentScalar.Type || type == PersistentIdentifier.self || type == Character.self { return }
        throw NotLowerable(reason: "\(type) orders by its own code")
    }

    /// The kind to which a part of a coded value, or each element of one, has to be converted before a comparison; nil
    /// if its coded form compares alike.
    static func decodedKind(_ type: any Any.Type) -> StorageKind? { kinds.value(of: type, findDecodedKind) }

    private static func findDecodedKind(_ type: any Any.Type) -> StorageKind? {
        let plain = (type as? any OptionalValue.Type)?.wrappedType ?? type
        if let sequence = plain as? any SequenceElement.Type { return findDecodedKind(sequence.elementType) }
        switch StorageKind(of: plain) {
        case .some(let kind)
        where [.float, .double, .decimal, .date, .uuid, .url, .data, .uint64].contains(kind):
            return kind
        default: return nil
        }
    }

    static func entityName(_ type: any Any.Type) throws -> String {
        guard let model = type as? any PersistentModel.Type else {
            throw NotLowerable(reason: "\(type) is not a model")
        }
        return ModelLayout.of(model).entityName
    }
}

/// The element type of arrays and sets, for code that holds only their type.
protocol SequenceElement {
    static var elementType: any Any.Type { get }
}
extension Array: SequenceElement {
    static var elementType: any Any.Type { Element.self }
}
/// Collections whose order means nothing.
protocol UnorderedElements {}
extension Set: SequenceElement, UnorderedElements {
    static var elementType: any Any.Type { Element.self }
}
