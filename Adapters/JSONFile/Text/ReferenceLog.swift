/// The references of all records in the order in which they were met, kept small until every record is known: a few
/// bits for each digit of the text.
struct ReferenceLog {
    /// For each entity, for each slot kept in the file, the references of its records one after another: for a to-one
    /// relationship 0 or the target + 1, for a to-many relationship the number of targets and then these.
    private var bytes: [[ContiguousArray<UInt8>]]

    init(_ plan: DocumentPlan) {
        bytes = plan.entities.map { Array(repeating: [], count: $0.slots.count) }
    }

    /// Adds the target of a to-one relationship.
    @inline(__always) mutating func append(toOne target: UInt64?, entity: Int, slot: Int) {
        // A target is below some other number, so that one more fits.
        append(target.map { $0 &+ 1 } ?? 0, entity: entity, slot: slot)
    }

    /// Adds the targets of a to-many relationship.
    mutating func append(toMany targets: ContiguousArray<UInt64>, entity: Int, slot: Int) {
        append(UInt64(targets.count), entity: entity, slot: slot)
        for target in targets { append(target, entity: entity, slot: slot) }
    }

    @inline(__always) private mutating func append(_ number: UInt64, entity: Int, slot: Int) {
        var rest = number
        while rest >= 0x80 {
            bytes[entity][slot].append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes[entity][slot].append(UInt8(truncatingIfNeeded: rest))
    }

    /// Reads the numbers of one slot from the start.
    func numbers(entity: Int, slot: Int) -> Numbers { Numbers(bytes: bytes[entity][slot]) }

    struct Numbers {
        let bytes: ContiguousArray<UInt8>
        var index = 0

        init(bytes: ContiguousArray<UInt8>) { self.bytes = bytes }

        /// The next number; 0 after the last.
        mutating func next() -> UInt64 {
            var value: UInt64 = 0
            var shift: UInt64 = 0
            while index < bytes.count {
                let byte = bytes[index]
                index &+= 1
                value |= UInt64(byte & 0x7F) << shift
                if byte < 0x80 { break }
                shift &+= 7
            }
            return value
        }
    }
}
