import SwiftData

// Calls everything that the compatibility sources offer, in memory and through their own store, and checks the answers.

struct CheckFailure: Error, CustomStringConvertible {
    var description: String
}

final class Checks {
    private(set) var count = 0

    func expect<T: Equatable>(_ found: T, _ wanted: T, _ what: String) throws {
        guard found == wanted else { throw CheckFailure(description: "\(what): found \(found), wanted \(wanted)") }
        count += 1
    }
}

@main
struct ObservatoryDriver {
    static func main() async throws {
        let checks = Checks()
        try await queries(checks)
        try archive(checks, folder: URL(fileURLWithPath: CommandLine.arguments[1]))
        print("\(checks.count) checks passed")
    }

    static func populate(_ context: ModelContext) throws {
        let paranal = Site(code: "309", name: "Cerro Paranal", altitude: 2635)
        let calar = Site(code: "493", name: "Calar Alto", altitude: 2168)
        let vlt = Telescope(name: "Antu", aperture: 8.2, site: paranal)
        let small = Telescope(name: "SPECULOOS", aperture: 1.0, site: paranal)
        let big = Telescope(name: "3.5 m", aperture: 3.5, site: calar)
        for model in [vlt, small, big] { context.insert(model) }
        let night = Night(date: Date(timeIntervalSinceReferenceDate: 1000), seeing: 0.8, telescope: vlt)
        let cloudy = Night(date: Date(timeIntervalSinceReferenceDate: 2000), weather: .cloudy, telescope: vlt)
        context.insert(night)
        context.insert(cloudy)
        let m31 = Target(catalogNumber: "M31", magnitude: 3.44)
        let m33 = Target(catalogNumber: "M33", magnitude: 5.72)
        context.insert(m31)
        context.insert(m33)
        for serial in 0..<4 {
            let exposure = Exposure(
                serial: serial, seconds: Double(serial) * 40,
                position: SkyPosition(rightAscension: 10.7, declination: 41.3),
                filters: serial % 2 == 0 ? ["B", "V"] : ["R"], night: night)
            exposure.targets = [m31]
            exposure.header = ["OBSERVER": "n"]
            context.insert(exposure)
        }
        try context.save()
    }

    static func queries(_ checks: Checks) async throws {
        let observatory = try Observatory(inMemory: true)
        let context = ModelContext(observatory.container)
        let saves = Saves()
        let observer = observatory.observeSaves(of: context) { _ in saves.add() }
        defer { NotificationCenter.default.removeObserver(observer) }
        try populate(context)
        try checks.expect(saves.count, 1, "saves observed")
        try checks.expect(
            try observatory.bigTelescopes(over: 3, in: context).map(\.label), ["Antu (8.2 m)", "3.5 m (3.5 m)"],
            "big telescopes")
        try checks.expect(
            try observatory.usableNights(since: Date(timeIntervalSinceReferenceDate: 0), in: context).count, 1,
            "usable nights")
        try checks.expect(
            try observatory.exposures(through: "B", minimumSeconds: 50, in: context), 1, "exposures through B")
        try checks.expect(try observatory.telescopesThatSaw("M31", in: context).count, 1, "who saw M31")
        try checks.expect(try observatory.telescopesThatSaw("M33", in: context).count, 0, "who saw M33")
        try observatory.dropShort(50, in: context)
        try checks.expect(try context.fetchCount(FetchDescriptor<Exposure>()), 2, "exposures left")
        try observatory.brighten(in: context)
        let magnitudes = try context.fetch(
            FetchDescriptor<Target>(sortBy: [SortDescriptor(\.catalogNumber), SortDescriptor(\.magnitude)])
        ).map(\.magnitude)
        try checks.expect(
            magnitudes, [Decimal(string: "2.44")!, Decimal(string: "3.4")!, Decimal(string: "4.72")!], "magnitudes")
        try checks.expect(observatory.explain(SwiftDataError.unsupportedPredicate), "predicate", "explain")
        try checks.expect(observatory.explain(DataStoreError.unsupportedFeature), "store", "explain")

        let archivist = Archivist(modelContainer: observatory.container)
        try checks.expect(try await archivist.record(serials: 10..<15, seconds: 5), 7, "recorded by the actor")
        let identifiers = try context.fetchIdentifiers(FetchDescriptor<Exposure>())
        try checks.expect(await archivist.note(identifiers[0]), nil, "note")
    }

    static func archive(_ checks: Checks, folder: URL) throws {
        let schema = Schema([Site.self, Telescope.self, Night.self, Exposure.self, Target.self])
        let file = folder.appending(path: "archive.json")
        func open() throws -> ModelContext {
            let configuration = ArchiveConfiguration(name: "archive", file: file)
            return ModelContext(try ModelContainer(for: schema, configurations: [configuration]))
        }
        try populate(try open())
        let context = try open()
        let sites = try context.fetch(
            FetchDescriptor<Site>(predicate: #Predicate { $0.altitude > 2500 }, sortBy: [SortDescriptor(\.code)]))
        try checks.expect(sites.map(\.name), ["Cerro Paranal"], "sites from the archive")
        try checks.expect(
            sites.flatMap(\.telescopes).map(\.name).sorted(), ["Antu", "SPECULOOS"], "telescopes from the archive")
        guard
            let exposure = try context.fetch(FetchDescriptor<Exposure>(predicate: #Predicate { $0.serial == 2 })).first
        else { throw CheckFailure(description: "the exposure is not in the archive") }
        try checks.expect(exposure.filters, ["B", "V"], "filters from the archive")
        try checks.expect(exposure.targets.map(\.catalogNumber), ["M31"], "targets from the archive")
        try checks.expect(exposure.night?.telescope?.site?.code, "309", "site of the exposure")
        try checks.expect(
            exposure.position, SkyPosition(rightAscension: 10.7, declination: 41.3), "position from the archive")
        try checks.expect(exposure.header, ["OBSERVER": "n"], "header from the archive")
        if let site = sites.first { context.delete(site) }
        try context.save()
        let again = try open()
        try checks.expect(
            try again.fetch(FetchDescriptor<Telescope>()).map(\.name), ["3.5 m"], "telescopes after the cascade")
    }
}

nonisolated final class Saves: @unchecked Sendable {
    private let lock = NSLock()
    private var value = 0
    var count: Int { lock.withLock { value } }
    func add() { lock.withLock { value += 1 } }
}
