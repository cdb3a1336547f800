import Foundation
import MortiseCore
import MortiseEngine
import MortiseJSONFile
import Testing

@Suite struct SchemaTextTests {
    @Test func everyFieldComesBack() throws {
        var properties = StorageKind.allCases.map { attribute($0.rawValue, $0) }
        for bit in 0..<7 {
            properties.append(attribute("option \(bit)", .string, options: .init(rawValue: 1 << UInt16(bit))))
        }
        properties.append(attribute("options", .data, optional: true, options: .init(rawValue: 127)))
        let defaults: [(StorageKind, StoredValue)] = [
            (.bool, .bool(true)), (.int8, .integer(-128)), (.uint64, .unsigned(.max)), (.double, .double(.infinity)),
            (.float, .float(1.5)), (.string, .string("a\"b")),
            (.date, .date(Date(timeIntervalSinceReferenceDate: 0.1))),
            (.decimal, .decimal(Decimal(15) / 10)), (.data, .data(Data([1]))), (.uuid, .uuid(UUID())),
            (.url, .url(URL(filePath: "/a"))),
            (.coded, .object(["a": .array([.null])])), (.int64, .null),
        ]
        for (index, value) in defaults.enumerated() {
            properties.append(attribute("default \(index)", value.0, default: value.1))
        }
        var renamed = attribute("renamed", .string)
        renamed.originalName = "old \u{1F600}"
        renamed.content = .attribute(StoredAttribute(kind: .string, hashModifier: "v2"))
        properties.append(renamed)
        for (index, rule) in [Schema.Relationship.DeleteRule.noAction, .nullify, .cascade, .deny].enumerated() {
            properties.append(
                StoredProperty(
                    name: "relationship \(index)", originalName: "r", isOptional: index % 2 == 0,
                    content: .relationship(
                        StoredRelationship(
                            destination: "A", isToMany: index > 1, deleteRule: rule, minimumCount: index == 0 ? nil : 0,
                            maximumCount: index == 1 ? .max : nil, isUnique: index == 3))))
        }
        let schema = StoredSchema(
            version: Schema.Version(0, -1, .max),
            entities: [
                StoredEntity(
                    name: "A", properties: properties, uniquenessConstraints: [["string"], ["int8", "bool"], []],
                    indices: [
                        StoredIndex(properties: ["date"]), StoredIndex(kind: .rtree, properties: ["double", "float"]),
                        StoredIndex(properties: []),
                    ]),
                StoredEntity(name: "B \"é\"", superentity: "A", properties: [toOne("x", "A", inverse: "y")]),
                StoredEntity(
                    name: "", superentity: "B \"é\"", properties: [toOne("y", "B \"é\"", inverse: "x")],
                    uniquenessConstraints: [["y", "bool"]]),
            ])
        // The inverse of x belongs to an entity below A, so that only this one is at fault.
        #expect(throws: StoreDocumentWriteError.self) { try write(schema, []) }
        var valid = schema
        valid.entities[1].properties[properties.count - 1].name = "y"
        for index in valid.entities.indices where valid.entities[index].name.isEmpty {
            valid.entities[index].properties[0].name = "z"
        }
        for index in valid.entities.indices where valid.entities[index].name.isEmpty {
            valid.entities[index].uniquenessConstraints = [["z", "bool"]]
        }
        let bytes = try write(valid, [])
        #expect(try read(bytes).header.schema == valid)
        #expect(try write(try read(bytes).header.schema, []) == bytes)
    }

    static let faults: [(entities: String, reason: StoreDocumentError.Reason, entity: String?, property: String?)] = [
        (
            "{\"name\": \"T\", \"properties\": []}, §{\"name\": \"T\", \"properties\": []}",
            .invalidSchema(.duplicateEntity(entity: "T")), "T", nil
        ),
        (
            "§{\"name\": \"T\", \"superentity\": \"X\", \"properties\": []}",
            .invalidSchema(.unknownSuperentity(entity: "T", superentity: "X")), "T", nil
        ),
        (
            "§{\"name\": \"T\", \"superentity\": \"T\", \"properties\": []}",
            .invalidSchema(.inheritanceCycle(entity: "T")), "T", nil
        ),
        (
            "{\"name\": \"T\", \"properties\": [\(a), §\(a)]}",
            .invalidSchema(.duplicateProperty(entity: "T", property: "a")), "T", "a"
        ),
        (
            "{\"name\": \"T\", \"properties\": [\(a)]}, "
                + "{\"name\": \"U\", \"superentity\": \"T\", \"properties\": [§\(a)]}",
            .invalidSchema(.duplicateProperty(entity: "U", property: "a")), "U", "a"
        ),
        (
            "{\"name\": \"T\", \"properties\": [§{\"name\": \"$id\", \"kind\": \"bool\"}]}",
            .invalidSchema(.reservedName(entity: "T", property: "$id")), "T", "$id"
        ),
        (
            "{\"name\": \"T\", \"properties\": [\(a), §{\"name\": \"r\", \"toOne\": \"X\"}]}",
            .invalidSchema(.unknownDestination(entity: "T", property: "r", destination: "X")), "T", "r"
        ),
        (
            "{\"name\": \"T\", \"properties\": [\(a), §{\"name\": \"r\", \"toMany\": \"T\", \"inverse\": \"a\"}]}",
            .invalidSchema(.unknownInverse(entity: "T", property: "r", inverse: "a")), "T", "r"
        ),
        (
            "§{\"name\": \"T\", \"properties\": [\(a)], \"unique\": [[\"a\", \"b\"]]}",
            .invalidSchema(.unknownConstrainedProperty(entity: "T", property: "b")), "T", "b"
        ),
        (
            "§{\"name\": \"T\", \"properties\": [\(a)], \"indices\": [{\"properties\": [\"c\"]}]}",
            .invalidSchema(.unknownConstrainedProperty(entity: "T", property: "c")), "T", "c"
        ),
        ("§5", .wrongType(expected: "an object", found: "a number"), nil, nil),
        ("§{\"properties\": []}", .missingMember("name"), nil, nil),
        ("§{\"name\": \"T\"}", .missingMember("properties"), nil, nil),
        ("{\"name\": \"T\", §\"x\": 1}", .unknownMember("x"), nil, nil),
        ("{\"name\": \"T\", §\"name\": \"T\"}", .malformed(.duplicateKey("name")), nil, nil),
        ("{\"name\": §1}", .wrongType(expected: "a string", found: "a number"), nil, nil),
        ("{\"name\": \"T\", \"properties\": [§{\"name\": \"a\"}]}", .missingMember("kind"), nil, nil),
        ("{\"name\": \"T\", \"properties\": [§{\"kind\": \"bool\"}]}", .missingMember("name"), nil, nil),
        (
            "{\"name\": \"T\", \"properties\": [{\"name\": \"a\", \"kind\": §\"int\"}]}",
            .invalidWord("int", expected: "a kind of value, as in FORMAT.md"), nil, nil
        ),
        (
            "{\"name\": \"T\", \"properties\": [{\"name\": \"a\", \"kind\": \"bool\", \"options\": [§\"big\"]}]}",
            .invalidWord("big", expected: "an option, as in FORMAT.md"), nil, nil
        ),
        (
            "{\"name\": \"T\", \"properties\": [{\"name\": \"a\", \"kind\": \"bool\", §\"inverse\": \"b\"}]}",
            .unknownMember("inverse"), nil, nil
        ),
        (
            "{\"name\": \"T\", \"properties\": [{\"name\": \"a\", \"toOne\": \"T\", §\"kind\": \"bool\"}]}",
            .unknownMember("kind"), nil, nil
        ),
        (
            "{\"name\": \"T\", \"properties\": [{\"name\": \"a\", \"toOne\": \"T\", §\"options\": []}]}",
            .unknownMember("options"), nil, nil
        ),
        (
            "{\"name\": \"T\", \"properties\": [{\"name\": \"a\", \"toOne\": \"T\", \"deleteRule\": §\"never\"}]}",
            .invalidWord("never", expected: "noAction, nullify, cascade or deny"), nil, nil
        ),
        (
            "{\"name\": \"T\", \"properties\": [{\"name\": \"a\", \"kind\": \"int8\", \"default\": §300}]}",
            .numberOutOfRange(.int8), nil, nil
        ),
        (
            "{\"name\": \"T\", \"properties\": [{\"name\": \"a\", \"toOne\": \"T\", \"minimumCount\": §1.5}]}",
            .numberOutOfRange(.int64), nil, nil
        ),
        (
            "{\"name\": \"T\", \"properties\": [{\"name\": \"a\", \"kind\": \"bool\", \"optional\": §0}]}",
            .wrongType(expected: "a boolean", found: "a number"), nil, nil
        ),
        (
            "{\"name\": \"T\", \"properties\": [], \"indices\": [{\"kind\": §\"hash\"}]}",
            .invalidWord("hash", expected: "binary or rtree"), nil, nil
        ),
        (
            "{\"name\": \"T\", \"properties\": [], \"unique\": [§\"a\"]}",
            .wrongType(expected: "an array", found: "a string"), nil, nil
        ),
    ]
    static let a = "{\"name\": \"a\", \"kind\": \"bool\"}"

    @Test(arguments: faults.indices) func aFaultIsFoundInItsPlace(_ index: Int) {
        let fault = Self.faults[index]
        let document = DocumentText(fault.entities, "")
        let error = StoreDocumentError.reading(document.text)
        #expect(error?.reason == fault.reason)
        #expect(error?.position == document.position)
        #expect(error?.entity == fault.entity)
        #expect(error?.property == fault.property)
        #expect(error?.path.hasPrefix("$.schema.entities") == true)
    }

    @Test(arguments: ["1", "1.0", "1.0.0.0", "01.0.0", "a.b.c", "1.0.+1", "", "1..0"]) func aVersionHasThreeNumbers(
        _ version: String
    ) {
        let text = DocumentText("", "").text.replacingVersion("\"1.0.0\"", with: "\"\(version)\"")
        guard case .invalidWord(version, _) = StoreDocumentError.reading(text)?.reason else {
            Issue.record("\(version) was accepted")
            return
        }
    }

    @Test func limitsHoldBothWays() throws {
        func chain(_ length: Int) -> StoredSchema {
            StoredSchema(
                entities: (0..<length).map {
                    StoredEntity(name: "E\($0)", superentity: $0 > 0 ? "E\($0 - 1)" : nil, properties: [])
                })
        }
        func wide(entities: Int, properties: Int) -> StoredSchema {
            StoredSchema(
                entities: (0..<entities).map {
                    StoredEntity(name: "E\($0)", properties: (0..<properties).map { attribute("p\($0)", .bool) })
                })
        }
        func constrained(_ count: Int) -> StoredSchema {
            StoredSchema(entities: [
                StoredEntity(
                    name: "E", properties: [attribute("p", .bool)],
                    uniquenessConstraints: Array(repeating: ["p"], count: count))
            ])
        }
        func related(entities: Int, each: Int) -> StoredSchema {
            StoredSchema(
                entities: (0..<entities).map { number in
                    StoredEntity(
                        name: "E\(number)",
                        properties: (0..<each).map { place in
                            StoredProperty(
                                name: "r\(place)", isOptional: true,
                                content: .relationship(StoredRelationship(destination: "E0", isToMany: false)))
                        })
                })
        }
        func named(_ length: Int) -> StoredSchema {
            let name = String(repeating: "n", count: length)
            return StoredSchema(entities: [StoredEntity(name: name, properties: [attribute(name, .bool)])])
        }
        for (fitting, tooLarge, limit) in [
            (named(1024), named(1025), StoredSchemaLimit.nameLength),
            (chain(33), chain(34), .ancestors),
            (wide(entities: 4096, properties: 0), wide(entities: 4097, properties: 0), .entities),
            (wide(entities: 1, properties: 1024), wide(entities: 1, properties: 1025), .propertiesOfEntity),
            (wide(entities: 16, properties: 1024), wide(entities: 17, properties: 964), .propertiesInAll),
            (constrained(8192), constrained(8193), .constrainedPropertiesInAll),
            (related(entities: 4096, each: 1), related(entities: 4096, each: 2), .entitiesTimesRelationships),
        ] {
            let most = StoredSchemaLimits.document[limit]
            #expect(try read(try write(fitting, [])).header.schema == fitting)
            let error = #expect(throws: StoreDocumentWriteError.self) { try write(tooLarge, []) }
            #expect(error?.errorClass == .conflict)
            guard case .invalidSchema(.limitExceeded(limit, found: let found, most: most))? = error?.reason,
                found > most
            else {
                Issue.record("expected \(limit), found \(String(describing: error))")
                continue
            }
            let entities = tooLarge.entities.map { entity in
                let properties = entity.properties.map {
                    "{\"name\": \"\($0.name)\", "
                        + ($0.relationship == nil ? "\"kind\": \"bool\"}" : "\"toOne\": \"E0\", \"optional\": true}")
                }.joined(separator: ",")
                let unique = entity.uniquenessConstraints.map { "[\"\($0[0])\"]" }.joined(separator: ",")
                let superentity = entity.superentity.map { "\"superentity\": \"\($0)\", " } ?? ""
                return "{\"name\": \"\(entity.name)\", \(superentity)\"properties\": [\(properties)], "
                    + "\"unique\": [\(unique)]}"
            }
            let text = DocumentText(entities.joined(separator: ",\n"), "").text
            let reason = StoreDocumentError.reading(text)?.reason
            guard case .invalidSchema(.limitExceeded(limit, found: let count, most: most))? = reason, count > most
            else {
                Issue.record("expected \(limit), found \(String(describing: reason))")
                continue
            }
        }
    }

    @Test func whatHasNoWordsIsNotWritten() {
        let option = StoredSchema(entities: [
            StoredEntity(name: "E", properties: [attribute("p", .bool, options: .init(rawValue: 128))])
        ])
        #expect(throws: StoreDocumentWriteError.self) { try write(option, []) }
        let value = StoredSchema(entities: [
            StoredEntity(name: "E", properties: [attribute("p", .bool, default: .integer(1))])
        ])
        let error = #expect(throws: StoreDocumentWriteError.self) { try write(value, []) }
        #expect(error?.reason == .invalidSchema(.unsuitableDefault(entity: "E", property: "p")))
    }
}

extension String {
    fileprivate func replacingVersion(_ text: String, with other: String) -> String {
        split(separator: text, maxSplits: 1, omittingEmptySubsequences: false).joined(separator: other)
    }
}
