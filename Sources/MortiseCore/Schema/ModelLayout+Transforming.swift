import Foundation

extension Schema.Attribute {
    /// The name of the transformer that stores the attribute; nil if none does.
    var valueTransformerName: NSValueTransformerName? {
        options.lazy.compactMap(\.transformerName).first.map { NSValueTransformerName($0) }
    }
}

extension NSValueTransformerName {
    /// The value from which the transformer made the data; nil for other data, and if the transformer is neither registered
    /// nor one of Foundation's own.
    func untransformed<T>(_ data: Data) -> T? {
        // In steps: a cast of nil to an optional type would be a value.
        if let made = ValueTransformer.registered(self)?.reverseTransformedValue(data), let value = made as? T {
            return value
        }
        return archives ? CodableArchive.value(in: data) : nil
    }
}

extension ModelLayout {
    private func transformerName(at slot: Int) -> NSValueTransformerName? {
        slot < properties.count ? (properties[slot] as? Schema.Attribute)?.valueTransformerName : nil
    }

    /// What is stored for a transformable value; nil if the transformer is neither registered nor one of Foundation's
    /// own, makes no data of the value, or does not read the data back: the record could not be fetched.
    func transformed(_ value: Any, at slot: Int) -> StoredValue? {
        if let optional = value as? any OptionalValue, optional.unwrapped == nil { return .null }
        guard let name = transformerName(at: slot) else { return nil }
        let data =
            ValueTransformer.registered(name)?.transformedValue(value) as? Data
            ?? (name.archives ? CodableArchive.data(of: value) : nil)
        guard let stored = data.map(StoredValue.data) else { return nil }
        if slot < checks.count, let check = checks[slot], !check(stored) { return nil }
        return stored
    }

    /// The value from which `transformed` made the data; nil for other data.
    func untransformed<T>(_ data: Data, at slot: Int) -> T? { transformerName(at: slot)?.untransformed(data) }
}
