import Foundation
import MortiseCore

/// A unique property that may be nil, and two that are unique together and may be nil both. It has a schema of its own.
final class Ticket: PersistentModel {
    static var schema: Schema { Schema([Ticket.self]) }

    var persistentBackingData: any BackingData<Ticket> = Ticket.createBackingData()
    static var schemaMetadata: [Schema.PropertyMetadata] {
        [
            .init(name: "name", keypath: \Ticket.name),
            .init(name: "code", keypath: \Ticket.code, metadata: Schema.Attribute(.unique)),
            .init(name: "row", keypath: \Ticket.row),
            .init(name: "seat", keypath: \Ticket.seat),
            .init(name: "unique", keypath: \Ticket.row, metadata: Schema.Unique<Ticket>([\.row, \.seat])),
        ]
    }
    init(backingData: any BackingData<Ticket>) { persistentBackingData = backingData }
    init(_ name: String, code: String? = nil, row: String? = nil, seat: String? = nil) {
        self.name = name
        self.code = code
        self.row = row
        self.seat = seat
    }

    var name: String {
        get { getValue(forKey: \.name) }
        set { setValue(forKey: \.name, to: newValue) }
    }
    var code: String? {
        get { getValue(forKey: \.code) }
        set { setValue(forKey: \.code, to: newValue) }
    }
    var row: String? {
        get { getValue(forKey: \.row) }
        set { setValue(forKey: \.row, to: newValue) }
    }
    var seat: String? {
        get { getValue(forKey: \.seat) }
        set { setValue(forKey: \.seat, to: newValue) }
    }
}
