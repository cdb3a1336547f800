import Foundation
import Mortise
import MortiseMetrics
import Testing

/// The code of the guide "Operating a store".
@Suite struct OperatingGuide {
    @Test func aBackupIsWrittenWhileOthersSaveAndIsPutBack() throws {
        try GuideModels.inFolder { folder in
            let container = try GuideModels.container(store: "log:\(folder)/trips.log")
            try container.backUp(to: "\(folder)/backup")

            let context = ModelContext(container)
            try context.delete(model: Trip.self)
            try container.close()

            try container.restore(from: "\(folder)/backup", replacing: true)
            let restored = try ModelContainer(for: Trip.self, store: "log:\(folder)/trips.log")
            #expect(try ModelContext(restored).fetchCount(FetchDescriptor<Trip>()) == 3)
        }
    }

    @Test func aContainerSaysHowItIs() throws {
        try GuideModels.inFolder { folder in
            let container = try GuideModels.container(store: "log:\(folder)/trips.log")
            let answers = container.health().allSatisfy(\.answers)
            let problems = try container.verify().flatMap(\.report.problems)
            let statistics = try container.statistics()
            #expect(answers && problems.isEmpty)
            #expect(statistics.first?.records["Trip"] == 3 && statistics.first?.durability == .full)
            try container.compact()
        }
    }

    @Test func aFileIsOpenInOneWayAtATime() throws {
        try GuideModels.inFolder { folder in
            let container = try GuideModels.container(store: "json:\(folder)/trips.json")
            do {
                _ = try ModelContainer(for: Trip.self, store: "json:\(folder)/trips.json?integrity=acceptEdits")
                Issue.record("the file was opened with other options")
            } catch let error as any ClassifiedStoreError {
                #expect(error.errorClass == .conflict)
            }
            try container.close()
            let reader = try ModelContainer(
                for: Trip.self, store: "json:\(folder)/trips.json?allowsSave=false")
            #expect(try ModelContext(reader).fetchCount(FetchDescriptor<Trip>()) == 3)
        }
    }

    @Test func damageIsAnErrorThatNamesThePlace() throws {
        try GuideModels.inFolder { folder in
            let path = "\(folder)/trips.json"
            try GuideModels.container(store: "json:\(path)").close()
            let text = try String(contentsOfFile: path, encoding: .utf8)
            try text.replacing("Porto", with: "Lisbon").write(toFile: path, atomically: true, encoding: .utf8)
            do {
                _ = try ModelContainer(for: Trip.self, store: "json:\(path)")
                Issue.record("the edit was not found")
            } catch let error as any ClassifiedStoreError {
                #expect(error.errorClass == .damaged)
            }
            let edited = try ModelContainer(
                for: Trip.self, store: "json:\(path)?integrity=acceptEdits")
            let trips = try ModelContext(edited).fetch(FetchDescriptor<Trip>())
            #expect(trips.contains { $0.destination == "Lisbon" })
        }
    }

    @Test func whatIsLeftOfALogIsSaved() throws {
        try GuideModels.inFolder { folder in
            let path = "\(folder)/trips.log"
            let container = try GuideModels.container(store: "log:\(path)")
            let context = ModelContext(container)
            context.insert(Trip(code: "VIE", destination: "Vienna", startDate: .now, price: 310))
            try context.save()
            context.insert(Trip(code: "ROM", destination: "Rome", startDate: .now, price: 290))
            try context.save()
            try container.close()
            var bytes = try Data(contentsOf: URL(filePath: path))
            let vienna = try #require(bytes.range(of: Data("Vienna".utf8)))
            bytes[vienna.lowerBound] ^= 1
            try bytes.write(to: URL(filePath: path))

            let report = try AppendLogConfiguration(path: path)
                .salvageStore(to: "\(folder)/rescued.log")
            #expect(!report.problems.isEmpty)
            let rescued = try ModelContainer(for: Trip.self, store: "log:\(folder)/rescued.log")
            let codes = try ModelContext(rescued).fetch(FetchDescriptor<Trip>()).map(\.code)
            #expect(codes.contains("POR") && !codes.contains("VIE"), "\(codes)")
        }
    }

    /// Compiled and not run: the process has one handler of events, which other tests set. They test the counts.
    private func startMetrics() {
        StoreMetrics.start(slowFetchLimit: .milliseconds(100))
    }

    @Test func slowFetchesAreLogged() throws {
        let container = try GuideModels.container()
        container.slowFetchLimit = .milliseconds(100)
        container.fullScanPolicy = .warn(above: 10_000)
        #expect(container.slowFetchLimit == .milliseconds(100))
    }
}
