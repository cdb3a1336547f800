import MortiseCore
import MortiseEngine

/// The layout of a schema's records in a document, computed once for reader and writer. Users of its slots must keep it
/// alive.
final class DocumentPlan {
    /// The key of a record's number.
    static let identifierKey = "$id"
    /// How many arrays and objects are open around the values of a record.
    static let recordDepth = 4

    /// One slot that is kept in the file. Copying it counts no references.
    struct Slot {
        /// The slot's number in the layout.
        let index: Int
        let content: Content
        let isOptional: Bool
        /// The text between the previous value and this one, ready to be written or compared; owned by the plan,
        /// followed by `JSONWriter.shortRoom` readable bytes.
        let prefix: UnsafeRawBufferPointer
    }

    enum Content {
        case attribute(StorageKind)
        case toOne(destination: Int)
        case toMany(destination: Int)
    }

    struct Entity {
        let name: String
        let layout: RecordLayout
        let slots: ContiguousArray<Slot>
        /// The name of each of `slots`.
        let names: [String]
        /// The position in `slots` of each slot of the layout; nil for slots that are not stored.
        let positions: [Int?]
        /// What the slots that are not kept hold after reading.
        let absentValues: [(index: Int, value: StoredValue)]
        /// The entity that it inherits from.
        let parent: Int?
        /// The entity and everything that inherits from it.
        let members: [Int]
    }

    /// The entities in the order of the document.
    let entities: [Entity]
    /// Whether a reference alone does not tell the entity of the record that it leads to.
    let hasPolymorphicReferences: Bool
    private let indices: [String: Int]
    private let prefixes: PrefixMemory

    /// The plan of a schema without entities.
    init() {
        entities = []
        hasPolymorphicReferences = false
        indices = [:]
        prefixes = PrefixMemory()
    }

    /// - Throws: `StoredSchemaFault`.
    init(_ schema: StoredSchema) throws(StoredSchemaFault) {
        try schema.check(.document, reservedName: Self.identifierKey)
        let layouts = schema.recordLayouts()
        let indices = Dictionary(
            schema.entities.indices.map { (schema.entities[$0].name, $0) }, uniquingKeysWith: { first, _ in first })
        let parents = schema.entities.map { $0.superentity.flatMap { indices[$0] } }
        var members: [[Int]] = Array(repeating: [], count: parents.count)
        for index in parents.indices {
            var next: Int? = index
            while let current = next {
                members[current].append(index)
                next = parents[current]
            }
        }
        let prefixes = PrefixMemory()
        var entities: [Entity] = []
        for (index, entity) in schema.entities.enumerated() {
            guard let layout = layouts[entity.name] else { continue }
            entities.append(
                Entity(layout, parent: parents[index], members: members[index], indices: indices, prefixes: prefixes))
        }
        self.entities = entities
        self.indices = indices
        self.prefixes = prefixes
        hasPolymorphicReferences = entities.contains { entity in
            entity.slots.contains { slot in
                switch slot.content {
                case .attribute: false
                case .toOne(let destination), .toMany(let destination): members[destination].count > 1
                }
            }
        }
    }

    /// Whether an entity is another one, or inherits from it.
    func isEntity(_ entity: Int, under ancestor: Int) -> Bool {
        var next: Int? = entity
        while let current = next {
            if current == ancestor { return true }
            next = entities[current].parent
        }
        return false
    }

    /// The number of the entity with that name.
    func index(of name: String) -> Int? { indices[name] }
}

extension DocumentPlan {
    /// Owns the prefixes of all slots.
    fileprivate final class PrefixMemory {
        private var pieces: [UnsafeMutableRawBufferPointer] = []

        func add(_ text: String) -> UnsafeRawBufferPointer {
            let count = text.utf8.count
            let piece = UnsafeMutableRawBufferPointer.allocate(
                byteCount: count + JSONWriter.shortRoom, alignment: 1)
            piece.initializeMemory(as: UInt8.self, repeating: 0)
            piece.copyBytes(from: text.utf8)
            pieces.append(piece)
            return UnsafeRawBufferPointer(rebasing: piece[..<count])
        }

        deinit { pieces.forEach { $0.deallocate() } }
    }
}

extension DocumentPlan.Entity {
    fileprivate init(
        _ layout: RecordLayout, parent: Int?, members: [Int], indices: [String: Int],
        prefixes: DocumentPlan.PrefixMemory
    ) {
        var names: [String] = []
        var slots: ContiguousArray<DocumentPlan.Slot> = []
        var positions: [Int?] = []
        var absent: [(index: Int, value: StoredValue)] = []
        for (index, slot) in layout.slots.enumerated() {
            var content: DocumentPlan.Content?
            if let attribute = slot.property.attribute {
                if attribute.options.contains(.ephemeral) {
                    absent.append((index, attribute.defaultValue ?? .null))
                } else {
                    content = .attribute(attribute.kind)
                }
            } else if let relationship = slot.property.relationship, let destination = indices[relationship.destination]
            {
                switch slot.role {
                case .toOne: content = .toOne(destination: destination)
                case .toManyStored: content = .toMany(destination: destination)
                case .toManyDerived, .attribute: absent.append((index, .identifiers([])))
                }
            }
            positions.append(content == nil ? nil : slots.count)
            guard let content else { continue }
            names.append(slot.name)
            slots.append(
                DocumentPlan.Slot(
                    index: index, content: content, isOptional: slot.property.isOptional,
                    prefix: prefixes.add(", \(JSONWriter.quoted(slot.name)): ")))
        }
        self.init(
            name: layout.entityName, layout: layout, slots: slots, names: names, positions: positions,
            absentValues: absent, parent: parent, members: members)
    }
}
