import Foundation
import MortiseCore

// Models without macros, in two families that nothing connects.

final class Memo: PersistentModel {
    var persistentBackingData: any BackingData<Memo> = Memo.createBackingData()
    static var schemaMetadata: [Schema.PropertyMetadata] {
        [
            .init(name: "title", keypath: \Memo.title), .init(name: "size", keypath: \Memo.size),
            .init(name: "remark", keypath: \Memo.remark), .init(name: "folder", keypath: \Memo.folder),
        ]
    }
    init(backingData: any BackingData<Memo>) { persistentBackingData = backingData }
    init(title: String, size: Int = 0) {
        self.title = title
        self.size = size
    }

    var title: String {
        get { getValue(forKey: \.title) }
        set { setValue(forKey: \.title, to: newValue) }
    }
    var size: Int {
        get { getValue(forKey: \.size) }
        set { setValue(forKey: \.size, to: newValue) }
    }
    var remark: String? {
        get { getValue(forKey: \.remark) }
        set { setValue(forKey: \.remark, to: newValue) }
    }
    var folder: MemoFolder? {
        get { getValue(forKey: \.folder) }
        set { setValue(forKey: \.folder, to: newValue) }
    }
}

final class MemoFolder: PersistentModel {
    var persistentBackingData: any BackingData<MemoFolder> = MemoFolder.createBackingData()
    static var schemaMetadata: [Schema.PropertyMetadata] {
        [
            .init(name: "name", keypath: \MemoFolder.name),
            .init(
                name: "memos", keypath: \MemoFolder.memos,
                metadata: Schema.Relationship(inverse: \Memo.folder)),
        ]
    }
    init(backingData: any BackingData<MemoFolder>) { persistentBackingData = backingData }
    init(name: String) { self.name = name }

    var name: String {
        get { getValue(forKey: \.name) }
        set { setValue(forKey: \.name, to: newValue) }
    }
    var memos: [Memo] {
        get { getValue(forKey: \.memos) }
        set { setValue(forKey: \.memos, to: newValue) }
    }
}

final class Country: PersistentModel {
    var persistentBackingData: any BackingData<Country> = Country.createBackingData()
    static var schemaMetadata: [Schema.PropertyMetadata] { [.init(name: "code", keypath: \Country.code)] }
    init(backingData: any BackingData<Country>) { persistentBackingData = backingData }
    init(code: String) { self.code = code }

    var code: String {
        get { getValue(forKey: \.code) }
        set { setValue(forKey: \.code, to: newValue) }
    }
}
