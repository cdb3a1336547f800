import CustomStore
import Foundation
import Mortise
import Testing

@Model private final class Dial {
    @Attribute(.unique) var level: Double
    @Attribute(.unique) var drift: Float?
    @Attribute(.unique) var read: Date?
    var note: String
    init(_ note: String, level: Double, drift: Float? = nil, read: Date? = nil) {
        (self.note, self.level, self.drift, self.read) = (note, level, drift, read)
    }
}

/// Values that are equal without being the same, and values that are equal to nothing.
@Suite struct UniqueValueTests {
    private static let stores = StoreKinds.versioned + ["csv"] + StoreKinds.sqlite
    private let folder: Folder

    init() throws { folder = try Folder() }

    private func container(_ kind: String) throws -> ModelContainer {
        guard kind == "csv" else {
            return try ModelContainer(
                for: Dial.self,
                store: kind == "memory" ? "memory:\(UUID())" : "\(kind):\(folder.path("dials.\(kind)"))")
        }
        try FileManager.default.createDirectory(atPath: folder.path("dials"), withIntermediateDirectories: true)
        return try ModelContainer(
            for: Dial.self, configurations: CSVConfiguration(folder: URL(fileURLWithPath: folder.path("dials"))))
    }

    private func notes(_ container: ModelContainer) throws -> [String] {
        try ModelContext(container).fetch(FetchDescriptor<Dial>()).map(\.note).sorted()
    }

    private enum Zero: CaseIterable {
        case double, float, date

        var property: String {
            switch self {
            case .double: "level"
            case .float: "drift"
            case .date: "read"
            }
        }

        func dial(_ note: String, isNegative: Bool) -> Dial {
            let dial = Dial(note, level: Double(note.utf8.count))
            set(dial, isNegative: isNegative)
            return dial
        }

        func set(_ dial: Dial, isNegative: Bool) {
            switch self {
            case .double: dial.level = isNegative ? -0.0 : 0
            case .float: dial.drift = isNegative ? -0.0 : 0
            case .date: dial.read = Date(timeIntervalSinceReferenceDate: isNegative ? -0.0 : 0)
            }
        }
    }

    /// Bug: the context told the zeros apart, and the store did not.
    @Test(arguments: stores, Zero.allCases) private func bothZerosAreOneValue(_ kind: String, _ zero: Zero) throws {
        let container = try container(kind)
        let context = ModelContext(container)
        let first = zero.dial("a", isNegative: true)
        context.insert(first)
        context.insert(zero.dial("bb", isNegative: false))
        try context.save()
        #expect(try notes(container) == ["bb"])
        context.insert(zero.dial("ccc", isNegative: true))
        try context.save()
        #expect(try notes(container) == ["ccc"])
        func isNotUnique(_ error: any Error) -> Bool {
            guard
                case .notUnique("Dial", [zero.property], _, _, first.persistentModelID)? = error as? ModelContextError
            else { return false }
            return true
        }
        let strict = zero.dial("dddd", isNegative: false)
        context.insert(strict, onConflict: .fail)
        #expect { try context.save() } throws: { isNotUnique($0) }
        context.rollback()
        let other = Dial("eeeee", level: 5)
        context.insert(other)
        try context.save()
        for isNegative in [false, true] {
            zero.set(other, isNegative: isNegative)
            #expect { try context.save() } throws: { isNotUnique($0) }
        }
        context.rollback()
        // Several in one batch, and one that is stored.
        try context.insert(Dial.self, from: [false, true]) { dial, isNegative in
            let filled = zero.dial("ffffff", isNegative: isNegative)
            try dial.set(\.level, to: filled.level)
            try dial.set(\.drift, to: filled.drift)
            try dial.set(\.read, to: filled.read)
            try dial.set(\.note, to: filled.note)
        }
        #expect(try notes(container) == ["eeeee", "ffffff"])
    }

    /// Bug: all that are not a number were one value in an engine's index, and one for each pattern of bits in a context.
    @Test(arguments: stores, UniqueConflictPolicy.allCases)
    func whatIsNotANumberConflictsWithNothing(_ kind: String, _ policy: UniqueConflictPolicy) throws {
        var container = try container(kind)
        var context = ModelContext(container)
        let never = Date(timeIntervalSinceReferenceDate: .nan)
        func insert(_ note: String) throws {
            for number in [Double.nan, -.nan, .signalingNaN] {
                context.insert(Dial(note, level: number, drift: .nan, read: never), onConflict: policy)
            }
            try context.save()
        }
        try insert("a")
        try insert("b")
        #expect(try notes(container) == ["a", "a", "a", "b", "b", "b"])
        #expect(try context.first(Dial.self, where: \.level, is: .nan) == nil)
        let number = Dial("c", level: 1)
        context.insert(number)
        try context.save()
        number.level = .nan
        try context.save()
        try context.insert(Dial.self, from: [Double.nan, .nan]) { dial, level in
            try dial.set(\.level, to: level)
            try dial.set(\.note, to: "d")
        }
        let all = ["a", "a", "a", "b", "b", "b", "c", "d", "d"]
        #expect(try notes(container) == all)
        guard kind != "memory" else { return }
        try container.close()
        container = try self.container(kind)
        context = ModelContext(container)
        #expect(try notes(container) == all)
        try insert("e")
        #expect(try notes(container) == all + ["e", "e", "e"])
        if kind != "csv" { #expect(try container.verify().allSatisfy { $0.report.problems.isEmpty }) }
    }
}
