import MortiseCore

/// Entities whose lists have one name, and a record that another one cannot be without.
enum Listed {
    static let schema = Schema([
        Poem.self, Ballad.self, Opera.self, Line.self, Act.self, Stamp.self, Letter.self,
    ])

    /// A list of lines, which know nothing of it.
    final class Poem: PersistentModel {
        var persistentBackingData: any BackingData<Poem> = Poem.createBackingData()
        static var schemaMetadata: [Schema.PropertyMetadata] {
            [.init(name: "name", keypath: \Poem.name), .init(name: "parts", keypath: \Poem.parts)]
        }
        init(backingData: any BackingData<Poem>) { persistentBackingData = backingData }
        init(_ name: String) { self.name = name }

        var name: String {
            get { getValue(forKey: \.name) }
            set { setValue(forKey: \.name, to: newValue) }
        }
        var parts: [Line] {
            get { getValue(forKey: \.parts) }
            set { setValue(forKey: \.parts, to: newValue) }
        }
    }

    /// A list of the same name, of the same lines.
    final class Ballad: PersistentModel {
        var persistentBackingData: any BackingData<Ballad> = Ballad.createBackingData()
        static var schemaMetadata: [Schema.PropertyMetadata] {
            [.init(name: "name", keypath: \Ballad.name), .init(name: "parts", keypath: \Ballad.parts)]
        }
        init(backingData: any BackingData<Ballad>) { persistentBackingData = backingData }
        init(_ name: String) { self.name = name }

        var name: String {
            get { getValue(forKey: \.name) }
            set { setValue(forKey: \.name, to: newValue) }
        }
        var parts: [Line] {
            get { getValue(forKey: \.parts) }
            set { setValue(forKey: \.parts, to: newValue) }
        }
    }

    /// A list of the same name, of something else.
    final class Opera: PersistentModel {
        var persistentBackingData: any BackingData<Opera> = Opera.createBackingData()
        static var schemaMetadata: [Schema.PropertyMetadata] {
            [.init(name: "name", keypath: \Opera.name), .init(name: "parts", keypath: \Opera.parts)]
        }
        init(backingData: any BackingData<Opera>) { persistentBackingData = backingData }
        init(_ name: String) { self.name = name }

        var name: String {
            get { getValue(forKey: \.name) }
            set { setValue(forKey: \.name, to: newValue) }
        }
        var parts: [Act] {
            get { getValue(forKey: \.parts) }
            set { setValue(forKey: \.parts, to: newValue) }
        }
    }

    final class Line: PersistentModel {
        var persistentBackingData: any BackingData<Line> = Line.createBackingData()
        static var schemaMetadata: [Schema.PropertyMetadata] { [.init(name: "name", keypath: \Line.name)] }
        init(backingData: any BackingData<Line>) { persistentBackingData = backingData }
        init(_ name: String) { self.name = name }

        var name: String {
            get { getValue(forKey: \.name) }
            set { setValue(forKey: \.name, to: newValue) }
        }
    }

    final class Act: PersistentModel {
        var persistentBackingData: any BackingData<Act> = Act.createBackingData()
        static var schemaMetadata: [Schema.PropertyMetadata] { [.init(name: "name", keypath: \Act.name)] }
        init(backingData: any BackingData<Act>) { persistentBackingData = backingData }
        init(_ name: String) { self.name = name }

        var name: String {
            get { getValue(forKey: \.name) }
            set { setValue(forKey: \.name, to: newValue) }
        }
    }

    final class Stamp: PersistentModel {
        var persistentBackingData: any BackingData<Stamp> = Stamp.createBackingData()
        static var schemaMetadata: [Schema.PropertyMetadata] { [.init(name: "name", keypath: \Stamp.name)] }
        init(backingData: any BackingData<Stamp>) { persistentBackingData = backingData }
        init(_ name: String) { self.name = name }

        var name: String {
            get { getValue(forKey: \.name) }
            set { setValue(forKey: \.name, to: newValue) }
        }
    }

    /// Cannot be without its stamp, which knows nothing of it.
    final class Letter: PersistentModel {
        var persistentBackingData: any BackingData<Letter> = Letter.createBackingData()
        static var schemaMetadata: [Schema.PropertyMetadata] {
            [.init(name: "name", keypath: \Letter.name), .init(name: "stamp", keypath: \Letter.stamp)]
        }
        init(backingData: any BackingData<Letter>) { persistentBackingData = backingData }
        init(_ name: String, stamp: Stamp) {
            self.name = name
            self.stamp = stamp
        }

        var name: String {
            get { getValue(forKey: \.name) }
            set { setValue(forKey: \.name, to: newValue) }
        }
        var stamp: Stamp {
            get { getValue(forKey: \.stamp) }
            set { setValue(forKey: \.stamp, to: newValue) }
        }
    }
}
