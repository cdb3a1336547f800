import Foundation
import Mortise
import Testing

/// What README promises. Its blocks of code are held to files by `DocumentTests`.
@Suite struct ReadmeTests {
    @Test func theFirstSampleKeepsItsModelsInTheFileThatItNames() throws {
        let folder = SampleRun.temporaryFolder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let run = try SampleRun(of: "ReadmeQuickStart", in: folder)
        #expect(run.files.contains("trips.log"))
    }

    /// The guide says so: the stops are the same ones, and move to the new trip.
    @Test func theProgramOfTheFirstGuidePrintsTheSameAgain() throws {
        let folder = SampleRun.temporaryFolder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let first = try SampleRun(of: "GuideGettingStarted", in: folder)
        let second = try SampleRun(of: "GuideGettingStarted", in: folder)
        #expect(first.output == second.output && second.status == 0)
        #expect(second.files.contains("trips.json"))
    }

    /// The same program on SwiftData: another import, and another way to say where the store is.
    @Test func bothColumnsDifferInTwoPlaces() throws {
        let samples = try Document.readme.marked("sample").map { $0.block.text.split(separator: "\n") }
        try #require(samples.count == 2)
        let (ours, theirs) = (Set(samples[0]), Set(samples[1]))
        #expect(
            ours.subtracting(theirs).sorted() == ["    store: \"log:trips.log\")", "import Mortise"])
        #expect(
            theirs.subtracting(ours).sorted() == [
                "        url: URL(filePath: \"trips.store\")))", "    configurations: ModelConfiguration(",
                "import SwiftData",
            ])
    }

    /// What it says of two who change the same record, and of a counter.
    @Test(arguments: [MergePolicy.propertyWise, .error]) func ofTwoWhoAddToACounterOneIsLost(policy: MergePolicy) throws
    {
        #expect(try Document.readme.text.contains("each property keeps the value that was set last; of two"))
        let container = try GuideModels.container()
        container.mergePolicy = policy
        let (here, there) = (ModelContext(container), ModelContext(container))
        let mine = try #require(try here.first(Trip.self, where: \.code, is: "POR"))
        let theirs = try #require(try there.first(Trip.self, where: \.code, is: "POR"))
        (mine.rating, theirs.rating) = ((mine.rating ?? 0) + 1, (theirs.rating ?? 0) + 1)
        theirs.destination = "Porto and Braga"
        try there.save()
        if policy == .error {
            #expect(throws: SaveConflict.self) { try here.save() }
            return
        }
        try here.save()
        #expect(mine.rating == 1 && mine.destination == "Porto and Braga")
        try here.transaction(retrying: 5) {
            let trip = try here.first(Trip.self, where: \.code, is: "POR")
            if trip?.rating == 1 {
                theirs.rating = 2
                try there.save()
            }
            trip?.rating = (trip?.rating ?? 0) + 1
        }
        #expect(mine.rating == 3)
    }

    @Test func theCommandsOfTheFirstScreenExist() throws {
        let commands = try #require(try Document.readme.blocks.first { $0.language == "sh" })
        #expect(commands.text == "swift run music-library\n")
        let text = try Document.readme.text
        #expect(text.contains("`swift run trips`") && text.contains("`Tests/run`"))
        let manifest = try String(contentsOf: Document.package.appending(path: "Package.swift"), encoding: .utf8)
        #expect(manifest.contains("name: \"music-library\"") && manifest.contains("name: \"trips\""))
        let tests = Document.package.appending(path: "Tests/run").path(percentEncoded: false)
        #expect(FileManager.default.isExecutableFile(atPath: tests))
    }

    /// Long enough to say what it is, and short enough to be read.
    @Test func itIsShort() throws {
        let text = try Document.readme.text
        #expect(text.split(separator: "\n", omittingEmptySubsequences: false).count < 200)
    }

    /// The package manager reads the manifest, and finds this package and a product of it.
    @Test func theManifestDependsOnThisPackage() throws {
        let folder = SampleRun.temporaryFolder()
        defer { try? FileManager.default.removeItem(at: folder) }
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let (_, block) = try #require(try Document.readme.marked("manifest").first)
        try block.text.write(to: folder.appending(path: "Package.swift"), atomically: true, encoding: .utf8)
        let process = Process()
        let pipe = Pipe()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["swift", "package", "dump-package"]
        process.currentDirectoryURL = folder
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = pipe
        try process.run()
        let output = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        let read = String(decoding: output, as: UTF8.self)
        #expect(read.contains("\"Mortise\"") && read.contains("\"fileSystem\""))
        let manifest = try String(contentsOf: Document.package.appending(path: "Package.swift"), encoding: .utf8)
        #expect(manifest.contains(".library(name: \"Mortise\", targets: [\"Mortise\"])"))
        // Two packages of one build cannot have targets of one name.
        for match in block.text.matches(of: #/name: "(\w+)"/#) where match.1 != "Mortise" {
            #expect(!manifest.contains("name: \"\(match.1)\""), "\(match.1) is a target of this package")
        }
    }
}
