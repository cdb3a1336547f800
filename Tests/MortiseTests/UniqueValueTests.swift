import CustomStore
import Foundation
import Mortise
import Testing

@Model private final class Gauge {
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
                for: Gauge.self,
                store: kind == "memory" ? "memory:\(UUID())" : "\(kind):\(folder.path("gauges.\(kind)"))")
        }
        try FileManager.default.createDirectory(atPath: folder.path("gauges"), withIntermediateDirectories: true)
        return try ModelContainer(
            for: Gauge.self, configurations: CSVConfiguration(folder: URL(fileURLWithPath: folder.path("gauges"))))
    }

    private func notes(_ container: ModelContainer) throws -> [String] {
        try ModelContext(container).fetch(FetchDescriptor<Gauge>()).map(\.note).sorted()
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

        func gauge(_ note: String, isNegative: Bool) -> Gauge {
            let gauge = Gauge(note, level: Double(note.utf8.count))
            set(gauge, isNegative: isNegative)
            return gauge
        }

        func set(_ gauge: Gauge, isNegative: Bool) {
            switch self {
            case .double: gauge.level = isNegative ? -0.0 : 0
            case .float: gauge.drift = isNegative ? -0.0 : 0
            case .date: gauge.read = Date(timeIntervalSinceReferenceDate: isNegative ? -0.0 : 0)
            }
        }
    }

    /// Bug: the context told the zeros apart, and the store did not.
    @Test(arguments: stores, Zero.allCases) private func bothZerosAreOneValue(_ kind: String, _ zero: Zero) throws {
        let container = try container(kind)
        let context = ModelContext(container)
        let first = zero.gauge("a", isNegative: true)
        context.insert(first)
        context.insert(zero.gauge("bb", isNegative: false))
        try context.save()
        #expect(try notes(container) == ["bb"])
        context.insert(zero.gauge("ccc", isNegative: true))
        try context.save()
        #expect(try notes(container) == ["ccc"])
        func isNotUnique(_ error: any Error) -> Bool {
            guard
                case .notUnique("Gauge", [zero.property], _, _, first.persistentModelID)? = error as? ModelContextError
            else { return false }
            return true
        }
        let strict = zero.gauge("dddd", isNegative: false)
        context.insert(strict, onConflict: .fail)
        #expect { try context.save() } throws: { isNotUnique($0) }
        context.rollback()
        let other = Gauge("eeeee", level: 5)
        context.insert(other)
        try context.save()
        for isNegative in [false, true] {
            zero.set(other, isNegative: isNegative)
            #expect { try context.save() } throws: { isNotUnique($0) }
        }
        context.rollback()
        // Several in one batch, and one that is stored.
        try context.insert(Gauge.self, from: [false, true]) { gauge, isNegative in
            let filled = zero.gauge("ffffff", isNegative: isNegative)
            try gauge.set(\.level, to: filled.level)
            try gauge.set(\.drift, to: filled.drift)
            try gauge.set(\.read, to: filled.read)
            try gauge.set(\.note, to: filled.note)
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
                context.insert(Gauge(note, level: number, drift: .nan, read: never), onConflict: policy)
            }
            try context.save()
        }
        try insert("a")
        try insert("b")
        #expect(try notes(container) == ["a", "a", "a", "b", "b", "b"])
        #expect(try context.first(Gauge.self, where: \.level, is: .nan) == nil)
        let number = Gauge("c", level: 1)
        context.insert(number)
        try context.save()
        number.level = .nan
        try context.save()
        try context.insert(Gauge.self, from: [Double.nan, .nan]) { gauge, level in
            try gauge.set(\.level, to: level)
            try gauge.set(\.note, to: "d")
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
