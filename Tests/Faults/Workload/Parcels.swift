public import MortiseCore

/// Something that is delivered; written without macros, so that the programs that use it are built quickly.
public final class Parcel: PersistentModel {
    public var persistentBackingData: any BackingData<Parcel> = Parcel.createBackingData()
    public static var schemaMetadata: [Schema.PropertyMetadata] {
        [
            .init(name: "number", keypath: \Parcel.number, metadata: Schema.Attribute(.unique)),
            .init(name: "label", keypath: \Parcel.label),
            .init(name: "weight", keypath: \Parcel.weight),
            .init(name: "courier", keypath: \Parcel.courier),
        ]
    }
    public init(backingData: any BackingData<Parcel>) { persistentBackingData = backingData }
    public init(number: Int, label: String, weight: Double = 0, courier: Courier? = nil) {
        self.number = number
        self.label = label
        self.weight = weight
        self.courier = courier
    }

    public var number: Int {
        get { getValue(forKey: \.number) }
        set { setValue(forKey: \.number, to: newValue) }
    }
    public var label: String {
        get { getValue(forKey: \.label) }
        set { setValue(forKey: \.label, to: newValue) }
    }
    public var weight: Double {
        get { getValue(forKey: \.weight) }
        set { setValue(forKey: \.weight, to: newValue) }
    }
    public var courier: Courier? {
        get { getValue(forKey: \.courier) }
        set { setValue(forKey: \.courier, to: newValue) }
    }
}

/// Somebody who delivers parcels.
public final class Courier: PersistentModel {
    public var persistentBackingData: any BackingData<Courier> = Courier.createBackingData()
    public static var schemaMetadata: [Schema.PropertyMetadata] {
        [
            .init(name: "name", keypath: \Courier.name),
            .init(
                name: "parcels", keypath: \Courier.parcels, metadata: Schema.Relationship(inverse: \Parcel.courier)),
        ]
    }
    public init(backingData: any BackingData<Courier>) { persistentBackingData = backingData }
    public init(name: String) { self.name = name }

    public var name: String {
        get { getValue(forKey: \.name) }
        set { setValue(forKey: \.name, to: newValue) }
    }
    public var parcels: [Parcel] {
        get { getValue(forKey: \.parcels) }
        set { setValue(forKey: \.parcels, to: newValue) }
    }
}
