import Foundation
import MortiseCore

/// A shelf and a family of fruit as versions of a program have them, between which properties were renamed. All of a name are
/// one entity, as far as a store can see.
enum Renamed {}

extension Renamed {
    /// Under the first names.
    enum Before {
        final class Shelf: PersistentModel {
            var persistentBackingData: any BackingData<Shelf> = Shelf.createBackingData()
            static var schemaMetadata: [Schema.PropertyMetadata] {
                [
                    .init(name: "code", keypath: \Shelf.code),
                    .init(name: "label", keypath: \Shelf.label),
                    .init(name: "title", keypath: \Shelf.title),
                    .init(name: "note", keypath: \Shelf.note),
                    .init(name: "next", keypath: \Shelf.next),
                    .init(name: "beside", keypath: \Shelf.beside),
                    .init(name: "above", keypath: \Shelf.above),
                ]
            }
            init(backingData: any BackingData<Shelf>) { persistentBackingData = backingData }
            init(_ code: Int, label: String, title: String, note: String?) {
                self.code = code
                self.label = label
                self.title = title
                self.note = note
            }

            var code: Int {
                get { getValue(forKey: \.code) }
                set { setValue(forKey: \.code, to: newValue) }
            }

            var label: String {
                get { getValue(forKey: \.label) }
                set { setValue(forKey: \.label, to: newValue) }
            }

            var title: String {
                get { getValue(forKey: \.title) }
                set { setValue(forKey: \.title, to: newValue) }
            }

            var note: String? {
                get { getValue(forKey: \.note) }
                set { setValue(forKey: \.note, to: newValue) }
            }

            var next: Shelf? {
                get { getValue(forKey: \.next) }
                set { setValue(forKey: \.next, to: newValue) }
            }

            var beside: [Shelf] {
                get { getValue(forKey: \.beside) }
                set { setValue(forKey: \.beside, to: newValue) }
            }

            var above: Shelf? {
                get { getValue(forKey: \.above) }
                set { setValue(forKey: \.above, to: newValue) }
            }
        }
    }
}

extension Renamed {
    /// With two attributes and two relationships renamed.
    enum After {
        final class Shelf: PersistentModel {
            var persistentBackingData: any BackingData<Shelf> = Shelf.createBackingData()
            static var schemaMetadata: [Schema.PropertyMetadata] {
                [
                    .init(name: "number", keypath: \Shelf.number, metadata: Schema.Attribute(originalName: "code")),
                    .init(name: "label", keypath: \Shelf.label),
                    .init(name: "title", keypath: \Shelf.title),
                    .init(name: "remark", keypath: \Shelf.remark, metadata: Schema.Attribute(originalName: "note")),
                    .init(
                        name: "following", keypath: \Shelf.following,
                        metadata: Schema.Relationship(originalName: "next")),
                    .init(
                        name: "neighbours", keypath: \Shelf.neighbours,
                        metadata: Schema.Relationship(originalName: "beside")),
                    .init(name: "above", keypath: \Shelf.above),
                ]
            }
            init(backingData: any BackingData<Shelf>) { persistentBackingData = backingData }
            init(_ number: Int, label: String, title: String, remark: String?) {
                self.number = number
                self.label = label
                self.title = title
                self.remark = remark
            }

            var number: Int {
                get { getValue(forKey: \.number) }
                set { setValue(forKey: \.number, to: newValue) }
            }

            var label: String {
                get { getValue(forKey: \.label) }
                set { setValue(forKey: \.label, to: newValue) }
            }

            var title: String {
                get { getValue(forKey: \.title) }
                set { setValue(forKey: \.title, to: newValue) }
            }

            var remark: String? {
                get { getValue(forKey: \.remark) }
                set { setValue(forKey: \.remark, to: newValue) }
            }

            var following: Shelf? {
                get { getValue(forKey: \.following) }
                set { setValue(forKey: \.following, to: newValue) }
            }

            var neighbours: [Shelf] {
                get { getValue(forKey: \.neighbours) }
                set { setValue(forKey: \.neighbours, to: newValue) }
            }

            var above: Shelf? {
                get { getValue(forKey: \.above) }
                set { setValue(forKey: \.above, to: newValue) }
            }
        }
    }
}

extension Renamed {
    /// With two attributes that have exchanged their names.
    enum Swapped {
        final class Shelf: PersistentModel {
            var persistentBackingData: any BackingData<Shelf> = Shelf.createBackingData()
            static var schemaMetadata: [Schema.PropertyMetadata] {
                [
                    .init(name: "code", keypath: \Shelf.code),
                    .init(name: "label", keypath: \Shelf.label, metadata: Schema.Attribute(originalName: "title")),
                    .init(name: "title", keypath: \Shelf.title, metadata: Schema.Attribute(originalName: "label")),
                    .init(name: "note", keypath: \Shelf.note),
                    .init(name: "next", keypath: \Shelf.next),
                    .init(name: "beside", keypath: \Shelf.beside),
                    .init(name: "above", keypath: \Shelf.above),
                ]
            }
            init(backingData: any BackingData<Shelf>) { persistentBackingData = backingData }
            init(_ code: Int, label: String, title: String, note: String?) {
                self.code = code
                self.label = label
                self.title = title
                self.note = note
            }

            var code: Int {
                get { getValue(forKey: \.code) }
                set { setValue(forKey: \.code, to: newValue) }
            }

            var label: String {
                get { getValue(forKey: \.label) }
                set { setValue(forKey: \.label, to: newValue) }
            }

            var title: String {
                get { getValue(forKey: \.title) }
                set { setValue(forKey: \.title, to: newValue) }
            }

            var note: String? {
                get { getValue(forKey: \.note) }
                set { setValue(forKey: \.note, to: newValue) }
            }

            var next: Shelf? {
                get { getValue(forKey: \.next) }
                set { setValue(forKey: \.next, to: newValue) }
            }

            var beside: [Shelf] {
                get { getValue(forKey: \.beside) }
                set { setValue(forKey: \.beside, to: newValue) }
            }

            var above: Shelf? {
                get { getValue(forKey: \.above) }
                set { setValue(forKey: \.above, to: newValue) }
            }
        }
    }
}

extension Renamed {
    /// With a renamed attribute whose first name another one has now.
    enum Reused {
        final class Shelf: PersistentModel {
            var persistentBackingData: any BackingData<Shelf> = Shelf.createBackingData()
            static var schemaMetadata: [Schema.PropertyMetadata] {
                [
                    .init(name: "number", keypath: \Shelf.number, metadata: Schema.Attribute(originalName: "code")),
                    .init(name: "code", keypath: \Shelf.code),
                    .init(name: "label", keypath: \Shelf.label),
                    .init(name: "title", keypath: \Shelf.title),
                    .init(name: "note", keypath: \Shelf.note),
                    .init(name: "next", keypath: \Shelf.next),
                    .init(name: "beside", keypath: \Shelf.beside),
                    .init(name: "above", keypath: \Shelf.above),
                ]
            }
            init(backingData: any BackingData<Shelf>) { persistentBackingData = backingData }
            init(_ number: Int, label: String, title: String, note: String?) {
                self.number = number
                self.label = label
                self.title = title
                self.note = note
            }

            var number: Int {
                get { getValue(forKey: \.number) }
                set { setValue(forKey: \.number, to: newValue) }
            }

            var code: Int? {
                get { getValue(forKey: \.code) }
                set { setValue(forKey: \.code, to: newValue) }
            }

            var label: String {
                get { getValue(forKey: \.label) }
                set { setValue(forKey: \.label, to: newValue) }
            }

            var title: String {
                get { getValue(forKey: \.title) }
                set { setValue(forKey: \.title, to: newValue) }
            }

            var note: String? {
                get { getValue(forKey: \.note) }
                set { setValue(forKey: \.note, to: newValue) }
            }

            var next: Shelf? {
                get { getValue(forKey: \.next) }
                set { setValue(forKey: \.next, to: newValue) }
            }

            var beside: [Shelf] {
                get { getValue(forKey: \.beside) }
                set { setValue(forKey: \.beside, to: newValue) }
            }

            var above: Shelf? {
                get { getValue(forKey: \.above) }
                set { setValue(forKey: \.above, to: newValue) }
            }
        }
    }
}

extension Renamed {
    /// With an attribute renamed again from the same first name.
    enum Later {
        final class Shelf: PersistentModel {
            var persistentBackingData: any BackingData<Shelf> = Shelf.createBackingData()
            static var schemaMetadata: [Schema.PropertyMetadata] {
                [
                    .init(name: "serial", keypath: \Shelf.serial, metadata: Schema.Attribute(originalName: "code")),
                    .init(name: "label", keypath: \Shelf.label),
                    .init(name: "title", keypath: \Shelf.title),
                    .init(name: "remark", keypath: \Shelf.remark, metadata: Schema.Attribute(originalName: "note")),
                    .init(
                        name: "following", keypath: \Shelf.following,
                        metadata: Schema.Relationship(originalName: "next")),
                    .init(
                        name: "neighbours", keypath: \Shelf.neighbours,
                        metadata: Schema.Relationship(originalName: "beside")),
                    .init(name: "above", keypath: \Shelf.above),
                ]
            }
            init(backingData: any BackingData<Shelf>) { persistentBackingData = backingData }
            init(_ serial: Int, label: String, title: String, remark: String?) {
                self.serial = serial
                self.label = label
                self.title = title
                self.remark = remark
            }

            var serial: Int? {
                get { getValue(forKey: \.serial) }
                set { setValue(forKey: \.serial, to: newValue) }
            }

            var label: String {
                get { getValue(forKey: \.label) }
                set { setValue(forKey: \.label, to: newValue) }
            }

            var title: String {
                get { getValue(forKey: \.title) }
                set { setValue(forKey: \.title, to: newValue) }
            }

            var remark: String? {
                get { getValue(forKey: \.remark) }
                set { setValue(forKey: \.remark, to: newValue) }
            }

            var following: Shelf? {
                get { getValue(forKey: \.following) }
                set { setValue(forKey: \.following, to: newValue) }
            }

            var neighbours: [Shelf] {
                get { getValue(forKey: \.neighbours) }
                set { setValue(forKey: \.neighbours, to: newValue) }
            }

            var above: Shelf? {
                get { getValue(forKey: \.above) }
                set { setValue(forKey: \.above, to: newValue) }
            }
        }
    }
}

extension Renamed {
    /// With a new attribute in place of another, from which it was not renamed.
    enum Unnamed {
        final class Shelf: PersistentModel {
            var persistentBackingData: any BackingData<Shelf> = Shelf.createBackingData()
            static var schemaMetadata: [Schema.PropertyMetadata] {
                [
                    .init(name: "number", keypath: \Shelf.number),
                    .init(name: "label", keypath: \Shelf.label),
                    .init(name: "title", keypath: \Shelf.title),
                    .init(name: "note", keypath: \Shelf.note),
                    .init(name: "next", keypath: \Shelf.next),
                    .init(name: "beside", keypath: \Shelf.beside),
                    .init(name: "above", keypath: \Shelf.above),
                ]
            }
            init(backingData: any BackingData<Shelf>) { persistentBackingData = backingData }
            init(_ number: Int?, label: String, title: String, note: String?) {
                self.number = number
                self.label = label
                self.title = title
                self.note = note
            }

            var number: Int? {
                get { getValue(forKey: \.number) }
                set { setValue(forKey: \.number, to: newValue) }
            }

            var label: String {
                get { getValue(forKey: \.label) }
                set { setValue(forKey: \.label, to: newValue) }
            }

            var title: String {
                get { getValue(forKey: \.title) }
                set { setValue(forKey: \.title, to: newValue) }
            }

            var note: String? {
                get { getValue(forKey: \.note) }
                set { setValue(forKey: \.note, to: newValue) }
            }

            var next: Shelf? {
                get { getValue(forKey: \.next) }
                set { setValue(forKey: \.next, to: newValue) }
            }

            var beside: [Shelf] {
                get { getValue(forKey: \.beside) }
                set { setValue(forKey: \.beside, to: newValue) }
            }

            var above: Shelf? {
                get { getValue(forKey: \.above) }
                set { setValue(forKey: \.above, to: newValue) }
            }
        }
    }
}

extension Renamed {
    /// A family under the first names.
    enum Orchard {
        /// Inherited by apples.
        class Fruit: PersistentModel {
            typealias Root = Fruit

            var _modelState = ModelState()
            var persistentBackingData: any BackingData<Fruit> {
                get { _backingData() }
                set { _adopt(backingData: newValue) }
            }
            class var schemaMetadata: [Schema.PropertyMetadata] { metadata(for: Fruit.self) }
            class var _inheritedSchemaMetadata: [Schema.PropertyMetadata] { [] }

            /// The metadata under the key paths of this class or of one that inherits from it.
            static func metadata<M: Fruit>(for type: M.Type) -> [Schema.PropertyMetadata] {
                [
                    .init(name: "name", keypath: \M.name),
                    .init(name: "weight", keypath: \M.weight),
                    .init(name: "basket", keypath: \M.basket),
                ]
            }

            required init(backingData: any BackingData<Fruit>) { _modelState = Fruit._state(from: backingData) }
            required init(_modelState: consuming ModelState) { self._modelState = _modelState }
            init(_ name: String, weight: Int) {
                self.name = name
                self.weight = weight
            }

            var name: String {
                get { getValue(forKey: \.name) }
                set { setValue(forKey: \.name, to: newValue) }
            }

            var weight: Int {
                get { getValue(forKey: \.weight) }
                set { setValue(forKey: \.weight, to: newValue) }
            }

            var basket: Basket? {
                get { getValue(forKey: \.basket) }
                set { setValue(forKey: \.basket, to: newValue) }
            }
        }

        /// A subclass.
        final class Apple: Fruit {
            override class var schemaMetadata: [Schema.PropertyMetadata] {
                [
                    .init(name: "sort", keypath: \Apple.sort)
                ]
            }
            override class var _inheritedSchemaMetadata: [Schema.PropertyMetadata] {
                metadata(for: Apple.self)
            }

            required init(backingData: any BackingData<Fruit>) { super.init(backingData: backingData) }
            required init(_modelState: consuming ModelState) { super.init(_modelState: _modelState) }
            init(_ name: String, weight: Int, sort: String) {
                super.init(name, weight: weight)
                self.sort = sort
            }

            var sort: String {
                get { getValue(forKey: \.sort) }
                set { setValue(forKey: \.sort, to: newValue) }
            }
        }

        /// Holds fruit.
        final class Basket: PersistentModel {
            var persistentBackingData: any BackingData<Basket> = Basket.createBackingData()
            static var schemaMetadata: [Schema.PropertyMetadata] {
                [
                    .init(name: "name", keypath: \Basket.name),
                    .init(name: "fruit", keypath: \Basket.fruit, metadata: Schema.Relationship(inverse: \Fruit.basket)),
                ]
            }
            init(backingData: any BackingData<Basket>) { persistentBackingData = backingData }
            init(_ name: String) { self.name = name }

            var name: String {
                get { getValue(forKey: \.name) }
                set { setValue(forKey: \.name, to: newValue) }
            }

            var fruit: [Fruit] {
                get { getValue(forKey: \.fruit) }
                set { setValue(forKey: \.fruit, to: newValue) }
            }
        }
    }
}

extension Renamed {
    /// The family with attributes and both sides of a relationship renamed.
    enum Market {
        /// Inherited by apples.
        class Fruit: PersistentModel {
            typealias Root = Fruit

            var _modelState = ModelState()
            var persistentBackingData: any BackingData<Fruit> {
                get { _backingData() }
                set { _adopt(backingData: newValue) }
            }
            class var schemaMetadata: [Schema.PropertyMetadata] { metadata(for: Fruit.self) }
            class var _inheritedSchemaMetadata: [Schema.PropertyMetadata] { [] }

            /// The metadata under the key paths of this class or of one that inherits from it.
            static func metadata<M: Fruit>(for type: M.Type) -> [Schema.PropertyMetadata] {
                [
                    .init(name: "name", keypath: \M.name),
                    .init(name: "mass", keypath: \M.mass, metadata: Schema.Attribute(originalName: "weight")),
                    .init(name: "holder", keypath: \M.holder, metadata: Schema.Relationship(originalName: "basket")),
                ]
            }

            required init(backingData: any BackingData<Fruit>) { _modelState = Fruit._state(from: backingData) }
            required init(_modelState: consuming ModelState) { self._modelState = _modelState }
            init(_ name: String, mass: Int) {
                self.name = name
                self.mass = mass
            }

            var name: String {
                get { getValue(forKey: \.name) }
                set { setValue(forKey: \.name, to: newValue) }
            }

            var mass: Int? {
                get { getValue(forKey: \.mass) }
                set { setValue(forKey: \.mass, to: newValue) }
            }

            var holder: Basket? {
                get { getValue(forKey: \.holder) }
                set { setValue(forKey: \.holder, to: newValue) }
            }
        }

        /// A subclass.
        final class Apple: Fruit {
            override class var schemaMetadata: [Schema.PropertyMetadata] {
                [
                    .init(name: "kind", keypath: \Apple.kind, metadata: Schema.Attribute(originalName: "sort"))
                ]
            }
            override class var _inheritedSchemaMetadata: [Schema.PropertyMetadata] {
                metadata(for: Apple.self)
            }

            required init(backingData: any BackingData<Fruit>) { super.init(backingData: backingData) }
            required init(_modelState: consuming ModelState) { super.init(_modelState: _modelState) }
            init(_ name: String, mass: Int, kind: String) {
                super.init(name, mass: mass)
                self.kind = kind
            }

            var kind: String {
                get { getValue(forKey: \.kind) }
                set { setValue(forKey: \.kind, to: newValue) }
            }
        }

        /// Holds fruit.
        final class Basket: PersistentModel {
            var persistentBackingData: any BackingData<Basket> = Basket.createBackingData()
            static var schemaMetadata: [Schema.PropertyMetadata] {
                [
                    .init(name: "name", keypath: \Basket.name),
                    .init(
                        name: "content", keypath: \Basket.content,
                        metadata: Schema.Relationship(originalName: "fruit", inverse: \Fruit.holder)),
                ]
            }
            init(backingData: any BackingData<Basket>) { persistentBackingData = backingData }
            init(_ name: String) { self.name = name }

            var name: String {
                get { getValue(forKey: \.name) }
                set { setValue(forKey: \.name, to: newValue) }
            }

            var content: [Fruit] {
                get { getValue(forKey: \.content) }
                set { setValue(forKey: \.content, to: newValue) }
            }
        }
    }
}
