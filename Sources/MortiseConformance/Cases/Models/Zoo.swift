import Foundation
import MortiseCore

/// The first of three classes, each with properties and relationships of its own.
class Animal: PersistentModel {
    typealias Root = Animal

    var _modelState = ModelState()
    var persistentBackingData: any BackingData<Animal> {
        get { _backingData() }
        set { _adopt(backingData: newValue) }
    }
    class var schemaMetadata: [Schema.PropertyMetadata] { metadata(for: Animal.self) }
    class var _inheritedSchemaMetadata: [Schema.PropertyMetadata] { [] }

    /// The metadata under the key paths of this class or of one that inherits from it.
    static func metadata<M: Animal>(for type: M.Type) -> [Schema.PropertyMetadata] {
        [
            .init(name: "name", keypath: \M.name),
            .init(name: "legs", keypath: \M.legs),
            .init(name: "keeper", keypath: \M.keeper),
        ]
    }

    required init(backingData: any BackingData<Animal>) { _modelState = Animal._state(from: backingData) }
    required init(_modelState: consuming ModelState) { self._modelState = _modelState }
    init(_ name: String, legs: Int = 4) {
        self.name = name
        self.legs = legs
    }

    var name: String {
        get { getValue(forKey: \.name) }
        set { setValue(forKey: \.name, to: newValue) }
    }

    var legs: Int {
        get { getValue(forKey: \.legs) }
        set { setValue(forKey: \.legs, to: newValue) }
    }

    var keeper: Keeper? {
        get { getValue(forKey: \.keeper) }
        set { setValue(forKey: \.keeper, to: newValue) }
    }
}

/// The middle class.
class Dog: Animal {
    override class var schemaMetadata: [Schema.PropertyMetadata] { dogMetadata(for: Dog.self) }
    override class var _inheritedSchemaMetadata: [Schema.PropertyMetadata] { metadata(for: Dog.self) }

    static func dogMetadata<M: Dog>(for type: M.Type) -> [Schema.PropertyMetadata] {
        [
            .init(name: "breed", keypath: \M.breed),
            .init(name: "age", keypath: \M.age),
            .init(name: "walker", keypath: \M.walker),
            .init(name: "toys", keypath: \M.toys, metadata: Schema.Relationship(inverse: \Toy.owners)),
            .init(name: "litter", keypath: \M.litter, metadata: Schema.Relationship(inverse: \Puppy.mother)),
        ]
    }

    required init(backingData: any BackingData<Animal>) { super.init(backingData: backingData) }
    required init(_modelState: consuming ModelState) { super.init(_modelState: _modelState) }
    init(_ name: String, age: Int, breed: String? = nil) {
        super.init(name)
        self.age = age
        self.breed = breed
    }

    var breed: String? {
        get { getValue(forKey: \.breed) }
        set { setValue(forKey: \.breed, to: newValue) }
    }

    var age: Int {
        get { getValue(forKey: \.age) }
        set { setValue(forKey: \.age, to: newValue) }
    }

    var walker: Keeper? {
        get { getValue(forKey: \.walker) }
        set { setValue(forKey: \.walker, to: newValue) }
    }

    var toys: [Toy] {
        get { getValue(forKey: \.toys) }
        set { setValue(forKey: \.toys, to: newValue) }
    }

    var litter: [Puppy] {
        get { getValue(forKey: \.litter) }
        set { setValue(forKey: \.litter, to: newValue) }
    }
}

/// The last of the three classes.
final class Puppy: Dog {
    override class var schemaMetadata: [Schema.PropertyMetadata] {
        [
            .init(name: "weeks", keypath: \Puppy.weeks),
            .init(name: "mother", keypath: \Puppy.mother),
            .init(name: "rival", keypath: \Puppy.rival),
        ]
    }
    override class var _inheritedSchemaMetadata: [Schema.PropertyMetadata] {
        metadata(for: Puppy.self) + dogMetadata(for: Puppy.self)
    }

    required init(backingData: any BackingData<Animal>) { super.init(backingData: backingData) }
    required init(_modelState: consuming ModelState) { super.init(_modelState: _modelState) }
    init(_ name: String, age: Int = 0, weeks: Int) {
        super.init(name, age: age)
        self.weeks = weeks
    }

    var weeks: Int {
        get { getValue(forKey: \.weeks) }
        set { setValue(forKey: \.weeks, to: newValue) }
    }

    var mother: Dog? {
        get { getValue(forKey: \.mother) }
        set { setValue(forKey: \.mother, to: newValue) }
    }

    var rival: Puppy? {
        get { getValue(forKey: \.rival) }
        set { setValue(forKey: \.rival, to: newValue) }
    }
}

/// Refers to classes of every level, with and without inverses.
final class Keeper: PersistentModel {
    var persistentBackingData: any BackingData<Keeper> = Keeper.createBackingData()
    static var schemaMetadata: [Schema.PropertyMetadata] {
        [
            .init(name: "name", keypath: \Keeper.name),
            .init(name: "favourite", keypath: \Keeper.favourite),
            .init(name: "lead", keypath: \Keeper.lead),
            .init(name: "animals", keypath: \Keeper.animals, metadata: Schema.Relationship(inverse: \Animal.keeper)),
            .init(name: "walks", keypath: \Keeper.walks, metadata: Schema.Relationship(inverse: \Dog.walker)),
            .init(name: "charges", keypath: \Keeper.charges),
            .init(name: "herd", keypath: \Keeper.herd),
        ]
    }
    init(backingData: any BackingData<Keeper>) { persistentBackingData = backingData }
    init(_ name: String) { self.name = name }

    var name: String {
        get { getValue(forKey: \.name) }
        set { setValue(forKey: \.name, to: newValue) }
    }

    var favourite: Animal? {
        get { getValue(forKey: \.favourite) }
        set { setValue(forKey: \.favourite, to: newValue) }
    }

    var lead: Puppy? {
        get { getValue(forKey: \.lead) }
        set { setValue(forKey: \.lead, to: newValue) }
    }

    var animals: [Animal] {
        get { getValue(forKey: \.animals) }
        set { setValue(forKey: \.animals, to: newValue) }
    }

    var walks: [Dog] {
        get { getValue(forKey: \.walks) }
        set { setValue(forKey: \.walks, to: newValue) }
    }

    var charges: [Puppy] {
        get { getValue(forKey: \.charges) }
        set { setValue(forKey: \.charges, to: newValue) }
    }

    var herd: [Animal] {
        get { getValue(forKey: \.herd) }
        set { setValue(forKey: \.herd, to: newValue) }
    }
}

/// The other side of a many-to-many relationship of a subclass.
final class Toy: PersistentModel {
    var persistentBackingData: any BackingData<Toy> = Toy.createBackingData()
    static var schemaMetadata: [Schema.PropertyMetadata] {
        [
            .init(name: "name", keypath: \Toy.name),
            .init(name: "owners", keypath: \Toy.owners),
        ]
    }
    init(backingData: any BackingData<Toy>) { persistentBackingData = backingData }
    init(_ name: String) { self.name = name }

    var name: String {
        get { getValue(forKey: \.name) }
        set { setValue(forKey: \.name, to: newValue) }
    }

    var owners: [Dog] {
        get { getValue(forKey: \.owners) }
        set { setValue(forKey: \.owners, to: newValue) }
    }
}
