import Foundation
import MortiseCore
import MortiseInMemory
import Testing

@Suite struct ContainerErrorTests {
    private func expect(
        _ sort: SwiftDataError, saying words: String..., at location: SourceLocation = #_sourceLocation,
        _ body: () throws -> ModelContainer
    ) {
        #expect(sourceLocation: location) {
            _ = try body()
        } throws: { error in
            guard case sort = error else { return false }
            return words.allSatisfy("\(error)".contains)
        }
    }

    @Test func twoConfigurationsOfOneNameAreRefused() {
        expect(.duplicateConfiguration, saying: "\"same\"", "a name of its own") {
            try ModelContainer(
                for: Schema([Shelf.self]),
                configurations: [InMemoryConfiguration("same"), InMemoryConfiguration("same")])
        }
    }

    @Test func aConfigurationCannotHoldWhatTheContainerDoesNot() {
        expect(.configurationSchemaNotFoundInContainerSchema, saying: "\"shelves\"", "Author", "Add it there") {
            try ModelContainer(
                for: Schema([Pebble.self]),
                configurations: [InMemoryConfiguration("shelves", schema: Schema([Shelf.self]))])
        }
    }

    @Test func everyEntityNeedsAStore() {
        expect(.loadIssueModelContainer, saying: "Author", "without a schema") {
            try ModelContainer(
                for: Schema([Shelf.self, Pebble.self]),
                configurations: [InMemoryConfiguration("pebbles", schema: Schema([Pebble.self]))])
        }
    }

    @Test func relationshipsCannotLeadFromStoreToStore() {
        expect(.loadIssueModelContainer, saying: "Pocket.pebble", "Pebble", "one configuration") {
            try ModelContainer(
                for: Schema([Pocket.self]),
                configurations: [
                    InMemoryConfiguration("pebbles", schema: Schema([Pebble.self])), InMemoryConfiguration("rest"),
                ])
        }
    }

    @Test func aSubclassIsKeptWithItsSuperclass() {
        expect(.loadIssueModelContainer, saying: "Marble", "Pebble", "one configuration") {
            try ModelContainer(
                for: Schema([Marble.self]),
                configurations: [
                    InMemoryConfiguration("pebbles", schema: Schema([Pebble.self])), InMemoryConfiguration("rest"),
                ])
        }
    }

    @Test func modelsOfSeveralStoresAreSavedTogether() throws {
        let container = try ModelContainer(
            for: Schema([Shelf.self, Pebble.self]),
            configurations: [
                InMemoryConfiguration("pebbles", schema: Schema([Pebble.self])), InMemoryConfiguration("rest"),
            ])
        let context = ModelContext(container)
        let pebble = Pebble(grams: 3)
        let shelf = Shelf(label: "s")
        context.insert(pebble)
        context.insert(shelf)
        try context.save()
        #expect(pebble.persistentModelID.storeIdentifier == container.storeIdentifier(forConfigurationNamed: "pebbles"))
        #expect(shelf.persistentModelID.storeIdentifier == container.storeIdentifier(forConfigurationNamed: "rest"))
    }
}

class Pebble: PersistentModel {
    typealias Root = Pebble

    var _modelState = ModelState()
    var persistentBackingData: any BackingData<Pebble> {
        get { _backingData() }
        set { _adopt(backingData: newValue) }
    }
    class var schemaMetadata: [Schema.PropertyMetadata] { ownMetadata(for: Pebble.self) }
    class var _inheritedSchemaMetadata: [Schema.PropertyMetadata] { [] }
    static func ownMetadata<M: Pebble>(for type: M.Type) -> [Schema.PropertyMetadata] {
        [.init(name: "grams", keypath: \M.grams)]
    }

    required init(backingData: any BackingData<Pebble>) { _modelState = Pebble._state(from: backingData) }
    required init(_modelState: consuming ModelState) { self._modelState = _modelState }
    init(grams: Int) { self.grams = grams }

    var grams: Int {
        get { getValue(forKey: \.grams) }
        set { setValue(forKey: \.grams, to: newValue) }
    }
}

final class Marble: Pebble {
    override class var schemaMetadata: [Schema.PropertyMetadata] { [.init(name: "colour", keypath: \Marble.colour)] }
    override class var _inheritedSchemaMetadata: [Schema.PropertyMetadata] { ownMetadata(for: Marble.self) }

    required init(backingData: any BackingData<Pebble>) { super.init(backingData: backingData) }
    required init(_modelState: consuming ModelState) { super.init(_modelState: _modelState) }
    init(grams: Int, colour: String) {
        super.init(grams: grams)
        self.colour = colour
    }

    var colour: String {
        get { getValue(forKey: \.colour) }
        set { setValue(forKey: \.colour, to: newValue) }
    }
}

final class Pocket: PersistentModel {
    var persistentBackingData: any BackingData<Pocket> = Pocket.createBackingData()
    static var schemaMetadata: [Schema.PropertyMetadata] { [.init(name: "pebble", keypath: \Pocket.pebble)] }
    init(backingData: any BackingData<Pocket>) { persistentBackingData = backingData }
    var pebble: Pebble? { getValue(forKey: \.pebble) }
}
