import Foundation
import MortiseCore

/// The kit's badge as other versions of a program have it. All are called Badge, as far as a store can see.
enum OtherBadges {
    /// With one more property, which may be nil.
    enum Extended {
        final class Badge: PersistentModel {
            var persistentBackingData: any BackingData<Badge> = Badge.createBackingData()
            static var schemaMetadata: [Schema.PropertyMetadata] {
                [.init(name: "number", keypath: \Badge.number), .init(name: "colour", keypath: \Badge.colour)]
            }
            init(backingData: any BackingData<Badge>) { persistentBackingData = backingData }
            init(_ number: Int) { self.number = number }

            var number: Int {
                get { getValue(forKey: \.number) }
                set { setValue(forKey: \.number, to: newValue) }
            }
            var colour: String? {
                get { getValue(forKey: \.colour) }
                set { setValue(forKey: \.colour, to: newValue) }
            }
        }
    }

    /// With a number that is a text.
    enum Retyped {
        final class Badge: PersistentModel {
            var persistentBackingData: any BackingData<Badge> = Badge.createBackingData()
            static var schemaMetadata: [Schema.PropertyMetadata] { [.init(name: "number", keypath: \Badge.number)] }
            init(backingData: any BackingData<Badge>) { persistentBackingData = backingData }
            init(_ number: String) { self.number = number }

            var number: String {
                get { getValue(forKey: \.number) }
                set { setValue(forKey: \.number, to: newValue) }
            }
        }
    }

    /// With one more property, which has to have a value and has none.
    enum Demanding {
        final class Badge: PersistentModel {
            var persistentBackingData: any BackingData<Badge> = Badge.createBackingData()
            static var schemaMetadata: [Schema.PropertyMetadata] {
                [.init(name: "number", keypath: \Badge.number), .init(name: "owner", keypath: \Badge.owner)]
            }
            init(backingData: any BackingData<Badge>) { persistentBackingData = backingData }
            init(_ number: Int) { self.number = number }

            var number: Int {
                get { getValue(forKey: \.number) }
                set { setValue(forKey: \.number, to: newValue) }
            }
            var owner: String {
                get { getValue(forKey: \.owner) }
                set { setValue(forKey: \.owner, to: newValue) }
            }
        }
    }

    /// With two more properties, which have to have values and have defaults.
    enum Defaulted {
        final class Badge: PersistentModel {
            var persistentBackingData: any BackingData<Badge> = Badge.createBackingData()
            static var schemaMetadata: [Schema.PropertyMetadata] {
                [
                    .init(name: "number", keypath: \Badge.number),
                    .init(name: "owner", keypath: \Badge.owner, defaultValue: "nobody's"),
                    .init(name: "grade", keypath: \Badge.grade, defaultValue: 10),
                ]
            }
            init(backingData: any BackingData<Badge>) { persistentBackingData = backingData }
            init(_ number: Int) { self.number = number }

            var number: Int {
                get { getValue(forKey: \.number) }
                set { setValue(forKey: \.number, to: newValue) }
            }
            var owner: String {
                get { getValue(forKey: \.owner) }
                set { setValue(forKey: \.owner, to: newValue) }
            }
            var grade: Int {
                get { getValue(forKey: \.grade) }
                set { setValue(forKey: \.grade, to: newValue) }
            }
        }
    }

    /// Without its only property, and with another.
    enum Replaced {
        final class Badge: PersistentModel {
            var persistentBackingData: any BackingData<Badge> = Badge.createBackingData()
            static var schemaMetadata: [Schema.PropertyMetadata] { [.init(name: "colour", keypath: \Badge.colour)] }
            init(backingData: any BackingData<Badge>) { persistentBackingData = backingData }
            init() {}

            var colour: String? {
                get { getValue(forKey: \.colour) }
                set { setValue(forKey: \.colour, to: newValue) }
            }
        }
    }
}
