import Foundation
import MortiseCore

/// A model with a subclass.
class Vehicle: PersistentModel {
    typealias Root = Vehicle

    var _modelState = ModelState()
    var persistentBackingData: any BackingData<Vehicle> {
        get { _backingData() }
        set { _adopt(backingData: newValue) }
    }
    class var schemaMetadata: [Schema.PropertyMetadata] { ownMetadata(for: Vehicle.self) }
    class var _inheritedSchemaMetadata: [Schema.PropertyMetadata] { [] }

    /// The metadata under the key paths of a subclass, so that its own paths of inherited properties are known.
    static func ownMetadata<M: Vehicle>(for type: M.Type) -> [Schema.PropertyMetadata] {
        [.init(name: "plate", keypath: \M.plate), .init(name: "wheels", keypath: \M.wheels)]
    }

    required init(backingData: any BackingData<Vehicle>) { _modelState = Vehicle._state(from: backingData) }
    required init(_modelState: consuming ModelState) { self._modelState = _modelState }
    init(_ plate: String, wheels: Int) {
        self.plate = plate
        self.wheels = wheels
    }

    var plate: String {
        get { getValue(forKey: \.plate) }
        set { setValue(forKey: \.plate, to: newValue) }
    }
    var wheels: Int {
        get { getValue(forKey: \.wheels) }
        set { setValue(forKey: \.wheels, to: newValue) }
    }
}

/// A subclass with its own property.
final class Truck: Vehicle {
    override class var schemaMetadata: [Schema.PropertyMetadata] { [.init(name: "load", keypath: \Truck.load)] }
    override class var _inheritedSchemaMetadata: [Schema.PropertyMetadata] { ownMetadata(for: Truck.self) }

    required init(backingData: any BackingData<Vehicle>) { super.init(backingData: backingData) }
    required init(_modelState: consuming ModelState) { super.init(_modelState: _modelState) }
    init(_ plate: String, load: Double) {
        super.init(plate, wheels: 6)
        self.load = load
    }

    var load: Double {
        get { getValue(forKey: \.load) }
        set { setValue(forKey: \.load, to: newValue) }
    }
}
