import Foundation
import Mortise
import Testing

/// What a required property shows whose record has no value for it. Bug: each of these ended the process in the getter.
@Suite struct EmptyValueTests {
    @Test func anEphemeralPropertyOfATypeWithoutAnEmptyValueIsRefused() {
        #expect(throws: SchemaError.ephemeralWithoutValue(entity: "Signal", property: "phase", type: "Phase")) {
            try memory(Signal.self)
        }
        #expect(throws: SchemaError.ephemeralWithoutValue(entity: "Beacon", property: "place", type: "Place")) {
            try memory(Beacon.self)
        }
    }

    @Test func anEphemeralPropertyWithAValueToShowIsNot() throws {
        let context = ModelContext(try memory(Lantern.self))
        let lantern = Lantern()
        lantern.listed = .second
        context.insert(lantern)
        try context.save()
        #expect(lantern.listed == .second)
        let fetched = try onlyModel(Lantern.self, in: ModelContext(context.container))
        #expect(
            fetched.declared == .green && fetched.listed == .first && fetched.optional == nil && fetched.words == [])
    }

    /// Numbers up to 99, as one byte.
    private final class Transformer: ValueTransformer, @unchecked Sendable {
        override func transformedValue(_ value: Any?) -> Any? { (value as? Crate).map { Data([$0.size]) } }
        override func reverseTransformedValue(_ value: Any?) -> Any? {
            (value as? Data)?.first.flatMap { $0 < 100 ? Crate(size: $0) : nil }
        }
    }

    @Test func aTransformedValueIsReadByEveryFetchOrRefused() throws {
        let name = NSValueTransformerName("EmptyValueTests.Crate")
        ValueTransformer.setValueTransformer(Transformer(), forName: name)
        defer { ValueTransformer.setValueTransformer(nil, forName: name) }
        let context = ModelContext(try memory(Freight.self))
        let freight = Freight(Crate(size: 7))
        context.insert(freight)
        try context.save()
        #expect(try onlyModel(Freight.self, in: ModelContext(context.container)).crate == Crate(size: 7))
        // The transformer does not read what it makes of this one.
        freight.spare = Crate(size: 107)
        #expect(throws: ModelValidationError.self) { try context.save() }
        context.rollback()
        context.insert(Freight(Crate(size: 107)))
        #expect(throws: ModelValidationError.self) { try context.save() }
        context.rollback()
        freight.spare = Crate(size: 8)
        try context.save()
        #expect(try onlyModel(Freight.self, in: ModelContext(context.container)).spare == Crate(size: 8))
        // A store whose records nobody has checked yet.
        let folder = try Folder()
        let url = folder.url.appending(path: "a.store")
        let first = try ModelContainer(for: Freight.self, configurations: ModelConfiguration(url: url))
        let writer = ModelContext(first)
        writer.insert(Freight(Crate(size: 1)))
        try writer.save()
        try first.close()
        ValueTransformer.setValueTransformer(nil, forName: name)
        let other = try ModelContainer(for: Freight.self, configurations: ModelConfiguration(url: url))
        defer { try? other.close() }
        #expect {
            try ModelContext(other).fetch(FetchDescriptor<Freight>())
        } throws: { error in
            if case ModelContextError.invalidStoredValue(let entity, let property, _, _) = error {
                return entity == "Freight" && property == "crate"
            }
            return false
        }
    }
}

enum Phase: String, Codable { case red, green }
enum Listed: String, Codable, CaseIterable { case first, second }
struct Place: Codable, Equatable { var x: Int }
struct Crate: Equatable { var size: UInt8 }

@Model
final class Signal {
    @Attribute(.ephemeral) var phase: Phase
    init() { phase = .red }
}

@Model
final class Beacon {
    @Attribute(.ephemeral) var place: Place
    init() { place = Place(x: 1) }
}

@Model
final class Lantern {
    @Attribute(.ephemeral) var declared: Phase = Phase.green
    @Attribute(.ephemeral) var listed: Listed
    @Attribute(.ephemeral) var optional: Place?
    @Attribute(.ephemeral) var words: [String]
    init() {
        listed = .first
        words = ["a"]
    }
}

@Model
final class Freight {
    @Attribute(.transformable(by: "EmptyValueTests.Crate")) var crate: Crate
    @Attribute(.transformable(by: "EmptyValueTests.Crate")) var spare: Crate?
    init(_ crate: Crate) { self.crate = crate }
}
