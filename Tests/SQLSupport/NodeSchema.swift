public import MortiseCore

/// A schema with an attribute of every kind, a hierarchy, and every sort of relationship.
public enum NodeSchema {
    public static let stored = StoredSchema(entities: [
        StoredEntity(
            name: "Node",
            properties: [
                attribute("flag", .bool), attribute("state", .bool, isOptional: true),
                attribute("tiny", .int8, isOptional: true), attribute("size", .int64),
                attribute("total", .uint64), attribute("big", .uint64, isOptional: true),
                attribute("weight", .double), attribute("load", .double, isOptional: true),
                attribute("ratio", .float, isOptional: true), attribute("day", .date),
                attribute("end", .date, isOptional: true), attribute("price", .decimal, isOptional: true),
                attribute("cost", .decimal), attribute("name", .string), attribute("note", .string, isOptional: true),
                attribute("bytes", .data), attribute("key", .uuid, isOptional: true),
                attribute("link", .url, isOptional: true), attribute("parts", .coded, isOptional: true),
                toOne("box", "Box", inverse: "nodes"), toOne("next", "Node", inverse: "previous"),
                toMany("previous", "Node", inverse: "next"), toMany("peers", "Node", inverse: "peerOf"),
                toMany("peerOf", "Node", inverse: "peers"),
            ], indices: [StoredIndex(properties: ["name"]), StoredIndex(properties: ["weight"])]),
        StoredEntity(
            name: "Special", superentity: "Node",
            properties: [
                attribute("extra", .int64, isOptional: true), attribute("Name", .string, isOptional: true),
                toOne("owner", "Box", inverse: nil), toMany("marks", "Box", inverse: nil),
            ]),
        StoredEntity(
            name: "Box",
            properties: [
                attribute("label", .string), attribute("rank", .int32, isOptional: true), attribute("level", .double),
                toMany("nodes", "Node", inverse: "box"), toOne("outer", "Box", inverse: "inner"),
                toMany("inner", "Box", inverse: "outer"),
            ]),
    ])

    public static let layouts = stored.recordLayouts()

    private static func attribute(_ name: String, _ kind: StorageKind, isOptional: Bool = false) -> StoredProperty {
        StoredProperty(name: name, isOptional: isOptional, content: .attribute(StoredAttribute(kind: kind)))
    }

    private static func toOne(_ name: String, _ destination: String, inverse: String?) -> StoredProperty {
        StoredProperty(
            name: name, isOptional: true,
            content: .relationship(StoredRelationship(destination: destination, isToMany: false, inverse: inverse)))
    }

    private static func toMany(_ name: String, _ destination: String, inverse: String?) -> StoredProperty {
        StoredProperty(
            name: name, isOptional: false,
            content: .relationship(StoredRelationship(destination: destination, isToMany: true, inverse: inverse)))
    }
}
