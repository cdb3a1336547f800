#if Tool
import Foundation
@testable import MortiseCommands
import MortiseCore
import Testing

/// `mortise schema models`, `plan`, `import`, `coredata` and `validate`, as processes.
@Suite struct SchemaSourceVerbTests {
    private func write(_ text: String, _ name: String, in folder: ToolFolder) throws -> String {
        let url = folder.url.appending(path: name)
        try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: url)
        return folder.path(name)
    }

    private func schema(_ properties: String, version: String = "1.0.0", in folder: ToolFolder, _ name: String) throws
        -> String
    {
        try write(
            """
            {"format": "mortise-schema", "formatVersion": 1, "version": "\(version)", "entities": [
            {"name": "Trip", "properties": [
            \(properties)
            ]}]}
            """, name, in: folder)
    }

    // MARK: models, plan

    @Test func aStoreHasModels() throws {
        let folder = try ToolFolder()
        let store = try folder.trips("trips.json", 2)
        let run = try ToolRun("schema", "models", store)
        #expect(run.status == 0 && run.errors == "", "\(run.errors)")
        for part in [
            "final class BusTrip: Trip {", #"#Unique<Trip>([\.code])"#, "var tags: CodedTree",
            "var link: URL?",
            "super.init(",
        ] { #expect(run.output.contains(part), "\(part): \(run.output)") }
        #expect(try ToolRun("schema", "models", store).output == run.output)
        let version = try ToolRun("schema", "models", store, "--version-enum", "TripsV1")
        #expect(version.status == 0 && version.output.contains("enum TripsV1: VersionedSchema {"))
        let refused = try ToolRun("schema", "models", store, "--version-enum", "Trips V1")
        #expect(refused.status == ToolExitStatus.conflict && refused.errorLines.count == 1, "\(refused.errors)")
    }

    @Test func namesThatSwiftLacksAreRefused() throws {
        let folder = try ToolFolder()
        let file = try schema(
            #"{"name": "a\n}; import Evil", "kind": "string"}, {"name": "b`", "kind": "string"}"#, in: folder,
            "bad.json")
        for verb in ["models", "plan"] {
            let run = try ToolRun(["schema", verb, file] + (verb == "plan" ? [file] : []))
            #expect(run.status == ToolExitStatus.conflict && run.output == "", "\(run.output)")
            #expect(run.errorLines.count == 1 && run.errors.contains("Trip.b`"), "\(run.errors)")
        }
        // Core Data has them as texts.
        let run = try ToolRun("schema", "coredata", file)
        #expect(run.status == 0 && run.output.contains(#"property.name = "a\n}; import Evil""#), "\(run.output)")
        let name = try ToolRun("schema", "coredata", file, "--name", "A { }")
        #expect(name.status == ToolExitStatus.conflict && name.errorLines.count == 1)
    }

    @Test func aPlanAsksAboutRenamesAndSaysWhatIsLeft() throws {
        let folder = try ToolFolder()
        let old = try schema(
            #"{"name": "price", "kind": "double"}, {"name": "name", "kind": "string"}"#, in: folder, "1.json")
        let new = try schema(
            #"{"name": "cost", "kind": "string"}, {"name": "name", "kind": "string"}, {"name": "note", "kind": "string"}"#,
            in: folder, "2.json")
        let renamed = try schema(
            #"{"name": "prices", "kind": "double"}, {"name": "name", "kind": "string"}"#, in: folder, "3.json")
        let asked = try ToolRun("schema", "plan", old, renamed)
        #expect(asked.status == ToolExitStatus.usage && asked.output.contains("\"questions\""), "\(asked.output)")
        let run = try ToolRun("schema", "plan", old, new, "--rename", "Trip.cost=price", "--name", "Journey")
        #expect(run.status == 0 && run.errors == "", "\(run.errors)")
        for part in [
            "enum JourneySchemaV1: VersionedSchema", "enum JourneySchemaV2: VersionedSchema",
            "enum JourneyMigrationPlan",
            "Schema.Version(2, 0, 0)", #".renaming("Trip.cost", from: "price")"#,
            #".converting("Trip.cost", .exactly)"#,
            #".filling("Trip.note", with: .string(""))"#, "// TODO: Trip.note",
        ] { #expect(run.output.contains(part), "\(part): \(run.output)") }
        #expect(!run.output.contains("#error"))
        let strict = try ToolRun("schema", "plan", old, new, "--rename", "Trip.cost=price", "--strict")
        #expect(strict.output.components(separatedBy: "#error(").count == 3, "\(strict.output)")
        let light = try ToolRun("schema", "plan", old, renamed, "--drop", "Trip.price")
        #expect(light.status == 0, "\(light.errors)")
        let equal = try ToolRun("schema", "plan", old, old)
        #expect(equal.status == 0 && equal.output.contains(".lightweight("), "\(equal.output)")
    }

    // MARK: import

    private static let model = """
        <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
        <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0" userDefinedModelVersionIdentifier="2.1">
            <entity name="Event" representedClassName="Event" isAbstract="YES" syncable="YES" codeGenerationType="class">
                <attribute name="when" optional="YES" attributeType="Date" defaultDateTimeInterval="791837694.25" usesScalarValueType="NO"/>
            </entity>
            <entity name="Trip" representedClassName="MOTrip" parentEntity="Event" elementID="Journey" versionHashModifier="2">
                <attribute name="email" attributeType="String" defaultValueString="a &amp; &quot;b&quot;&#xe9;" elementID="mail" versionHashModifier="a"
                           minValueString="1" spotlightIndexingEnabled="YES"/>
                <attribute name="seats" optional="YES" attributeType="Integer 16" defaultValueString="-3" usesScalarValueType="YES"/>
                <attribute name="flag" attributeType="Boolean" defaultValueString="YES"/>
                <attribute name="cost" attributeType="Decimal" defaultValueString="0.10"/>
                <attribute name="cache" optional="YES" transient="YES" attributeType="Double"/>
                <attribute name="picture" optional="YES" attributeType="Binary" allowsExternalBinaryDataStorage="YES"/>
                <attribute name="color" optional="YES" attributeType="Transformable" valueTransformerName="Colors" customClassName="NSColor"/>
                <attribute name="place" optional="YES" attributeType="Composite" elementCompositeName="Place"/>
                <attribute name="link" optional="YES" attributeType="URI"/>
                <attribute name="id" optional="YES" attributeType="UUID"/>
                <attribute name="total" optional="YES" attributeType="Integer 64" derived="YES" derivationExpression="stops.@count"/>
                <relationship name="stops" optional="YES" toMany="YES" ordered="YES" deletionRule="Cascade" destinationEntity="Stop" inverseName="trip" inverseEntity="Stop"/>
                <fetchedProperty name="late"><fetchRequest name="x" entity="Trip"/></fetchedProperty>
                <fetchIndex name="byDate"><fetchIndexElement property="when" type="Binary" order="descending"/></fetchIndex>
                <uniquenessConstraints><uniquenessConstraint><constraint value="email"/><constraint value="seats"/></uniquenessConstraint></uniquenessConstraints>
                <userInfo><entry key="k" value="v"/></userInfo>
            </entity>
            <entity name="Stop" representedClassName="Stop">
                <!-- <!ENTITY x "y"> -->
                <attribute name="name" attributeType="String" indexed="YES"/>
                <relationship name="trip" optional="YES" maxCount="1" deletionRule="Nullify" destinationEntity="Trip" inverseName="stops" inverseEntity="Trip"/>
                <relationship name="guests" toMany="YES" minCount="2" maxCount="9" deletionRule="No Action" destinationEntity="Stop"/>
            </entity>
            <composite name="Place"><attribute name="city" optional="YES" attributeType="String"/></composite>
            <configuration name="Local"><memberEntity name="Stop"/></configuration>
            <elements><element name="Trip" positionX="0" positionY="1"/></elements>
        </model>
        """

    @Test func aModelOfCoreDataBecomesASchema() throws {
        let folder = try ToolFolder()
        let path = try write(Self.model, "Library.xcdatamodel/contents", in: folder)
        let run = try ToolRun("schema", "import", folder.path("Library.xcdatamodel"))
        #expect(run.status == 0, "\(run.errors)")
        #expect(try ToolRun("schema", "import", path).output == run.output)
        for part in [
            #""version": "2.1.0""#, #""name": "Event""#, #""abstract": true"#, #""originalName": "Journey""#,
            #""superentity": "Event""#,
            #"{"name": "when", "kind": "date", "optional": true, "default": "2026-02-03T"#,
            #"{"name": "email", "kind": "string", "originalName": "mail", "options": ["spotlight"], "default": "a & \"b\"é", "hashModifier": "a", "documentation": "In Core Data: at least 1"}"#,
            #"{"name": "seats", "kind": "int16", "optional": true, "default": -3}"#,
            #"{"name": "flag", "kind": "bool", "default": true}"#,
            #"{"name": "cost", "kind": "decimal", "default": "0.1"}"#,
            #"{"name": "cache", "kind": "double", "optional": true, "options": ["ephemeral"]}"#,
            #"{"name": "place", "kind": "coded", "optional": true, "members": [{"name": "city", "kind": "string", "optional": true}]}"#,
            #""transformer": "Colors""#, #""swiftType": "NSColor""#,
            #"{"name": "stops", "toMany": "Stop", "inverse": "trip", "deleteRule": "cascade", "ordered": true}"#,
            #"{"name": "guests", "toMany": "Stop", "deleteRule": "noAction", "minimumCount": 2, "maximumCount": 9}"#,
            #""unique": [["email", "seats"]]"#, #""indices": [{"properties": ["when"]}]"#,
            #""indices": [{"properties": ["name"]}]"#,
        ] { #expect(run.output.contains(part), "\(part): \(run.output)") }
        for part in [
            "codeGenerationType of Event", "the class MOTrip of Trip", "the limits of Trip.email", "stops.@count",
            "fetchedProperty late",
            "descending order", "the configuration Local of Stop",
        ] { #expect(run.errors.contains("left out: ") && run.errors.contains(part), "\(part): \(run.errors)") }
        let file = try write(run.output, "schema.json", in: folder)
        #expect(try ToolRun("schema", "validate", file).status == 0)
        let models = try ToolRun("schema", "models", file)
        #expect(
            models.status == 0
                && models.output.contains("@Relationship(deleteRule: .cascade, inverse: \\Stop.trip) var stops"),
            "\(models.errors)")
        let back = try ToolRun("schema", "coredata", file)
        #expect(back.status == 0 && back.output.contains("property.renamingIdentifier = \"mail\""), "\(back.errors)")
    }

    @Test func theCurrentVersionIsTaken() throws {
        let folder = try ToolFolder()
        func model(_ name: String) -> String { "<model><entity name=\"\(name)\"/></model>" }
        for name in ["A", "B"] { _ = try write(model(name), "L.xcdatamodeld/\(name).xcdatamodel/contents", in: folder) }
        let path = folder.path("L.xcdatamodeld")
        let several = try ToolRun("schema", "import", path)
        #expect(several.status == ToolExitStatus.usage && several.errors.contains("A, B"), "\(several.errors)")
        let list = """
            <?xml version="1.0" encoding="UTF-8"?>
            <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
            <plist version="1.0"><dict><key>_XCCurrentVersionName</key><string>B.xcdatamodel</string></dict></plist>
            """
        _ = try write(list, "L.xcdatamodeld/.xccurrentversion", in: folder)
        #expect(try ToolRun("schema", "import", path).output.contains(#""name": "B""#))
        #expect(try ToolRun("schema", "import", path, "--model", "A").output.contains(#""name": "A""#))
        for name in ["C", "../L.xcdatamodeld/A", ""] {
            #expect(try ToolRun("schema", "import", path, "--model", name).status == ToolExitStatus.usage, "\(name)")
        }
        _ = try write(
            list.replacing("B.xcdatamodel", with: "../../etc/B.xcdatamodel"), "L.xcdatamodeld/.xccurrentversion",
            in: folder)
        #expect(try ToolRun("schema", "import", path).status == ToolExitStatus.usage)
        #expect(try ToolRun("schema", "import", folder.path("none")).status == ToolExitStatus.missing)
        #expect(try ToolRun("schema", "import", folder.url.path).status == ToolExitStatus.missing)
    }

    @Test func hostileModelsAreRefused() throws {
        let folder = try ToolFolder()
        let bomb = "<!DOCTYPE m [<!ENTITY a \"aaaa\"><!ENTITY b \"&a;&a;\">]><model><entity name=\"&b;\"/></model>"
        let deep = String(repeating: "<model>", count: 100_000)
        let cases: [(text: String, status: Int32, word: String)] = [
            (bomb, ToolExitStatus.damaged, "line 1: a document type"),
            ("<!DOCTYPE plist [<!ENTITY a \"x\">]><model/>", ToolExitStatus.damaged, "a document type"),
            ("<model><entity name=\"&b;\"/></model>", ToolExitStatus.damaged, "the entity &b;"),
            (deep, ToolExitStatus.damaged, "more than 16 levels"), ("", ToolExitStatus.damaged, "no element"),
            ("<model>", ToolExitStatus.damaged, "the end within <model>"),
            ("<model></entity>", ToolExitStatus.damaged, "</entity> within"),
            ("<plist/>", ToolExitStatus.damaged, "expected <model>"),
            ("<model/><model/>", ToolExitStatus.damaged, "second element"),
            ("<model>\n<entity a='1' a='2'/></model>", ToolExitStatus.damaged, "line 2: a appears twice"),
            ("<model a=\"<\"/>", ToolExitStatus.damaged, "< in the value"),
            ("<model><![CDATA[x]]></model>", ToolExitStatus.damaged, "CDATA"),
            ("<model a='&#0;'/>", ToolExitStatus.damaged, "&#0;"),
            ("<model a='&#x110000;'/>", ToolExitStatus.damaged, "&#x110000;"),
            ("<model a='\u{0}", ToolExitStatus.damaged, "no end"),
            ("<model><entity/></model>", ToolExitStatus.unsupported, "has no name"),
            (
                "<model><entity name='A'><attribute name='x' attributeType='Undefined'/><attribute name='y' attributeType='Object ID'/></entity></model>",
                ToolExitStatus.unsupported, "A.y is of type"
            ),
            ("<model><entity name='A'/><entity name='A'/></model>", ToolExitStatus.unsupported, "two entities"),
            ("<model><entity name='A' parentEntity='A'/></model>", ToolExitStatus.unsupported, "inherits from itself"),
            (
                "<model><entity name='A'><relationship name='r' destinationEntity='B'/></entity></model>",
                ToolExitStatus.unsupported,
                "does not have"
            ),
            (
                "<model><entity name='A'><attribute name='x' attributeType='Integer 16' defaultValueString='70000'/></entity></model>",
                ToolExitStatus.unsupported, "no value of kind int16"
            ),
            (
                "<model><entity name='A'><attribute name='x' attributeType='Composite' compositeName='P'/></entity></model>",
                ToolExitStatus.unsupported, "which the model lacks"
            ),
        ]
        for (text, status, word) in cases {
            let run = try ToolRun("schema", "import", try write(text, "contents", in: folder))
            #expect(run.status == status && run.output == "", "\(text.prefix(80)): \(run.errors)")
            #expect(run.errorLines.count == 1 && run.errors.contains(word), "\(text.prefix(80)): \(run.errors)")
        }
        // What the names hold stays text.
        let name = "<model><entity name='a&#10;b&quot;c'/></model>"
        let run = try ToolRun("schema", "import", try write(name, "contents", in: folder))
        #expect(run.status == 0 && run.output.contains(#""name": "a\nb\"c""#), "\(run.output)")
    }

    // MARK: validate

    @Test func everyFaultOfAFileIsSaid() throws {
        let folder = try ToolFolder()
        let good = try schema(#"{"name": "name", "kind": "string"}"#, in: folder, "good.json")
        let right = try ToolRun("schema", "validate", good)
        #expect(
            right.status == 0 && right.output.hasPrefix("right: version 1.0.0, 1 entity, storage "), "\(right.output)")
        let bad = try write(
            """
            {"format": "mortise-schema", "formatVersion": 1, "version": "1.0.0", "entities": [
            {"name": "Trip", "properties": [
              {"name": "a", "kind": "text"},
              {"name": "b", "kind": "string"},
              {"name": "c", "kind": "int8", "default": 300, "options": []},
              {"name": "d", "toOne": "Guide", "deleteRule": "explode"}
            ], "indexes": []},
            {"name": "Guide", "properties": [{"kind": "string"}]}
            ]}
            """, "bad.json", in: folder)
        let run = try ToolRun("schema", "validate", bad)
        #expect(run.status == ToolExitStatus.damaged && run.errors == "", "\(run.errors)")
        let lines = run.output.split(separator: "\n").map(String.init)
        #expect(lines.count == 5, "\(run.output)")
        for (line, place) in zip(lines, ["3:25", "5:44", "6:49", "7:4", "8:34"]) {
            #expect(line.hasPrefix("\(bad):\(place): "), "\(place): \(line)")
        }
        let json = try ToolRun("schema", "validate", bad, "--format", "json")
        #expect(json.status == ToolExitStatus.damaged && json.output.contains("\"isValid\""), "\(json.output)")
        // Whether the parts fit together.
        let loose = try schema(
            #"""
            {"name": "a", "toOne": "None"},
            {"name": "b", "toOne": "Trip", "inverse": "c"},
            {"name": "d", "kind": "string"}
            """#, in: folder, "loose.json")
        let found = try ToolRun("schema", "validate", loose)
        #expect(found.status == ToolExitStatus.damaged)
        #expect(
            found.output.split(separator: "\n").map {
                $0.contains("loose.json:3:1: ") || $0.contains("loose.json:4:1: ")
            } == [true, true], "\(found.output)")
    }

    @Test func whatIsNoFileOfASchemaIsSaidAsWell() throws {
        let folder = try ToolFolder()
        let store = try folder.trips("trips.json", 1)
        let cases: [(String, Int32)] = [
            (store, ToolExitStatus.usage), ("models:", ToolExitStatus.usage),
            (folder.path("none.json"), ToolExitStatus.missing),
            (folder.url.path, ToolExitStatus.usage), (folder.path("trips.json"), ToolExitStatus.damaged),
            (try write("{", "open.json", in: folder), ToolExitStatus.damaged),
            (try write(String(repeating: "[", count: 100_000), "deep.json", in: folder), ToolExitStatus.damaged),
            (
                try schema(#"{"name": "\u001b[31m", "kind": "\u001b[31m"}"#, in: folder, "control.json"),
                ToolExitStatus.damaged
            ),
        ]
        for (file, status) in cases {
            let run = try ToolRun("schema", "validate", file)
            #expect(run.status == status, "\(file): \(run.errors) \(run.output)")
            #expect(!(run.output + run.errors).contains("\u{1b}"), "\(file)")
        }
    }
}
#endif
