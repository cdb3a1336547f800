import Foundation
import Mortise

/// Opens the app's store, whatever version has written it, and prints what it has.
///
///     journeys STORE [--preview]
@main
struct JourneysCommand {
    static func main() throws {
        let arguments = CommandLine.arguments.dropFirst()
        guard let path = arguments.first else {
            print("Usage: journeys STORE [--preview]")
            return
        }
        let configuration = ModelConfiguration(url: URL(fileURLWithPath: path))
        if arguments.contains("--preview") {
            let previews = try ModelContainer.migrationPreview(
                for: Schema(versionedSchema: JourneysV3.self), migrationPlan: JourneysPlan.self,
                configurations: [configuration])
            for preview in previews { print(preview) }
            return
        }
        let container = try ModelContainer(
            for: Journey.self, Traveler.self, migrationPlan: JourneysPlan.self, configurations: configuration)
        let context = ModelContext(container)
        for journey in try context.fetch(FetchDescriptor<Journey>(sortBy: [SortDescriptor(\.code)])) {
            print("\(journey.code) \(journey.name): \(journey.cents) cents, \(journey.traveler?.name ?? "nobody")")
        }
        try container.close()
    }
}
