import Foundation
import MortiseCore
import MortiseEngine
import Testing

@testable import MortiseAppendLog
import MortiseTestSupport

/// Defect: history from before a rename had the old names, so that after a swap one property's values were shown as another's.
@Suite struct HistoryNamesTests {
    enum First {
        final class Keep: PersistentModel {
            var persistentBackingData: any BackingData<Keep> = Keep.createBackingData()
            static var schemaMetadata: [Schema.PropertyMetadata] {
                [
                    .init(name: "left", keypath: \Keep.left, metadata: Schema.Attribute(.preserveValueOnDeletion)),
                    .init(name: "right", keypath: \Keep.right, metadata: Schema.Attribute(.preserveValueOnDeletion)),
                    .init(name: "gone", keypath: \Keep.gone, metadata: Schema.Attribute(.preserveValueOnDeletion)),
                ]
            }
            init(backingData: any BackingData<Keep>) { persistentBackingData = backingData }
            init(_ text: String) {
                left = "left " + text
                right = "right " + text
                gone = "gone " + text
            }
            var left: String {
                get { getValue(forKey: \.left) }
                set { setValue(forKey: \.left, to: newValue) }
            }
            var right: String {
                get { getValue(forKey: \.right) }
                set { setValue(forKey: \.right, to: newValue) }
            }
            var gone: String {
                get { getValue(forKey: \.gone) }
                set { setValue(forKey: \.gone, to: newValue) }
            }
        }
    }

    /// Left and right have swapped their names, and another property has one that is free again.
    enum Second {
        final class Keep: PersistentModel {
            var persistentBackingData: any BackingData<Keep> = Keep.createBackingData()
            static var schemaMetadata: [Schema.PropertyMetadata] {
                [
                    .init(
                        name: "left", keypath: \Keep.left,
                        metadata: Schema.Attribute(.preserveValueOnDeletion, originalName: "right")),
                    .init(
                        name: "right", keypath: \Keep.right,
                        metadata: Schema.Attribute(.preserveValueOnDeletion, originalName: "left")),
                ]
            }
            init(backingData: any BackingData<Keep>) { persistentBackingData = backingData }
            init(_ text: String) {
                left = "left " + text
                right = "right " + text
            }
            var left: String {
                get { getValue(forKey: \.left) }
                set { setValue(forKey: \.left, to: newValue) }
            }
            var right: String {
                get { getValue(forKey: \.right) }
                set { setValue(forKey: \.right, to: newValue) }
            }
        }
    }

    enum Third {
        final class Keep: PersistentModel {
            var persistentBackingData: any BackingData<Keep> = Keep.createBackingData()
            static var schemaMetadata: [Schema.PropertyMetadata] {
                [
                    .init(
                        name: "left", keypath: \Keep.left,
                        metadata: Schema.Attribute(.preserveValueOnDeletion, originalName: "right")),
                    .init(
                        name: "side", keypath: \Keep.side,
                        metadata: Schema.Attribute(.preserveValueOnDeletion, originalName: "right")),
                    .init(
                        name: "gone", keypath: \Keep.gone, defaultValue: "",
                        metadata: Schema.Attribute(.preserveValueOnDeletion)),
                ]
            }
            init(backingData: any BackingData<Keep>) { persistentBackingData = backingData }
            var left: String {
                get { getValue(forKey: \.left) }
                set { setValue(forKey: \.left, to: newValue) }
            }
            var side: String {
                get { getValue(forKey: \.side) }
                set { setValue(forKey: \.side, to: newValue) }
            }
            var gone: String {
                get { getValue(forKey: \.gone) }
                set { setValue(forKey: \.gone, to: newValue) }
            }
        }
    }

    private func open(_ disk: SimulatedFileSystem, _ type: any PersistentModel.Type, _ major: Int) throws
        -> ModelContainer
    {
        try ModelContainer(
            for: Schema([type], version: Schema.Version(major, 0, 0)),
            configurations: [logConfiguration(disk, history: .keep(days: 1))])
    }

    @Test func preservedAndChangedValuesHaveTheNamesOfToday() throws {
        let disk = try makeDisk()
        var container = try open(disk, First.Keep.self, 1)
        var context = ModelContext(container)
        let one = First.Keep("one")
        context.insert(one)
        context.insert(First.Keep("two"))
        try context.save()
        one.left = "changed"
        one.gone = "changed too"
        try context.save()
        context.delete(one)
        try context.save()
        try container.close()

        container = try open(disk, Second.Keep.self, 2)
        context = ModelContext(container)
        // Before a save and after it.
        for isSaved in [false, true] {
            if isSaved {
                for keep in try context.fetch(FetchDescriptor<Second.Keep>()) { context.delete(keep) }
                try context.save()
            }
            let history = try context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>())
            guard case .update(let update) = history[1].changes[0],
                let update = update as? DefaultHistoryUpdate<Second.Keep>,
                case .delete(let delete) = history[2].changes[0],
                let delete = delete as? DefaultHistoryDelete<Second.Keep>
            else { return #expect(Bool(false)) }
            let updated: [PartialKeyPath<Second.Keep>] = update.updatedAttributes.map { $0 }
            #expect(updated == [\Second.Keep.right])
            #expect(delete.tombstone[\.right] as? String == "changed")
            #expect(delete.tombstone[\.left] as? String == "right one")
            guard isSaved else { continue }
            guard case .delete(let last) = history[3].changes[0],
                let last = last as? DefaultHistoryDelete<Second.Keep>
            else { return #expect(Bool(false)) }
            #expect(last.tombstone[\.right] as? String == "left two")
            #expect(last.tombstone[\.left] as? String == "right two")
        }
        try container.close()

        // Two steps from the first, with a new property under an old name.
        container = try open(disk, Third.Keep.self, 3)
        let history = try ModelContext(container).fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>())
        guard case .delete(let delete) = history[2].changes[0],
            let delete = delete as? DefaultHistoryDelete<Third.Keep>, case .delete(let last) = history[3].changes[0],
            let last = last as? DefaultHistoryDelete<Third.Keep>
        else { return #expect(Bool(false)) }
        #expect(delete.tombstone[\.side] as? String == "changed")
        #expect(delete.tombstone[\.left] as? String == "right one")
        #expect(delete.tombstone[\.gone] == nil)
        #expect(last.tombstone[\.side] as? String == "left two")
        try container.close()
    }
}
