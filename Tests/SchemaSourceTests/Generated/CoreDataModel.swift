// Made by mortise schema coredata of version 1.2.30, storage a818959d2898b2443c51e82aff4a2e91.
// swift-format-ignore-file

#if canImport(CoreData)
import CoreData

enum StoreModel {
    // Not here: the kind int8 of Defaults.p1, which is integer16
    // Not here: the kind uint8 of Defaults.p5, which is integer16
    // Not here: the kind uint16 of Defaults.p6, which is integer32
    // Not here: the kind uint32 of Defaults.p7, which is integer64
    // Not here: the kind uint64 of Defaults.p8, which is decimal
    // Not here: the default of Defaults.p28
    // Not here: the kind coded of Defaults.p29, which is binaryData
    // Not here: the default of Defaults.p29
    // Not here: the kind coded of Defaults.p30, which is binaryData
    // Not here: the default of Defaults.p30
    // Not here: the kind int8 of Defaults.q1, which is integer16
    // Not here: the kind uint8 of Defaults.q5, which is integer16
    // Not here: the kind uint16 of Defaults.q6, which is integer32
    // Not here: the kind uint32 of Defaults.q7, which is integer64
    // Not here: the kind uint64 of Defaults.q8, which is decimal
    // Not here: the default of Defaults.q28
    // Not here: the kind coded of Defaults.q29, which is binaryData
    // Not here: the default of Defaults.q29
    // Not here: the kind coded of Defaults.q30, which is binaryData
    // Not here: the default of Defaults.q30
    // Not here: the kind int8 of Defaults.rint8, which is integer16
    // Not here: the kind uint8 of Defaults.ruint8, which is integer16
    // Not here: the kind uint16 of Defaults.ruint16, which is integer32
    // Not here: the kind uint32 of Defaults.ruint32, which is integer64
    // Not here: the kind uint64 of Defaults.ruint64, which is decimal
    // Not here: the kind coded of Defaults.rcoded, which is binaryData
    // Not here: the kind int8 of Defaults.oint8, which is integer16
    // Not here: the kind uint8 of Defaults.ouint8, which is integer16
    // Not here: the kind uint16 of Defaults.ouint16, which is integer32
    // Not here: the kind uint32 of Defaults.ouint32, which is integer64
    // Not here: the kind uint64 of Defaults.ouint64, which is decimal
    // Not here: the kind coded of Defaults.ocoded, which is binaryData
    // Not here: the option unique of Event.id, besides its constraint
    // Not here: the former names of Trip
    // Not here: the reserved names of Trip
    // Not here: the allowed values of Trip.kind
    // Not here: the allowed values of Trip.other
    // Not here: the allowed values of Trip.rank
    // Not here: the kind coded of Trip.place, which is binaryData
    // Not here: the default of Trip.place
    // Not here: the members of Trip.place
    // Not here: the kind coded of Trip.again, which is binaryData
    // Not here: the members of Trip.again
    // Not here: the kind coded of Trip.strange, which is binaryData
    // Not here: the default of Trip.strange
    // Not here: the members of Trip.strange
    // Not here: the kind uint64 of Trip.big, which is decimal
    // Not here: the kind coded of Trip.flag, which is binaryData
    // Not here: the option unique of Trip.passport, besides its constraint
    /// A new model with all entities.
    static func makeModel() -> NSManagedObjectModel {
        var entities: [String: NSEntityDescription] = [:]
        for name in ["Bus", "Defaults", "Event", "Label", "Night", "Nothing", "Passport", "Traveler", "Trip"] as [String] {
            let entity = NSEntityDescription()
            entity.name = name
            entity.managedObjectClassName = "NSManagedObject"
            entities[name] = entity
        }
        describe0(entities)
        describe1(entities)
        describe2(entities)
        describe3(entities)
        describe4(entities)
        describe5(entities)
        describe6(entities)
        describe7(entities)
        describe8(entities)
        link(entities, "Label", "trips", "Trip", "labels")
        link(entities, "Passport", "trip", "Trip", "passport")
        link(entities, "Traveler", "trips", "Trip", "traveler")
        link(entities, "Traveler", "led", "Trip", "guide")
        link(entities, "Trip", "traveler", "Traveler", "trips")
        link(entities, "Trip", "guide", "Traveler", "led")
        link(entities, "Trip", "labels", "Label", "trips")
        link(entities, "Trip", "passport", "Passport", "trip")
        link(entities, "Trip", "parent", "Trip", "children")
        link(entities, "Trip", "children", "Trip", "parent")
        let model = NSManagedObjectModel()
        model.entities = entities.values.sorted { ($0.name ?? "") < ($1.name ?? "") }
        model.versionIdentifiers = ["1.2.30"]
        return model
    }

    private static func describe0(_ entities: [String: NSEntityDescription]) {
        guard let entity = entities["Bus"] else { return }
        if let parent = entities["Trip"] { parent.subentities.append(entity) }
        do {
            let property = NSAttributeDescription()
            property.attributeType = .integer16AttributeType
            property.name = "seats"
            property.isOptional = false
            entity.properties.append(property)
        }
        addIndex(entity, "index0", ["cost"], .binary)
    }

    private static func describe1(_ entities: [String: NSEntityDescription]) {
        guard let entity = entities["Defaults"] else { return }
        do {
            let property = NSAttributeDescription()
            property.attributeType = .booleanAttributeType
            property.name = "p0"
            property.isOptional = false
            property.defaultValue = true
            entity.properties.append(property)
        }
        do {
            let property = NSAttributeDescription()
            property.attributeType = .integer16AttributeType
            property.name = "p1"
            property.isOptional = false
            property.defaultValue = -128
            entity.properties.append(property)
        }
        do {
            let property = NSAttributeDescription()
            property.attributeType = .integer16AttributeType
            property.name = "p2"
            property.isOptional = false
            property.defaultValue = 32767
            entity.properties.append(property)
        }
        do {
            let property = NSAttributeDescription()
            property.attributeType = .integer32AttributeType
            property.name = "p3"
            property.isOptional = false
            property.defaultValue = 0
            entity.properties.append(property)
        }
        do {
            let property = NSAttributeDescription()
            property.attributeType = .integer64AttributeType
            property.name = "p4"
            property.isOptional = false
            property.defaultValue = -9223372036854775808
            entity.properties.append(property)
        }
        do {
            let property = NSAttributeDescription()
            property.attributeType = .integer16AttributeType
            property.name = "p5"
            property.isOptional = false
            property.defaultValue = 255
            entity.properties.append(property)
        }
        do {
            let property = NSAttributeDescription()
            property.attributeType = .integer32AttributeType
            property.name = "p6"
            property.isOptional = false
            property.defaultValue = 1
            entity.properties.append(property)
        }
        do {
            let property = NSAttributeDescription()
            property.attributeType = .integer64AttributeType
            property.name = "p7"
            property.isOptional = false
            property.defaultValue = 4294967295
            entity.properties.append(property)
        }
        do {
            let property = NSAttributeDescription()
            property.attributeType = .decimalAttributeType
            property.name = "p8"
            property.isOptional = false
            property.defaultValue = NSDecimalNumber(string: "18446744073709551615")
            entity.properties.append(property)
        }
        do {
            let property = NSAttributeDescription()
            property.attributeType = .floatAttributeType
            property.name = "p9"
            property.isOptional = false
            property.defaultValue = NSNumber(value: 0.1 as Float)
            entity.properties.append(property)
        }
        do {
            let property = NSAttributeDescription()
            property.attributeType = .floatAttributeType
            property.name = "p10"
            property.isOptional = false
            property.defaultValue = NSNumber(value: -Float.infinity as Float)
            entity.properties.append(property)
        }
        do {
            let property = NSAttributeDescription()
            property.attributeType = .floatAttributeType
            property.name = "p11"
            property.isOptional = false
            property.defaultValue = NSNumber(value: Float(bitPattern: 0x7fc00000) as Float)
            entity.properties.append(property)
        }
        do {
            let property = NSAttributeDescription()
            property.attributeType = .doubleAttributeType
            property.name = "p12"
            property.isOptional = false
            property.defaultValue = NSNumber(value: -0.0 as Double)
            entity.properties.append(property)
        }
        do {
            let property = NSAttributeDescription()
            property.attributeType = .doubleAttributeType
            property.name = "p13"
            property.isOptional = false
            property.defaultValue = NSNumber(value: Double(bitPattern: 0x1) as Double)
            entity.properties.append(property)
        }
        do {
            let property = NSAttributeDescription()
            property.attributeType = .doubleAttributeType
            property.name = "p14"
            property.isOptional = false
            property.defaultValue = NSNumber(value: 1e+300 as Double)
            entity.properties.append(property)
        }
        do {
            let property = NSAttributeDescription()
            property.attributeType = .doubleAttributeType
            property.name = "p15"
            property.isOptional = false
            property.defaultValue = NSNumber(value: Double(bitPattern: 0x7ff8000000000000) as Double)
            entity.properties.append(property)
        }
        do {
            let property = NSAttributeDescription()
            property.attributeType = .doubleAttributeType
            property.name = "p16"
            property.isOptional = false
            property.defaultValue = NSNumber(value: Double(bitPattern: 0x7ff8000000000001) as Double)
            entity.properties.append(property)
        }
        do {
            let property = NSAttributeDescription()
            property.attributeType = .decimalAttributeType
            property.name = "p17"
            property.isOptional = false
            property.defaultValue = NSDecimalNumber(string: "-12345678901234567890.123456789")
            entity.properties.append(property)
        }
        do {
            let property = NSAttributeDescription()
            property.attributeType = .decimalAttributeType
            property.name = "p18"
            property.isOptional = false
            property.defaultValue = NSDecimalNumber(string: "12")
            entity.properties.append(property)
        }
        do {
            let property = NSAttributeDescription()
            property.attributeType = .stringAttributeType
            property.name = "p19"
            property.isOptional = false
            property.defaultValue = "á\"\\(x)\n\u{1}\u{202e}\u{2028}`*/😀"
            entity.properties.append(property)
        }
        do {
            let property = NSAttributeDescription()
            property.attributeType = .stringAttributeType
            property.name = "p20"
            property.isOptional = false
            property.defaultValue = ""
            entity.properties.append(property)
        }
        do {
            let property = NSAttributeDescription()
            property.attributeType = .binaryDataAttributeType
            property.name = "p21"
            property.isOptional = false
            property.defaultValue = Data([0x00, 0xff, 0x10])
            entity.properties.append(property)
        }
        do {
            let property = NSAttributeDescription()
            property.attributeType = .binaryDataAttributeType
            property.name = "p22"
            property.isOptional = false
            property.defaultValue = Data()
            entity.properties.append(property)
        }
        do {
            let property = NSAttributeDescription()
            property.attributeType = .binaryDataAttributeType
            property.name = "p23"
            property.isOptional = false
            property.defaultValue = Data(base64Encoded: "BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBw==") ?? Data()
            entity.properties.append(property)
        }
        do {
            let property = NSAttributeDescription()
            property.attributeType = .dateAttributeType
            property.name = "p24"
            property.isOptional = false
            property.defaultValue = Date(timeIntervalSinceReferenceDate: 791837694.25)
            entity.properties.append(property)
        }
        do {
            let property = NSAttributeDescription()
            property.attributeType = .dateAttributeType
            property.name = "p25"
            property.isOptional = false
            property.defaultValue = Date(timeIntervalSinceReferenceDate: -Double.infinity)
            entity.properties.append(property)
        }
        do {
            let property = NSAttributeDescription()
            property.attributeType = .UUIDAttributeType
            property.name = "p26"
            property.isOptional = false
            property.defaultValue = UUID(uuid: (0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08, 0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x0e, 0x0f, 0xff))
            entity.properties.append(property)
        }
        do {
            let property = NSAttributeDescription()
            property.attributeType = .URIAttributeType
            property.name = "p27"
            property.isOptional = false
            property.defaultValue = URL(string: "https://example.org/a?b=c") ?? URL(fileURLWithPath: "/")
            entity.properties.append(property)
        }
        do {
            let property = NSAttributeDescription()
            property.attributeType = .URIAttributeType
            property.name = "p28"
            property.isOptional = false
            entity.properties.append(property)
        }
        do {
            let property = NSAttributeDescription()
            property.attributeType = .binaryDataAttributeType
            property.name = "p29"
            property.isOptional = false
            entity.properties.append(property)
        }
        do {
            let property = NSAttributeDescription()
            property.attributeType = .binaryDataAttributeType
            property.name = "p30"
            property.isOptional = false
            entity.properties.append(property)
        }
        do {
            let property = NSAttributeDescription()
            property.attributeType = .booleanAttributeType
            property.name = "q0"
            property.isOptional = true
            property.defaultValue = true
            entity.properties.append(property)
        }
        do {
            let property = NSAttributeDescription()
            property.attributeType = .integer16AttributeType
            property.name = "q1"
            property.isOptional = true
            property.defaultValue = -128
            entity.properties.append(property)
        }
        do {
            let property = NSAttributeDescription()
            property.attributeType = .integer16AttributeType
            property.name = "q2"
            property.isOptional = true
            property.defaultValue = 32767
            entity.properties.append(property)
        }
        do {
            let property = NSAttributeDescription()
            property.attributeType = .integer32AttributeType
            property.name = "q3"
            property.isOptional = true
            property.defaultValue = 0
            entity.properties.append(property)
        }
        do {
            let property = NSAttributeDescription()
            property.attributeType = .integer64AttributeType
            property.name = "q4"
            property.isOptional = true
            property.defaultValue = -9223372036854775808
            entity.properties.append(property)
        }
        do {
            let property = NSAttributeDescription()
            property.attributeType = .integer16AttributeType
            property.name = "q5"
            property.isOptional = true
            property.defaultValue = 255
            entity.properties.append(property)
        }
        do {
            let property = NSAttributeDescription()
            property.attributeType = .integer32AttributeType
            property.name = "q6"
            property.isOptional = true
            property.defaultValue = 1
            entity.properties.append(property)
        }
        do {
            let property = NSAttributeDescription()
            property.attributeType = .integer64AttributeType
            property.name = "q7"
            property.isOptional = true
            property.defaultValue = 4294967295
            entity.properties.append(property)
        }
        do {
            let property = NSAttributeDescription()
            property.attributeType = .decimalAttributeType
            property.name = "q8"
            property.isOptional = true
            property.defaultValue = NSDecimalNumber(string: "18446744073709551615")
            entity.properties.append(property)
        }
        do {
            let property = NSAttributeDescription()
            property.attributeType = .floatAttributeType
            property.name = "q9"
            property.isOptional = true
            property.defaultValue = NSNumber(value: 0.1 as Float)
            entity.properties.append(property)
        }
        do {
            let property = NSAttributeDescription()
            property.attributeType = .floatAttributeType
            property.name = "q10"
            property.isOptional = true
            property.defaultValue = NSNumber(value: -Float.infinity as Float)
            entity.properties.append(property)
        }
        do {
            let property = NSAttributeDescription()
            property.attributeType = .floatAttributeType
            property.name = "q11"
            property.isOptional = true
            property.defaultValue = NSNumber(value: Float(bitPattern: 0x7fc00000) as Float)
            entity.properties.append(property)
        }
        do {
            let property = NSAttributeDescription()
            property.attributeType = .doubleAttributeType
            property.name = "q12"
            property.isOptional = true
            property.defaultValue = NSNumber(value: -0.0 as Double)
            entity.properties.append(property)
        }
        do {
            let property = NSAttributeDescription()
            property.attributeType = .doubleAttributeType
            property.name = "q13"
            property.isOptional = true
            property.defaultValue = NSNumber(value: Double(bitPattern: 0x1) as Double)
            entity.properties.append(property)
        }
        do {
            let property = NSAttributeDescription()
            property.attributeType = .doubleAttributeType
            property.name = "q14"
            property.isOptional = true
            property.defaultValue = NSNumber(value: 1e+300 as Double)
            entity.properties.append(property)
        }
        do {
            let property = NSAttributeDescription()
            property.attributeType = .doubleAttributeType
            property.name = "q15"
            property.isOptional = true
            property.defaultValue = NSNumber(value: Double(bitPattern: 0x7ff8000000000000) as Double)
            entity.properties.append(property)
        }
        do {
            let property = NSAttributeDescription()
            property.attributeType = .doubleAttributeType
            property.name = "q16"
            property.isOptional = true
            property.defaultValue = NSNumber(value: Double(bitPattern: 0x7ff8000000000001) as Double)
            entity.properties.append(property)
        }
        do {
            let property = NSAttributeDescription()
            property.attributeType = .decimalAttributeType
            property.name = "q17"
            property.isOptional = true
            property.defaultValue = NSDecimalNumber(string: "-12345678901234567890.123456789")
            entity.properties.append(property)
        }
        do {
            let property = NSAttributeDescription()
            property.attributeType = .decimalAttributeType
            property.name = "q18"
            property.isOptional = true
            property.defaultValue = NSDecimalNumber(string: "12")
            entity.properties.append(property)
        }
        do {
            let property = NSAttributeDescription()
            property.attributeType = .stringAttributeType
            property.name = "q19"
            property.isOptional = true
            property.defaultValue = "á\"\\(x)\n\u{1}\u{202e}\u{2028}`*/😀"
            entity.properties.append(property)
        }
        do {
            let property = NSAttributeDescription()
            property.attributeType = .stringAttributeType
            property.name = "q20"
            property.isOptional = true
            property.defaultValue = ""
            entity.properties.append(property)
        }
        do {
            let property = NSAttributeDescription()
            property.attributeType = .binaryDataAttributeType
            property.name = "q21"
            property.isOptional = true
            property.defaultValue = Data([0x00, 0xff, 0x10])
            entity.properties.append(property)
        }
        do {
            let property = NSAttributeDescription()
            property.attributeType = .binaryDataAttributeType
            property.name = "q22"
            property.isOptional = true
            property.defaultValue = Data()
            entity.properties.append(property)
        }
        do {
            let property = NSAttributeDescription()
            property.attributeType = .binaryDataAttributeType
            property.name = "q23"
            property.isOptional = true
            property.defaultValue = Data(base64Encoded: "BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBw==") ?? Data()
            entity.properties.append(property)
        }
        do {
            let property = NSAttributeDescription()
            property.attributeType = .dateAttributeType
            property.name = "q24"
            property.isOptional = true
            property.defaultValue = Date(timeIntervalSinceReferenceDate: 791837694.25)
            entity.properties.append(property)
        }
        do {
            let property = NSAttributeDescription()
            property.attributeType = .dateAttributeType
            property.name = "q25"
            property.isOptional = true
            property.defaultValue = Date(timeIntervalSinceReferenceDate: -Double.infinity)
            entity.properties.append(property)
        }
        do {
            let property = NSAttributeDescription()
            property.attributeType = .UUIDAttributeType
            property.name = "q26"
            property.isOptional = true
            property.defaultValue = UUID(uuid: (0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08, 0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x0e, 0x0f, 0xff))
            entity.properties.append(property)
        }
        do {
            let property = NSAttributeDescription()
            property.attributeType = .URIAttributeType
            property.name = "q27"
            property.isOptional = true
            property.defaultValue = URL(string: "https://example.org/a?b=c") ?? URL(fileURLWithPath: "/")
            entity.properties.append(property)
        }
        do {
            let property = NSAttributeDescription()
            property.attributeType = .URIAttributeType
            property.name = "q28"
            property.isOptional = true
            entity.properties.append(property)
        }
        do {
            let property = NSAttributeDescription()
            property.attributeType = .binaryDataAttributeType
            property.name = "q29"
            property.isOptional = true
            entity.properties.append(property)
        }
        do {
            let property = NSAttributeDescription()
            property.attributeType = .binaryDataAttributeType
            property.name = "q30"
            property.isOptional = true
            entity.properties.append(property)
        }
        do {
            let property = NSAttributeDescription()
            property.attributeType = .booleanAttributeType
            property.name = "rbool"
            property.isOptional = false
            entity.properties.append(property)
        }
        do {
            let property = NSAttributeDescription()
            property.attributeType = .integer16AttributeType
            property.name = "rint8"
            property.isOptional = false
            entity.properties.append(property)
        }
        do {
            let property = NSAttributeDescription()
            property.attributeType = .integer16AttributeType
            property.name = "rint16"
            property.isOptional = false
            entity.properties.append(property)
        }
        do {
            let property = NSAttributeDescription()
            property.attributeType = .integer32AttributeType
            property.name = "rint32"
            property.isOptional = false
            entity.properties.append(property)
        }
        do {
            let property = NSAttributeDescription()
            property.attributeType = .integer64AttributeType
            property.name = "rint64"
            property.isOptional = false
            entity.properties.append(property)
        }
        do {
            let property = NSAttributeDescription()
            property.attributeType = .integer16AttributeType
            property.name = "ruint8"
            property.isOptional = false
            entity.properties.append(property)
        }
        do {
            let property = NSAttributeDescription()
            property.attributeType = .integer32AttributeType
            property.name = "ruint16"
            property.isOptional = false
            entity.properties.append(property)
        }
        do {
            let property = NSAttributeDescription()
            property.attributeType = .integer64AttributeType
            property.name = "ruint32"
            property.isOptional = false
            entity.properties.append(property)
        }
        do {
            let property = NSAttributeDescription()
            property.attributeType = .decimalAttributeType
            property.name = "ruint64"
            property.isOptional = false
            entity.properties.append(property)
        }
        do {
            let property = NSAttributeDescription()
            property.attributeType = .floatAttributeType
            property.name = "rfloat"
            property.isOptional = false
            entity.properties.append(property)
        }
        do {
            let property = NSAttributeDescription()
            property.attributeType = .doubleAttributeType
            property.name = "rdouble"
            property.isOptional = false
            entity.properties.append(property)
        }
        do {
            let property = NSAttributeDescription()
            property.attributeType = .decimalAttributeType
            property.name = "rdecimal"
            property.isOptional = false
            entity.properties.append(property)
        }
        do {
            let property = NSAttributeDescription()
            property.attributeType = .stringAttributeType
            property.name = "rstring"
            property.isOptional = false
            entity.properties.append(property)
        }
        do {
            let property = NSAttributeDescription()
            property.attributeType = .binaryDataAttributeType
            property.name = "rdata"
            property.isOptional = false
            entity.properties.append(property)
        }
        do {
            let property = NSAttributeDescription()
            property.attributeType = .dateAttributeType
            property.name = "rdate"
            property.isOptional = false
            entity.properties.append(property)
        }
        do {
            let property = NSAttributeDescription()
            property.attributeType = .UUIDAttributeType
            property.name = "ruuid"
            property.isOptional = false
            entity.properties.append(property)
        }
        do {
            let property = NSAttributeDescription()
            property.attributeType = .URIAttributeType
            property.name = "rurl"
            property.isOptional = false
            entity.properties.append(property)
        }
        do {
            let property = NSAttributeDescription()
            property.attributeType = .binaryDataAttributeType
            property.name = "rcoded"
            property.isOptional = false
            entity.properties.append(property)
        }
        do {
            let property = NSAttributeDescription()
            property.attributeType = .booleanAttributeType
            property.name = "obool"
            property.isOptional = true
            entity.properties.append(property)
        }
        do {
            let property = NSAttributeDescription()
            property.attributeType = .integer16AttributeType
            property.name = "oint8"
            property.isOptional = true
            entity.properties.append(property)
        }
        do {
            let property = NSAttributeDescription()
            property.attributeType = .integer16AttributeType
            property.name = "oint16"
            property.isOptional = true
            entity.properties.append(property)
        }
        do {
            let property = NSAttributeDescription()
            property.attributeType = .integer32AttributeType
            property.name = "oint32"
            property.isOptional = true
            entity.properties.append(property)
        }
        do {
            let property = NSAttributeDescription()
            property.attributeType = .integer64AttributeType
            property.name = "oint64"
            property.isOptional = true
            entity.properties.append(property)
        }
        do {
            let property = NSAttributeDescription()
            property.attributeType = .integer16AttributeType
            property.name = "ouint8"
            property.isOptional = true
            entity.properties.append(property)
        }
        do {
            let property = NSAttributeDescription()
            property.attributeType = .integer32AttributeType
            property.name = "ouint16"
            property.isOptional = true
            entity.properties.append(property)
        }
        do {
            let property = NSAttributeDescription()
            property.attributeType = .integer64AttributeType
            property.name = "ouint32"
            property.isOptional = true
            entity.properties.append(property)
        }
        do {
            let property = NSAttributeDescription()
            property.attributeType = .decimalAttributeType
            property.name = "ouint64"
            property.isOptional = true
            entity.properties.append(property)
        }
        do {
            let property = NSAttributeDescription()
            property.attributeType = .floatAttributeType
            property.name = "ofloat"
            property.isOptional = true
            entity.properties.append(property)
        }
        do {
            let property = NSAttributeDescription()
            property.attributeType = .doubleAttributeType
            property.name = "odouble"
            property.isOptional = true
            entity.properties.append(property)
        }
        do {
            let property = NSAttributeDescription()
            property.attributeType = .decimalAttributeType
            property.name = "odecimal"
            property.isOptional = true
            entity.properties.append(property)
        }
        do {
            let property = NSAttributeDescription()
            property.attributeType = .stringAttributeType
            property.name = "ostring"
            property.isOptional = true
            entity.properties.append(property)
        }
        do {
            let property = NSAttributeDescription()
            property.attributeType = .binaryDataAttributeType
            property.name = "odata"
            property.isOptional = true
            entity.properties.append(property)
        }
        do {
            let property = NSAttributeDescription()
            property.attributeType = .dateAttributeType
            property.name = "odate"
            property.isOptional = true
            entity.properties.append(property)
        }
        do {
            let property = NSAttributeDescription()
            property.attributeType = .UUIDAttributeType
            property.name = "ouuid"
            property.isOptional = true
            entity.properties.append(property)
        }
        do {
            let property = NSAttributeDescription()
            property.attributeType = .URIAttributeType
            property.name = "ourl"
            property.isOptional = true
            entity.properties.append(property)
        }
        do {
            let property = NSAttributeDescription()
            property.attributeType = .binaryDataAttributeType
            property.name = "ocoded"
            property.isOptional = true
            entity.properties.append(property)
        }
    }

    private static func describe2(_ entities: [String: NSEntityDescription]) {
        guard let entity = entities["Event"] else { return }
        entity.isAbstract = true
        do {
            let property = NSAttributeDescription()
            property.attributeType = .UUIDAttributeType
            property.name = "id"
            property.isOptional = false
            entity.properties.append(property)
        }
        entity.uniquenessConstraints = [["id"]] as [[String]]
    }

    private static func describe3(_ entities: [String: NSEntityDescription]) {
        guard let entity = entities["Label"] else { return }
        do {
            let property = NSRelationshipDescription()
            property.name = "trips"
            property.destinationEntity = entities["Trip"]
            property.deleteRule = .noActionDeleteRule
            property.isOptional = true
            property.minCount = 0
            property.maxCount = 0
            entity.properties.append(property)
        }
    }

    private static func describe4(_ entities: [String: NSEntityDescription]) {
        guard let entity = entities["Night"] else { return }
        if let parent = entities["Bus"] { parent.subentities.append(entity) }
    }

    private static func describe5(_: [String: NSEntityDescription]) {}

    private static func describe6(_ entities: [String: NSEntityDescription]) {
        guard let entity = entities["Passport"] else { return }
        do {
            let property = NSRelationshipDescription()
            property.name = "trip"
            property.isOptional = true
            property.destinationEntity = entities["Trip"]
            property.deleteRule = .nullifyDeleteRule
            property.minCount = 0
            property.maxCount = 1
            entity.properties.append(property)
        }
    }

    private static func describe7(_ entities: [String: NSEntityDescription]) {
        guard let entity = entities["Traveler"] else { return }
        do {
            let property = NSRelationshipDescription()
            property.name = "trips"
            property.destinationEntity = entities["Trip"]
            property.deleteRule = .cascadeDeleteRule
            property.isOptional = true
            property.minCount = 0
            property.maxCount = 0
            entity.properties.append(property)
        }
        do {
            let property = NSRelationshipDescription()
            property.name = "led"
            property.destinationEntity = entities["Trip"]
            property.deleteRule = .nullifyDeleteRule
            property.isOptional = true
            property.minCount = 0
            property.maxCount = 0
            entity.properties.append(property)
        }
        do {
            let property = NSRelationshipDescription()
            property.name = "maybe"
            property.destinationEntity = entities["Label"]
            property.deleteRule = .nullifyDeleteRule
            property.isOptional = true
            property.minCount = 0
            property.maxCount = 0
            entity.properties.append(property)
        }
    }

    private static func describe8(_ entities: [String: NSEntityDescription]) {
        guard let entity = entities["Trip"] else { return }
        if let parent = entities["Event"] { parent.subentities.append(entity) }
        entity.renamingIdentifier = "Journey"
        entity.versionHashModifier = "2"
        do {
            let property = NSAttributeDescription()
            property.attributeType = .stringAttributeType
            property.name = "kind"
            property.isOptional = false
            property.defaultValue = "bus"
            entity.properties.append(property)
        }
        do {
            let property = NSAttributeDescription()
            property.attributeType = .stringAttributeType
            property.name = "other"
            property.isOptional = true
            entity.properties.append(property)
        }
        do {
            let property = NSAttributeDescription()
            property.attributeType = .integer64AttributeType
            property.name = "rank"
            property.isOptional = false
            property.defaultValue = -3
            entity.properties.append(property)
        }
        do {
            let property = NSAttributeDescription()
            property.attributeType = .doubleAttributeType
            property.name = "cost"
            property.renamingIdentifier = "price \"of\" all"
            property.versionHashModifier = "m\n"
            property.isOptional = true
            entity.properties.append(property)
        }
        do {
            let property = NSAttributeDescription()
            property.attributeType = .binaryDataAttributeType
            property.name = "place"
            property.isOptional = false
            entity.properties.append(property)
        }
        do {
            let property = NSAttributeDescription()
            property.attributeType = .binaryDataAttributeType
            property.name = "again"
            property.isOptional = false
            entity.properties.append(property)
        }
        do {
            let property = NSAttributeDescription()
            property.attributeType = .binaryDataAttributeType
            property.name = "strange"
            property.isOptional = false
            entity.properties.append(property)
        }
        do {
            let property = NSAttributeDescription()
            property.attributeType = .transformableAttributeType
            property.name = "picture"
            property.isOptional = true
            property.allowsExternalBinaryDataStorage = true
            property.valueTransformerName = "Picture\"Transformer"
            entity.properties.append(property)
        }
        do {
            let property = NSAttributeDescription()
            property.attributeType = .integer64AttributeType
            property.name = "cache"
            property.isOptional = false
            property.isTransient = true
            property.preservesValueInHistoryOnDeletion = true
            property.isIndexedBySpotlight = true
            property.allowsCloudEncryption = true
            entity.properties.append(property)
        }
        do {
            let property = NSAttributeDescription()
            property.attributeType = .decimalAttributeType
            property.name = "big"
            property.isOptional = false
            entity.properties.append(property)
        }
        do {
            let property = NSAttributeDescription()
            property.attributeType = .binaryDataAttributeType
            property.name = "flag"
            property.isOptional = false
            entity.properties.append(property)
        }
        do {
            let property = NSRelationshipDescription()
            property.name = "traveler"
            property.isOptional = true
            property.destinationEntity = entities["Traveler"]
            property.deleteRule = .denyDeleteRule
            property.minCount = 0
            property.maxCount = 1
            entity.properties.append(property)
        }
        do {
            let property = NSRelationshipDescription()
            property.name = "guide"
            property.renamingIdentifier = "leader"
            property.isOptional = false
            property.destinationEntity = entities["Traveler"]
            property.deleteRule = .nullifyDeleteRule
            property.minCount = 1
            property.maxCount = 1
            entity.properties.append(property)
        }
        do {
            let property = NSRelationshipDescription()
            property.name = "labels"
            property.versionHashModifier = "b"
            property.destinationEntity = entities["Label"]
            property.deleteRule = .nullifyDeleteRule
            property.isOptional = false
            property.minCount = 1
            property.maxCount = 9
            property.isOrdered = true
            entity.properties.append(property)
        }
        do {
            let property = NSRelationshipDescription()
            property.name = "passport"
            property.isOptional = true
            property.destinationEntity = entities["Passport"]
            property.deleteRule = .nullifyDeleteRule
            property.minCount = 0
            property.maxCount = 1
            entity.properties.append(property)
        }
        do {
            let property = NSRelationshipDescription()
            property.name = "parent"
            property.isOptional = true
            property.destinationEntity = entities["Trip"]
            property.deleteRule = .nullifyDeleteRule
            property.minCount = 0
            property.maxCount = 1
            entity.properties.append(property)
        }
        do {
            let property = NSRelationshipDescription()
            property.name = "children"
            property.destinationEntity = entities["Trip"]
            property.deleteRule = .cascadeDeleteRule
            property.isOptional = true
            property.minCount = 0
            property.maxCount = 0
            entity.properties.append(property)
        }
        entity.uniquenessConstraints = [["passport"], ["kind", "cost"], ["rank"]] as [[String]]
        addIndex(entity, "index0", ["cost", "kind"], .binary)
        addIndex(entity, "index1", ["id", "kind"], .rTree)
    }

    private static func link(
        _ entities: [String: NSEntityDescription], _ entity: String, _ property: String, _ destination: String, _ inverse: String
    ) {
        let back = entities[destination]?.relationshipsByName[inverse]
        entities[entity]?.relationshipsByName[property]?.inverseRelationship = back
    }

    private static func addIndex(
        _ entity: NSEntityDescription, _ name: String, _ properties: [String], _ type: NSFetchIndexElementType
    ) {
        let elements = properties.compactMap { name in
            entity.propertiesByName[name].map { NSFetchIndexElementDescription(property: $0, collationType: type) }
        }
        entity.indexes.append(NSFetchIndexDescription(name: name, elements: elements))
    }
}
#endif
