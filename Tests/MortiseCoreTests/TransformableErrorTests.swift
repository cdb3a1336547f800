import Foundation
import MortiseCore
import MortiseInMemory
import Testing

/// What a value transformer does not turn into data is refused like what cannot be encoded.
@Suite(.serialized) struct TransformableErrorTests {
    let container: ModelContainer
    let context: ModelContext

    init() throws {
        ValueTransformer.setValueTransformer(
            EvenTransformer(), forName: NSValueTransformerName("TransformableErrorTests.even"))
        container = try ModelContainer(for: Schema([Tally.self]), configurations: [InMemoryConfiguration()])
        context = ModelContext(container)
    }

    private func expectRefused(_ tally: Tally, at location: SourceLocation = #_sourceLocation) {
        #expect(sourceLocation: location) {
            try context.save()
        } throws: { error in
            guard case SwiftDataError.modelValidationFailure = error else { return false }
            return error as? ModelValidationError
                == .unencodableValue(entity: "Tally", property: "strokes", model: tally.persistentModelID)
                && "\(error)".contains("Tally.strokes") && "\(error)".contains("transformer")
        }
    }

    @Test func aValueOfWhichNoDataIsMadeIsRefusedAndStaysReadable() throws {
        let tally = Tally(strokes: 3)
        context.insert(tally)
        expectRefused(tally)
        #expect(tally.strokes == 3)
        tally.strokes = 4
        try context.save()
        tally.strokes = 5
        expectRefused(tally)
        context.rollback()
        #expect(tally.strokes == 4)
        #expect(try ModelContext(container).fetch(FetchDescriptor<Tally>()).map(\.strokes) == [4])
    }

    @Test func batchesRefuseItToo() throws {
        let fault = BatchError.unassignable(entity: "Tally", property: "strokes", reason: .unencodable)
        #expect(throws: fault) { try context.insert(Tally.self, from: [1]) { try $0.set(\.strokes, to: $1) } }
        try context.insert(Tally.self, from: [2, 4]) { try $0.set(\.strokes, to: $1) }
        #expect(throws: fault) { try context.update(Tally.self) { $0.set(\.strokes, to: 7) } }
        #expect(try context.update(Tally.self) { $0.set(\.strokes, to: 8) } == 2)
        #expect(try ModelContext(container).fetch(FetchDescriptor<Tally>()).map(\.strokes) == [8, 8])
    }
}

/// Knows even numbers only.
private final class EvenTransformer: ValueTransformer, @unchecked Sendable {
    // @unchecked: has no state.
    override func transformedValue(_ value: Any?) -> Any? {
        guard let number = value as? Int, number % 2 == 0 else { return nil }
        return Data([UInt8(number)])
    }
    override func reverseTransformedValue(_ value: Any?) -> Any? { (value as? Data)?.first.map { Int($0) } }
}

private final class Tally: PersistentModel {
    var persistentBackingData: any BackingData<Tally> = Tally.createBackingData()
    static var schemaMetadata: [Schema.PropertyMetadata] {
        [
            .init(
                name: "strokes", keypath: \Tally.strokes,
                metadata: Schema.Attribute(.transformable(by: "TransformableErrorTests.even")))
        ]
    }
    init(backingData: any BackingData<Tally>) { persistentBackingData = backingData }
    init(strokes: Int) { self.strokes = strokes }

    var strokes: Int {
        get { getTransformableValue(forKey: \.strokes) }
        set { setTransformableValue(forKey: \.strokes, to: newValue) }
    }
}
