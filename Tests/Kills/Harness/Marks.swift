public import MortiseCore

/// What the killed process saves: a number, and as many copies of it as a save has.
public final class Mark: PersistentModel {
    public var persistentBackingData: any BackingData<Mark> = Mark.createBackingData()
    public static var schemaMetadata: [Schema.PropertyMetadata] {
        [
            .init(name: "number", keypath: \Mark.number),
            .init(name: "part", keypath: \Mark.part),
            .init(name: "text", keypath: \Mark.text),
        ]
    }
    public init(backingData: any BackingData<Mark>) { persistentBackingData = backingData }
    init(number: Int, part: Int, text: String) {
        self.number = number
        self.part = part
        self.text = text
    }

    var number: Int {
        get { getValue(forKey: \.number) }
        set { setValue(forKey: \.number, to: newValue) }
    }
    var part: Int {
        get { getValue(forKey: \.part) }
        set { setValue(forKey: \.part, to: newValue) }
    }
    var text: String {
        get { getValue(forKey: \.text) }
        set { setValue(forKey: \.text, to: newValue) }
    }
}
