/// A struct that says under which keys its members are coded.
///
/// A property of any `Codable` type can be stored, and predicates, sort orders and aggregates can use its members. But only
/// the type's own code knows how it codes them: so conditions on the members of a plain `Codable` struct, and sort orders by
/// them, are evaluated on models. A type that adopts this protocol lets stores evaluate them on what is stored:
///
/// ```swift
/// struct Address: CompositeValue {
///     var city: String
///     var postcode: String?
///
///     static var compositeMembers: [CompositeMember<Address>] {
///         [.init(\.city, codedAs: CodingKeys.city), .init(\.postcode, codedAs: CodingKeys.postcode)]
///     }
/// }
/// ```
///
/// The conformance changes no results and no stored values, so it can be added to a type whose values are stored already.
public protocol CompositeValue: Codable {
    /// The members that stores may read from the coded form. It need not have all members of the type; conditions on the
    /// others are evaluated on models. It is read once.
    ///
    /// Each must be a stored property that the type encodes as it is under its key and decodes from there unchanged, as
    /// synthesized code does. Nil is coded as null or left out. Where the key is missing, decoding must not read a default;
    /// and if the property is an enum with raw values, the enum must be coded as its raw value.
    ///
    /// If a member is not so, queries on it find the wrong models. `ModelContainer.verifiesPushDown` detects that.
    static var compositeMembers: [CompositeMember<Self>] { get }
}

/// A member of a composite value, and the key under which it is coded.
///
/// @unchecked: a key path to a stored property captures nothing, so that threads can share it; its type does not say so.
public struct CompositeMember<Root>: @unchecked Sendable {
    let keyPath: PartialKeyPath<Root>
    let chained: PartialKeyPath<Root?>?
    let name: String

    /// Names a member.
    /// - Parameters:
    ///   - keyPath: the stored property: `\.city`.
    ///   - key: the key under which the type codes it: `CodingKeys.city`.
    ///   - chained: `\Root?.?.city`, which identifies the member behind an optional property in sort orders and aggregates.
    ///     If it is nil, such key paths are evaluated on models. Predicates do not need it.
    public init(_ keyPath: PartialKeyPath<Root>, codedAs key: any CodingKey, chained: PartialKeyPath<Root?>? = nil) {
        self.keyPath = keyPath
        self.chained = chained
        name = key.stringValue
    }
}
