/// A coded value whose Swift type is not known: what a store keeps of a `Codable` value, as it is.
///
/// Models that are made from a schema (`mortise schema models`) have properties of this type where the schema does not say more.
/// Such a property stores the same tree as one of the type that the tree is of, to the last bit.
public struct CodedTree: Sendable, Hashable {
    /// The tree: nulls, booleans, numbers, strings, arrays and objects.
    public var value: StoredValue

    /// Keeps a tree.
    public init(_ value: StoredValue) { self.value = value }
}

extension CodedTree: Codable {
    /// Takes what a decoder has, whatever it is. A `StoredValueDecoder` hands over its tree as it is; of others integers that are
    /// written as fractions may come as integers.
    /// - Throws: what the decoder throws.
    public init(from decoder: any Decoder) throws { value = try CodedForm(from: decoder).value }

    /// Encodes the tree as it is.
    /// - Throws: what the encoder throws.
    public func encode(to encoder: any Encoder) throws { try CodedForm(value: value).encode(to: encoder) }
}
