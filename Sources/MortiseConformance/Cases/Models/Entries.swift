import Foundation
import MortiseCore

/// What the fetch cases ask for.
final class Entry: PersistentModel {
    var persistentBackingData: any BackingData<Entry> = Entry.createBackingData()
    static var schemaMetadata: [Schema.PropertyMetadata] {
        [
            .init(name: "name", keypath: \Entry.name),
            .init(name: "group", keypath: \Entry.group),
            .init(name: "rank", keypath: \Entry.rank),
            .init(name: "score", keypath: \Entry.score),
            .init(name: "note", keypath: \Entry.note),
            .init(name: "stamp", keypath: \Entry.stamp),
        ]
    }
    init(backingData: any BackingData<Entry>) { persistentBackingData = backingData }
    init(_ name: String, group: String = "", rank: Int? = nil, score: Double = 0, note: String? = nil) {
        self.name = name
        self.group = group
        self.rank = rank
        self.score = score
        self.note = note
        stamp = Date(timeIntervalSinceReferenceDate: score)
    }

    var name: String {
        get { getValue(forKey: \.name) }
        set { setValue(forKey: \.name, to: newValue) }
    }
    var group: String {
        get { getValue(forKey: \.group) }
        set { setValue(forKey: \.group, to: newValue) }
    }
    var rank: Int? {
        get { getValue(forKey: \.rank) }
        set { setValue(forKey: \.rank, to: newValue) }
    }
    var score: Double {
        get { getValue(forKey: \.score) }
        set { setValue(forKey: \.score, to: newValue) }
    }
    var note: String? {
        get { getValue(forKey: \.note) }
        set { setValue(forKey: \.note, to: newValue) }
    }
    var stamp: Date {
        get { getValue(forKey: \.stamp) }
        set { setValue(forKey: \.stamp, to: newValue) }
    }
}

/// A unique property, and two that are unique together.
final class Account: PersistentModel {
    var persistentBackingData: any BackingData<Account> = Account.createBackingData()
    static var schemaMetadata: [Schema.PropertyMetadata] {
        [
            .init(name: "email", keypath: \Account.email, metadata: Schema.Attribute(.unique)),
            .init(name: "country", keypath: \Account.country),
            .init(name: "number", keypath: \Account.number),
            .init(name: "owner", keypath: \Account.owner),
            .init(
                name: "entries", keypath: \Account.entries,
                metadata: Schema.Relationship(deleteRule: .cascade, inverse: \Charge.account)),
            .init(name: "unique", keypath: \Account.country, metadata: Schema.Unique<Account>([\.country, \.number])),
        ]
    }
    init(backingData: any BackingData<Account>) { persistentBackingData = backingData }
    init(_ email: String, country: String, number: Int?, owner: String = "") {
        self.email = email
        self.country = country
        self.number = number
        self.owner = owner
    }

    var email: String {
        get { getValue(forKey: \.email) }
        set { setValue(forKey: \.email, to: newValue) }
    }
    var country: String {
        get { getValue(forKey: \.country) }
        set { setValue(forKey: \.country, to: newValue) }
    }
    var number: Int? {
        get { getValue(forKey: \.number) }
        set { setValue(forKey: \.number, to: newValue) }
    }
    var owner: String {
        get { getValue(forKey: \.owner) }
        set { setValue(forKey: \.owner, to: newValue) }
    }
    var entries: [Charge] {
        get { getValue(forKey: \.entries) }
        set { setValue(forKey: \.entries, to: newValue) }
    }
}

/// What belongs to an account.
final class Charge: PersistentModel {
    var persistentBackingData: any BackingData<Charge> = Charge.createBackingData()
    static var schemaMetadata: [Schema.PropertyMetadata] {
        [
            .init(name: "amount", keypath: \Charge.amount),
            .init(name: "account", keypath: \Charge.account),
        ]
    }
    init(backingData: any BackingData<Charge>) { persistentBackingData = backingData }
    init(_ amount: Int, account: Account? = nil) {
        self.amount = amount
        self.account = account
    }

    var amount: Int {
        get { getValue(forKey: \.amount) }
        set { setValue(forKey: \.amount, to: newValue) }
    }
    var account: Account? {
        get { getValue(forKey: \.account) }
        set { setValue(forKey: \.account, to: newValue) }
    }
}
