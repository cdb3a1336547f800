import Foundation
import MortiseCore

/// Cannot be deleted while it holds coins.
final class Vault: PersistentModel {
    var persistentBackingData: any BackingData<Vault> = Vault.createBackingData()
    static var schemaMetadata: [Schema.PropertyMetadata] {
        [
            .init(name: "name", keypath: \Vault.name),
            .init(
                name: "coins", keypath: \Vault.coins,
                metadata: Schema.Relationship(deleteRule: .deny, inverse: \Coin.vault)),
        ]
    }
    init(backingData: any BackingData<Vault>) { persistentBackingData = backingData }
    init(_ name: String) { self.name = name }

    var name: String {
        get { getValue(forKey: \.name) }
        set { setValue(forKey: \.name, to: newValue) }
    }
    var coins: [Coin] {
        get { getValue(forKey: \.coins) }
        set { setValue(forKey: \.coins, to: newValue) }
    }
}

/// What a vault holds.
final class Coin: PersistentModel {
    var persistentBackingData: any BackingData<Coin> = Coin.createBackingData()
    static var schemaMetadata: [Schema.PropertyMetadata] {
        [
            .init(name: "value", keypath: \Coin.value),
            .init(name: "vault", keypath: \Coin.vault),
        ]
    }
    init(backingData: any BackingData<Coin>) { persistentBackingData = backingData }
    init(_ value: Int, vault: Vault? = nil) {
        self.value = value
        self.vault = vault
    }

    var value: Int {
        get { getValue(forKey: \.value) }
        set { setValue(forKey: \.value, to: newValue) }
    }
    var vault: Vault? {
        get { getValue(forKey: \.vault) }
        set { setValue(forKey: \.vault, to: newValue) }
    }
}

/// Deleting one does nothing to its sheets.
final class Binder: PersistentModel {
    var persistentBackingData: any BackingData<Binder> = Binder.createBackingData()
    static var schemaMetadata: [Schema.PropertyMetadata] {
        [
            .init(name: "name", keypath: \Binder.name),
            .init(
                name: "sheets", keypath: \Binder.sheets,
                metadata: Schema.Relationship(deleteRule: .noAction, inverse: \Sheet.binder)),
        ]
    }
    init(backingData: any BackingData<Binder>) { persistentBackingData = backingData }
    init(_ name: String) { self.name = name }

    var name: String {
        get { getValue(forKey: \.name) }
        set { setValue(forKey: \.name, to: newValue) }
    }
    var sheets: [Sheet] {
        get { getValue(forKey: \.sheets) }
        set { setValue(forKey: \.sheets, to: newValue) }
    }
}

/// What a binder holds.
final class Sheet: PersistentModel {
    var persistentBackingData: any BackingData<Sheet> = Sheet.createBackingData()
    static var schemaMetadata: [Schema.PropertyMetadata] {
        [
            .init(name: "number", keypath: \Sheet.number),
            .init(name: "binder", keypath: \Sheet.binder),
        ]
    }
    init(backingData: any BackingData<Sheet>) { persistentBackingData = backingData }
    init(_ number: Int, binder: Binder? = nil) {
        self.number = number
        self.binder = binder
    }

    var number: Int {
        get { getValue(forKey: \.number) }
        set { setValue(forKey: \.number, to: newValue) }
    }
    var binder: Binder? {
        get { getValue(forKey: \.binder) }
        set { setValue(forKey: \.binder, to: newValue) }
    }
}
