#if Tool
@testable import MortiseCommands
import MortiseCore
import Testing

/// A schema as a picture: the text is the same for the same schema, and no name ends it.
@Suite struct SchemaDiagramTests {
    private func attribute(
        _ name: String, _ kind: StorageKind, optional: Bool = false, options: StoredAttribute.Options = []
    ) -> StoredProperty {
        StoredProperty(
            name: name, isOptional: optional, content: .attribute(StoredAttribute(kind: kind, options: options)))
    }

    private func relationship(
        _ name: String, _ destination: String, toMany: Bool = false, optional: Bool = true, inverse: String? = nil
    ) -> StoredProperty {
        StoredProperty(
            name: name, isOptional: optional,
            content: .relationship(StoredRelationship(destination: destination, isToMany: toMany, inverse: inverse)))
    }

    private var schema: StoredSchema {
        StoredSchema(entities: [
            StoredEntity(
                name: "Trip",
                properties: [
                    attribute("name", .string), attribute("email", .string, optional: true, options: .unique),
                    relationship("traveler", "Traveler", inverse: "trips"),
                    relationship("next", "Trip", optional: false),
                    relationship("twin", "Trip", inverse: "twin"),
                ]),
            StoredEntity(name: "BusTrip", superentity: "Trip", properties: []),
            StoredEntity(
                name: "Traveler",
                properties: [relationship("trips", "Trip", toMany: true, optional: false, inverse: "traveler")]),
        ])
    }

    @Test func mermaidIsWhatItShouldBe() {
        #expect(
            SchemaDiagram(schema).mermaid == """
                erDiagram
                    BusTrip
                    Traveler
                    Trip {
                        string name
                        string email UK "optional"
                    }
                    Traveler |o--o{ Trip : "trips / traveler"
                    Trip }o--|| Trip : "next"
                    Trip |o--o| Trip : "twin / twin"
                    Trip ||--|| BusTrip : "is a"

                """)
    }

    @Test func dotIsWhatItShouldBe() {
        #expect(
            SchemaDiagram(schema).dot == #"""
                digraph schema {
                    graph [rankdir=LR];
                    node [shape=record];
                    "BusTrip" [label="{BusTrip}"];
                    "Traveler" [label="{Traveler}"];
                    "Trip" [label="{Trip|name:\ string\lemail:\ string?\ (unique)\l}"];
                    "Traveler" -> "Trip" [label="trips / traveler", dir=both, arrowtail=teeodot, arrowhead=crowodot];
                    "Trip" -> "Trip" [label="next", dir=both, arrowtail=crowodot, arrowhead=teetee];
                    "Trip" -> "Trip" [label="twin / twin", dir=both, arrowtail=teeodot, arrowhead=teeodot];
                    "BusTrip" -> "Trip" [arrowhead=empty];
                }

                """#)
    }

    @Test func theOrderOfEntitiesDoesNotMatter() {
        var other = schema
        other.entities.reverse()
        #expect(SchemaDiagram(other).mermaid == SchemaDiagram(schema).mermaid)
        #expect(SchemaDiagram(other).dot == SchemaDiagram(schema).dot)
    }

    @Test func namesDoNotEndWhatTheyAreIn() {
        let name = "a\"b{}|<>\\ \n;é"
        let schema = StoredSchema(entities: [
            StoredEntity(name: name, properties: [attribute(name, .string), relationship("to", name)])
        ])
        let mermaid = SchemaDiagram(schema).mermaid
        #expect(
            mermaid == """
                erDiagram
                    "a#34;b{}|#60;#62;#92; #10;#59;é" {
                        string a_b__________ "a#34;b{}|#60;#62;#92; #10;#59;é"
                    }
                    "a#34;b{}|#60;#62;#92; #10;#59;é" }o--o| "a#34;b{}|#60;#62;#92; #10;#59;é" : "to"

                """)
        let dot = SchemaDiagram(schema).dot
        #expect(dot.contains(#""a\"b{}|<>\\ \n;é" [label="{a\"b\{\}\|\<\>\\\ \n;é|"#), "\(dot)")
        let control = SchemaDiagram(StoredSchema(entities: [StoredEntity(name: "a\u{9B}\u{1B}", properties: [])]))
        for text in [control.mermaid, control.dot] {
            #expect(
                text.unicodeScalars.allSatisfy { $0 == "\n" || $0.properties.generalCategory != .control }, "\(text)")
        }
        // Quotation marks that are not escaped come in pairs.
        for line in dot.split(separator: "\n") {
            let plain = line.replacing("\\\\", with: "").replacing("\\\"", with: "")
            #expect(plain.count { $0 == "\"" } % 2 == 0, "\(line)")
        }
    }
}
#endif
