import MortiseCore
import MortiseTestSupport
import Testing

@testable import MortiseAppendLog
@testable import MortiseEngine

/// To-one relationships that become to-many: the record that each led to is its one member, on both sides.
extension SidesTests {
    private static func desks(_ version: Int, _ desk: StoredProperty?, _ lamp: StoredProperty) -> StoredSchema {
        var properties = [textProperty("name")]
        if let desk { properties.append(desk) }
        return schema(
            version, StoredEntity(name: "Desk", properties: properties), entity("Lamp", textProperty("name"), lamp))
    }

    private static let lone = desks(1, nil, linkProperty("desk", to: "Desk"))
    private static let one = desks(
        1, linkProperty("lamp", to: "Lamp", inverse: "desk"), linkProperty("desk", to: "Desk", inverse: "lamp"))
    private static let many = desks(
        1, linkProperty("lamps", to: "Lamp", many: true, inverse: "desk"),
        linkProperty("desk", to: "Desk", inverse: "lamps"))

    @Test(arguments: SchemaWorld.Kind.allCases) func whatHasNoOtherSideHasOneMember(_ kind: SchemaWorld.Kind) throws {
        let new = Self.desks(2, nil, linkProperty("desks", to: "Desk", many: true, from: "desk"))
        let world = try makeWorld(kind, lampsOn: [1, nil, 1], Self.lone)
        try expect(
            ["lamp 0": ["desks": ["desk 1"]], "lamp 2": ["desks": ["desk 1"]]], world, new, saving: "Lamp")
        // There is no way back without code.
        try expectRefused(
            world, Self.desks(3, nil, linkProperty("desk", to: "Desk", from: "desks")), words: ["Lamp.desk", "to-many"])
    }

    /// The links are kept on the one side or on the other, whose names decide on that.
    @Test(arguments: SchemaWorld.Kind.allCases, ["desk", "zone"])
    func theOtherSideKeepsItsMembers(_ kind: SchemaWorld.Kind, _ name: String) throws {
        let new = Self.desks(
            2, linkProperty("lamps", to: "Lamp", many: true, inverse: name),
            linkProperty(name, to: "Desk", many: true, inverse: "lamps", from: "desk"))
        let world = try makeWorld(kind, lampsOn: [1, nil, 1], Self.many)
        try expect(
            [
                "desk 1": ["lamps": ["lamp 0", "lamp 2"]], "lamp 0": [name: ["desk 1"]], "lamp 2": [name: ["desk 1"]],
            ], world, new, saving: "Desk")
    }

    @Test(arguments: SchemaWorld.Kind.allCases, [false, true])
    func ofAPairOneSideOrBothLeadToMany(_ kind: SchemaWorld.Kind, both: Bool) throws {
        let new = Self.desks(
            2, linkProperty("lamps", to: "Lamp", many: true, inverse: "desk", from: "lamp"),
            linkProperty("desk", to: "Desk", many: both, inverse: "lamps"))
        let world = try makePairs(kind)
        try expect(
            [
                "desk 0": ["lamps": ["lamp 1"]], "desk 1": ["lamps": ["lamp 0"]], "lamp 0": ["desk": ["desk 1"]],
                "lamp 1": ["desk": ["desk 0"]],
            ], world, new, saving: "Desk")
    }

    /// Sides that did not know of each other have the links of both.
    @Test(arguments: SchemaWorld.Kind.allCases, ["desk", "zone"])
    func sidesThatBecomeInverseAreUnited(_ kind: SchemaWorld.Kind, _ name: String) throws {
        let old = Self.desks(1, linkProperty("lamp", to: "Lamp"), linkProperty("desk", to: "Desk"))
        let new = Self.desks(
            2, linkProperty("lamps", to: "Lamp", many: true, inverse: name, from: "lamp"),
            linkProperty(name, to: "Desk", many: true, inverse: "lamps", from: "desk"))
        let world = try makePairs(kind, old, deskOfFirst: 1, lampOfFirst: 1)
        try expect(
            [
                "desk 0": ["lamps": ["lamp 1"]], "desk 1": ["lamps": ["lamp 0"]], "lamp 0": [name: ["desk 1"]],
                "lamp 1": [name: ["desk 0"]],
            ], world, new, saving: "Desk")
    }

    /// Several may lead to a record, which has one place for them.
    @Test(arguments: SchemaWorld.Kind.allCases) func whatTheOtherSideHasNoPlaceForIsRefused(_ kind: SchemaWorld.Kind)
        throws
    {
        let world = try makeWorld(kind, lampsOn: [1, 1, nil], Self.lone)
        let new = Self.desks(
            2, linkProperty("lamp", to: "Lamp", inverse: "desks"),
            linkProperty("desks", to: "Desk", many: true, inverse: "lamp", from: "desk"))
        try expectRefused(world, new, words: ["Lamp.desks", "to-one"])
    }

    /// Two desks and two lamps: the first lamp on one desk, and another lamp at the first desk.
    private func makePairs(
        _ kind: SchemaWorld.Kind, _ old: StoredSchema = one, deskOfFirst: Int = 1, lampOfFirst: Int = 1
    ) throws -> SchemaWorld {
        let world = try SchemaWorld(kind)
        let store = try world.open(old)
        let desks = (0..<2).map { _ in PersistentIdentifier.temporary(entityName: "Desk") }
        let lamps = (0..<2).map { _ in PersistentIdentifier.temporary(entityName: "Lamp") }
        let arePaired = old.entity(named: "Desk")?.properties.last?.relationship?.inverse != nil
        try insert(
            store,
            [
                (desks[0], [.string("desk 0"), .identifier(lamps[lampOfFirst])]),
                (desks[1], [.string("desk 1"), arePaired ? .identifier(lamps[0]) : .null]),
                (lamps[0], [.string("lamp 0"), .identifier(desks[deskOfFirst])]),
                (lamps[1], [.string("lamp 1"), arePaired ? .identifier(desks[0]) : .null]),
            ], old)
        try world.close(store)
        return world
    }
}
