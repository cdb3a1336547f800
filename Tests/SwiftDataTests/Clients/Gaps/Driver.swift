import SwiftData

func check(_ holds: @autoclosure () throws -> Bool, _ what: String) {
    let outcome = Result { try holds() }
    if case .success(true) = outcome { return }
    print("failed: \(what): \(outcome)")
    exit(1)
}

@main struct Driver {
    @MainActor static func main() throws {
        let folders: [URL] = [
            .documentsDirectory, .applicationSupportDirectory, .cachesDirectory, .homeDirectory, .desktopDirectory,
            .downloadsDirectory,
            .moviesDirectory, .musicDirectory, .picturesDirectory,
        ]
        check(folders.allSatisfy { $0.isFileURL && $0.path.hasPrefix("/") && $0.hasDirectoryPath }, "folders")
        check(Set(folders).count == folders.count, "folders differ")
        check(abs(CFAbsoluteTimeGetCurrent() - Date.now.timeIntervalSinceReferenceDate) < 60, "time")
        let known: any Observable.Type = Member.self
        check(known == Member.self, "Observable")

        let types: [any PersistentModel.Type] = [
            Member.self, Sent.self, Promised.self, Spelled.self, Derived.self, Soft.self, Twice.self, Backyard.self,
            Archived.self,
        ]
        let container = try ModelContainer(
            for: Schema(types + swiftFiveModels),
            configurations: [
                ModelConfiguration(url: URL(fileURLWithPath: CommandLine.arguments[1]).appending(path: "gaps.store"))
            ])
        let context = ModelContext(container)
        context.insert(Member(n: 1))
        context.insert(Sent(n: 2))
        context.insert(Promised(n: 3))
        context.insert(Spelled(n: 4))
        context.insert(Derived(n: 5))
        let soft = Soft(n: 6)
        soft.isDeleted = true
        context.insert(soft)
        context.insert(Soft(n: 7))
        context.insert(Twice(n: 8))
        context.insert(Twice(n: 8))
        let archived = Archived(tags: ["a", "b"])
        archived.more = [1, 2]
        context.insert(archived)
        context.insert(Archived(tags: []))
        try context.save()

        let other = ModelContext(container)
        check(try other.fetch(FetchDescriptor<Sent>()).map(\.n) == [2], "@unchecked Sendable")
        check(try other.fetch(FetchDescriptor<Promised>()).map(\.n) == [3], "Sendable")
        check(try other.fetch(FetchDescriptor<Spelled>()).map(\.n) == [4], "PersistentModel, Sendable")
        check(try other.fetch(FetchDescriptor<Derived>()).map(\.t) == [6], "@Transient on a computed property")
        let kept = try other.fetch(FetchDescriptor<Soft>(predicate: #Predicate { !$0.isDeleted && $0.hasChanges == 7 }))
        check(kept.map(\.n) == [7], "isDeleted")
        let gone = try other.fetch(FetchDescriptor<Soft>(predicate: #Predicate { $0.isDeleted }))
        check(gone.map(\.n) == [6], "isDeleted")
        // A property of that name hides the model's own state, and nothing else takes it for that.
        other.delete(kept[0])
        check(!kept[0].isDeleted && other.deletedModelsArray.count == 1, "deleting what has an isDeleted")
        try other.save()
        check(try context.fetchCount(FetchDescriptor<Soft>()) == 1, "deleted")
        check(try other.fetchCount(FetchDescriptor<Twice>()) == 1, "unique by the first of two @Attributes")
        let n = container.schema.entitiesByName["Twice"]?.attributes.first { $0.name == "n" }
        check(n?.options == [.unique, .spotlight] && n?.originalName == "m", "options of both @Attributes")
        let archives = try other.fetch(FetchDescriptor<Archived>(sortBy: [SortDescriptor(\.persistentModelID)]))
        check(archives.map(\.tags) == [["a", "b"], []] && archives.map(\.more) == [[1, 2], nil], "archives")
        try checkSwiftFive(container)
        print("all is as it should be")
    }
}
