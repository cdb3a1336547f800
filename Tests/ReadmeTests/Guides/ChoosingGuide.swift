import Foundation
import Mortise
import Testing

/// The code of the guide "Choosing a store".
@Suite struct ChoosingGuide {
    @Model final class Draft {
        var text: String
        init(_ text: String) { self.text = text }
    }

    @Model final class Country {
        @Attribute(.unique) var code: String
        init(_ code: String) { self.code = code }
    }

    @Model final class Photo {
        var title: String
        @Attribute(.externalStorage) var content: Data
        init(_ title: String, content: Data) { (self.title, self.content) = (title, content) }
    }

    @Test(arguments: ["json", "log"]) func largeValuesLieBesideTheFile(kind: String) throws {
        try GuideModels.inFolder { folder in
            let container = try ModelContainer(for: Photo.self, store: "\(kind):\(folder)/photos.\(kind)")
            let context = ModelContext(container)
            let content = Data(repeating: 7, count: 4_096)
            context.insert(Photo("Porto", content: content))
            context.insert(Photo("a thumbnail", content: content.dropLast()))
            try context.save()
            let files = try FileManager.default.subpathsOfDirectory(atPath: folder)
            #expect(files.count { $0.contains(".external/") && !$0.hasSuffix("/store") } == 1, "\(files)")
            let reader = ModelContext(container)
            let photo = try #require(try reader.first(Photo.self, where: \.title, is: "Porto"))
            #expect(try reader.resolve(photo, \.content) == content)
        }
    }

    @Test func aURLSaysWhereModelsAreKept() throws {
        try GuideModels.inFolder { folder in
            let url = "log:\(folder)/trips.log?durability=batched&interval=20ms"
            let container = try ModelContainer(for: Trip.self, store: url)
            #expect(try container.statistics().first?.durability == .interval(.milliseconds(20)))
        }
    }

    @Test func aContainerMayHaveSeveralStores() throws {
        try GuideModels.inFolder { folder in
            let shared = "json:\(folder)/shared.json"
            let filled = try ModelContainer(for: Country.self, store: shared)
            let context = ModelContext(filled)
            context.insert(Country("PT"))
            try context.save()
            try filled.close()

            let container = try ModelContainer(stores: [
                "log:\(folder)/drafts.log": [Draft.self],
                "\(shared)?allowsSave=false": [Country.self],
            ])
            let countries = try ModelContext(container).fetchCount(FetchDescriptor<Country>())
            #expect(countries == 1)
            #expect(container.storeIdentifier(forConfigurationNamed: "drafts") != nil)
        }
    }

    @Test func swiftDatasConfigurationKeepsALogOrAJSONFile() throws {
        try GuideModels.inFolder { folder in
            let file = URL(filePath: "\(folder)/trips.store")
            let container = try ModelContainer(
                for: Trip.self, configurations: ModelConfiguration(url: file))
            #expect(container.store(DefaultStore.self)?.base is AppendLogStore)
            let json = ModelConfiguration(url: URL(filePath: "\(folder)/trips.json"))
            let other = try ModelContainer(for: Trip.self, configurations: json)
            #expect(other.store(DefaultStore.self)?.base is JSONFileStore)
        }
    }

    @Test func aMistypedOptionIsAnError() throws {
        var container: ModelContainer?
        do {
            container = try ModelContainer(
                for: Trip.self, store: "log:trips.log?durabilty=none")
        } catch let error as StoreURLError {
            #expect(error.errorClass == .usage)
            let lines = "\(error)".replacing(". ", with: ".\n")
            #expect(try Document.guide("ChoosingAStore").shows(lines), "\(error)")
        }
        #expect(container == nil)
    }

    /// Every option of every store of this build is in the table, and each row says which stores have it.
    @Test(arguments: StoreRegistry.standard.knownSchemes.map(\.name)) func theTableHasTheOptions(of scheme: String)
        throws
    {
        var listed: Set<String> = []
        for row in try Document.guide("ChoosingAStore").text.split(separator: "\n") where row.hasPrefix("| `") {
            let cells = row.split(separator: "|")
            guard cells.count == 3, cells[1].contains("`\(scheme):`") else { continue }
            listed.formUnion(cells[0].matches(of: #/`(\w+)=/#).map { String($0.1) })
        }
        let known = StoreRegistry.standard.knownSchemes.first { $0.name == scheme }?.options.map(\.name)
        #expect(listed == Set(known ?? []))
    }

    @Test func theTableOfPromisesHasEveryStore() throws {
        let rows = try Document.guide("ChoosingAStore").text.split(separator: "\n")
        let head = try #require(rows.first { $0.hasPrefix("| | `memory:`") })
        for scheme in StoreRegistry.standard.knownSchemes { #expect(head.contains("| `\(scheme.name):` |")) }
        #expect(try Document.readme.text.contains("| `sqlite:PATH` |"))
    }

    @Test func aStoreSaysWhatItCanDo() throws {
        try GuideModels.inFolder { folder in
            let container = try ModelContainer(for: Trip.self, store: "log:\(folder)/trips.log")
            let capabilities = try #require(container.capabilities(forConfigurationNamed: "trips"))
            #expect(capabilities.contains(.history) && capabilities.contains(.aggregates))
        }
    }
}
