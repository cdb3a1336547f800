import Foundation
import MortiseCore

/// Versions of a schema that lead from one to the next by code.
enum Memos {
    /// Version 1.
    enum Version1: VersionedSchema {
        static var versionIdentifier: Schema.Version { Schema.Version(1, 0, 0) }
        static var models: [any PersistentModel.Type] { [Memo.self, Receipt.self] }

        final class Memo: PersistentModel {
            var persistentBackingData: any BackingData<Memo> = Memo.createBackingData()
            static var schemaMetadata: [Schema.PropertyMetadata] {
                [
                    .init(name: "text", keypath: \Memo.text)
                ]
            }
            init(backingData: any BackingData<Memo>) { persistentBackingData = backingData }
            init(_ text: String) { self.text = text }

            var text: String {
                get { getValue(forKey: \.text) }
                set { setValue(forKey: \.text, to: newValue) }
            }
        }
    }

    /// Version 2.
    enum Version2: VersionedSchema {
        static var versionIdentifier: Schema.Version { Schema.Version(2, 0, 0) }
        static var models: [any PersistentModel.Type] { [Memo.self, Receipt.self] }

        final class Memo: PersistentModel {
            var persistentBackingData: any BackingData<Memo> = Memo.createBackingData()
            static var schemaMetadata: [Schema.PropertyMetadata] {
                [
                    .init(name: "text", keypath: \Memo.text),
                    .init(name: "length", keypath: \Memo.length),
                ]
            }
            init(backingData: any BackingData<Memo>) { persistentBackingData = backingData }
            init(_ text: String) { self.text = text }

            var text: String {
                get { getValue(forKey: \.text) }
                set { setValue(forKey: \.text, to: newValue) }
            }

            var length: Int? {
                get { getValue(forKey: \.length) }
                set { setValue(forKey: \.length, to: newValue) }
            }
        }
    }

    /// Version 3.
    enum Version3: VersionedSchema {
        static var versionIdentifier: Schema.Version { Schema.Version(3, 0, 0) }
        static var models: [any PersistentModel.Type] { [Memo.self, Receipt.self] }

        final class Memo: PersistentModel {
            var persistentBackingData: any BackingData<Memo> = Memo.createBackingData()
            static var schemaMetadata: [Schema.PropertyMetadata] {
                [
                    .init(name: "text", keypath: \Memo.text),
                    .init(name: "length", keypath: \Memo.length),
                    .init(name: "mark", keypath: \Memo.mark),
                ]
            }
            init(backingData: any BackingData<Memo>) { persistentBackingData = backingData }
            init(_ text: String) { self.text = text }

            var text: String {
                get { getValue(forKey: \.text) }
                set { setValue(forKey: \.text, to: newValue) }
            }

            var length: Int? {
                get { getValue(forKey: \.length) }
                set { setValue(forKey: \.length, to: newValue) }
            }

            var mark: String? {
                get { getValue(forKey: \.mark) }
                set { setValue(forKey: \.mark, to: newValue) }
            }
        }
    }
}
