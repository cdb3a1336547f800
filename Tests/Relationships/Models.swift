import MortiseCore
import Synchronization

// Classes for every world there can be. A world's number is a type, made at run time of one digit inside the other, and
// the classes are generic over it: what a class has as its properties, it looks up by that number.
//
// The members are those that `@Model` writes, but for accessors by slot: `Reader` and `Writer` stand in for those.

protocol Digits: SendableMetatype {
    static var number: Int { get }
}

enum Zero: Digits { static var number: Int { 0 } }
enum D0<Rest: Digits>: Digits { static var number: Int { Rest.number * 4 } }
enum D1<Rest: Digits>: Digits { static var number: Int { Rest.number * 4 + 1 } }
enum D2<Rest: Digits>: Digits { static var number: Int { Rest.number * 4 + 2 } }
enum D3<Rest: Digits>: Digits { static var number: Int { Rest.number * 4 + 3 } }

enum FA: Digits { static var number: Int { 0 } }
enum FB: Digits { static var number: Int { 1 } }
enum FC: Digits { static var number: Int { 2 } }
enum FD: Digits { static var number: Int { 3 } }
enum FE: Digits { static var number: Int { 4 } }

/// The worlds of this process by number.
enum Worlds {
    private static let worlds = Mutex<(list: [World], numbers: [World: Int])>(([], [:]))

    static func number(of world: World) -> Int {
        worlds.withLock { worlds in
            if let number = worlds.numbers[world] { return number }
            worlds.list.append(world)
            worlds.numbers[world] = worlds.list.count - 1
            return worlds.list.count - 1
        }
    }

    static subscript(number: Int) -> World { worlds.withLock { $0.list[number] } }

    /// The classes of a world's entities.
    static func classes(of world: World) -> [World.Entity: any GeneratedModel.Type] {
        let number = digits(number(of: world))
        return Dictionary(uniqueKeysWithValues: world.entities.map { ($0, modelClass($0, number)) })
    }

    private static func digits(_ number: Int) -> any Digits.Type {
        if number == 0 { return Zero.self }
        func wrap<Rest: Digits>(_ rest: Rest.Type) -> any Digits.Type {
            switch number % 4 {
            case 0: D0<Rest>.self
            case 1: D1<Rest>.self
            case 2: D2<Rest>.self
            default: D3<Rest>.self
            }
        }
        return wrap(digits(number / 4))
    }

    static func modelClass(_ entity: World.Entity, _ number: any Digits.Type) -> any GeneratedModel.Type {
        func open<W: Digits>(_: W.Type) -> any GeneratedModel.Type {
            func family<F: Digits>(_: F.Type) -> any GeneratedModel.Type {
                switch entity.level {
                case 0: Base<W, F>.self
                case 1: Middle<W, F>.self
                default: Leaf<W, F>.self
                }
            }
            let families: [any Digits.Type] = [FA.self, FB.self, FC.self, FD.self, FE.self]
            return family(families[entity.family])
        }
        return open(number)
    }
}

/// What all the classes have in common.
protocol GeneratedModel: PersistentModel {
    var n: Int { get set }
    var v: Int { get set }
    static var entity: World.Entity { get }
    static func make(_ state: consuming InitialState) -> any GeneratedModel
}

/// What an initializer sets: attributes, and relationships as the macro's init accessors do.
struct InitialState {
    var n: Int
    var v: Int
    var relationships: [(slot: Int, initializer: any Initializer)] = []
}

/// Sets one relationship of a model that is being made.
protocol Initializer {
    func initialize(_ state: inout ModelState, at slot: Int)
    func initialize(_ state: inout InitialValues, at slot: Int)
}

/// A property as the argument of a subscript, so that there is a key path to it.
struct PropertyPath<Target: PersistentModel>: Hashable, Sendable {
    let slot: Int
}

class Base<W: Digits, F: Digits>: GeneratedModel {
    typealias Root = Base<W, F>

    @exclusivity(unchecked) nonisolated(unsafe) var _modelState = ModelState()
    var persistentBackingData: any BackingData<Base<W, F>> {
        get { _backingData() }
        set { _adopt(backingData: newValue) }
    }
    func _adoptInitialValues() {}

    required init(_modelState: consuming ModelState) { self._modelState = _modelState }
    required init(backingData: any BackingData<Base<W, F>>) {
        _modelState = Base<W, F>._state(from: backingData)
    }
    init(initial: InitialState) {
        _modelState.initialize(at: 0, to: initial.n)
        _modelState.initialize(at: 1, to: initial.v)
        let own = Self.slots(ofLevel: 0)
        for (slot, initializer) in initial.relationships where own.contains(slot) {
            initializer.initialize(&_modelState, at: slot)
        }
    }

    class var entity: World.Entity { World.Entity(family: F.number, level: 0) }
    class func make(_ state: consuming InitialState) -> any GeneratedModel { Base(initial: state) }

    static func slots(ofLevel level: Int) -> Range<Int> {
        let entity = World.Entity(family: F.number, level: level)
        let world = Worlds[W.number]
        let end = World.attributeCount + world.properties(entity).count
        return end - world.ownProperties(entity).count..<end
    }

    class var schemaMetadata: [Schema.PropertyMetadata] { metadata(ofLevel: 0, for: Base.self) }
    class var _inheritedSchemaMetadata: [Schema.PropertyMetadata] { [] }

    /// What a class of the family declares, under the key paths of that class or of one that inherits from it.
    static func metadata<M: Base<W, F>>(
        ofLevel level: Int, for type: M.Type
    ) -> [Schema.PropertyMetadata] {
        var metadata: [Schema.PropertyMetadata] = []
        if level == 0 {
            metadata.append(.init(name: "n", keypath: \M.n))
            metadata.append(.init(name: "v", keypath: \M.v, defaultValue: 0))
        }
        let world = Worlds[W.number]
        for (property, slot) in zip(
            world.ownProperties(World.Entity(family: F.number, level: level)), slots(ofLevel: level))
        {
            metadata.append(description(of: property, slot, world, M.self))
        }
        return metadata
    }

    private static func description<M: Base<W, F>>(
        of property: World.Property, _ slot: Int, _ world: World, _: M.Type
    ) -> Schema.PropertyMetadata {
        guard let end = world.end(property), let target = world.target(property), let link = world.links[property.link]
        else { return .init(name: "none", keypath: \M.n) }
        var inverse: AnyKeyPath?
        if world.names(property) {
            let back =
                link.isSymmetric ? property : World.Property(link: property.link, side: property.side.other)
            let owner = world.end(back)?.owner ?? target
            let slot = world.properties(owner).first { $0.property == back }?.slot ?? 0
            inverse = keyPath(
                slot, world.end(back) ?? end, of: Worlds.modelClass(owner, W.self),
                to: Worlds.modelClass(World.Entity(family: F.number, level: end.owner.level), W.self))
        }
        return .init(
            name: world.name(property),
            keypath: keyPath(slot, end, of: M.self, to: Worlds.modelClass(target, W.self)) ?? \M.n,
            metadata: end.rule == .nullify && inverse == nil
                ? nil : Schema.Relationship(deleteRule: end.rule, inverse: inverse))
    }

    private static func keyPath(
        _ slot: Int, _ end: World.End, of owner: any GeneratedModel.Type, to target: any GeneratedModel.Type
    ) -> AnyKeyPath? {
        func open<Owner: GeneratedModel, Target: GeneratedModel>(_: Owner.Type, _: Target.Type) -> AnyKeyPath {
            let path = PropertyPath<Target>(slot: slot)
            return switch end.kind {
            case .optional: \Owner.[optional: path]
            case .required: \Owner.[required: path]
            case .many where end.isOptionalArray: \Owner.[optionalMany: path]
            case .many: \Owner.[many: path]
            }
        }
        return open(owner, target)
    }
}

class Middle<W: Digits, F: Digits>: Base<W, F> {
    @exclusivity(unchecked) nonisolated(unsafe) private var own = InitialValues()
    override func _adoptInitialValues() {
        super._adoptInitialValues()
        _modelState.adopt(&own)
    }

    required init(_modelState: consuming ModelState) { super.init(_modelState: _modelState) }
    required init(backingData: any BackingData<Base<W, F>>) {
        super.init(backingData: backingData)
        own = InitialValues()
    }
    override init(initial: InitialState) {
        let slots = Self.slots(ofLevel: 1)
        for (slot, initializer) in initial.relationships where slots.contains(slot) {
            initializer.initialize(&own, at: slot)
        }
        super.init(initial: initial)
    }

    override class var entity: World.Entity { World.Entity(family: F.number, level: 1) }
    override class func make(_ state: consuming InitialState) -> any GeneratedModel { Middle(initial: state) }
    override class var schemaMetadata: [Schema.PropertyMetadata] { metadata(ofLevel: 1, for: Middle.self) }
    override class var _inheritedSchemaMetadata: [Schema.PropertyMetadata] { metadata(ofLevel: 0, for: Middle.self) }
}

class Leaf<W: Digits, F: Digits>: Middle<W, F> {
    @exclusivity(unchecked) nonisolated(unsafe) private var own = InitialValues()
    override func _adoptInitialValues() {
        super._adoptInitialValues()
        _modelState.adopt(&own)
    }

    required init(_modelState: consuming ModelState) { super.init(_modelState: _modelState) }
    required init(backingData: any BackingData<Base<W, F>>) {
        super.init(backingData: backingData)
        own = InitialValues()
    }
    override init(initial: InitialState) {
        let slots = Self.slots(ofLevel: 2)
        for (slot, initializer) in initial.relationships where slots.contains(slot) {
            initializer.initialize(&own, at: slot)
        }
        super.init(initial: initial)
    }

    override class var entity: World.Entity { World.Entity(family: F.number, level: 2) }
    override class func make(_ state: consuming InitialState) -> any GeneratedModel { Leaf(initial: state) }
    override class var schemaMetadata: [Schema.PropertyMetadata] { metadata(ofLevel: 2, for: Leaf.self) }
    override class var _inheritedSchemaMetadata: [Schema.PropertyMetadata] {
        metadata(ofLevel: 0, for: Leaf.self) + metadata(ofLevel: 1, for: Leaf.self)
    }
}

extension GeneratedModel {
    var n: Int {
        get { _value(at: 0) }
        set { _setValue(newValue, at: 0) }
    }
    var v: Int {
        get { _value(at: 1) }
        set { _setValue(newValue, at: 1) }
    }
    subscript<Target: PersistentModel>(optional path: PropertyPath<Target>) -> Target? {
        get { _value(at: path.slot) }
        set { _setValue(newValue, at: path.slot) }
    }
    subscript<Target: PersistentModel>(required path: PropertyPath<Target>) -> Target {
        get { _value(at: path.slot) }
        set { _setValue(newValue, at: path.slot) }
    }
    subscript<Target: PersistentModel>(many path: PropertyPath<Target>) -> [Target] {
        get { _value(at: path.slot) }
        set { _setValue(newValue, at: path.slot) }
    }
    subscript<Target: PersistentModel>(optionalMany path: PropertyPath<Target>) -> [Target]? {
        get { _value(at: path.slot) }
        set { _setValue(newValue, at: path.slot) }
    }
}
