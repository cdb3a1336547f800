import Foundation
import SwiftData

func check(_ holds: @autoclosure () throws -> Bool, _ what: String) {
    let outcome = Result { try holds() }
    if case .success(true) = outcome { return }
    print("failed: \(what): \(outcome)")
    exit(1)
}

@main struct Driver {
    static func fill(_ url: URL) throws {
        let container = try ModelContainer(
            for: Schema(versionedSchema: DiaryV1.self), configurations: [ModelConfiguration(url: url)])
        let context = ModelContext(container)
        for (title, text) in [("Monday", "rain and wind\nhome"), ("Tuesday", "sun")] {
            let page = DiaryV1.Page(title: title, text: text)
            context.insert(page)
            context.insert(DiaryV1.Photo(taken: "2024-05-06T07:08:09Z", page: page))
        }
        context.insert(DiaryV1.Photo(taken: "some day", page: nil))
        try context.save()
        try container.close()
    }

    static func main() throws {
        let folder = URL(fileURLWithPath: CommandLine.arguments[1])
        for name in ["diary.log", "diary.json"] {
            let url = folder.appending(path: name)
            try fill(url)
            // As most apps open: no version is named.
            for _ in 0..<2 {
                let container = try ModelContainer(
                    for: Page.self, Photo.self, migrationPlan: DiaryPlan.self,
                    configurations: ModelConfiguration(url: url))
                let context = ModelContext(container)
                let pages = try context.fetch(FetchDescriptor<Page>(sortBy: [SortDescriptor(\.heading)]))
                check(pages.map(\.heading) == ["Monday", "Tuesday"], "headings in \(name)")
                check(pages.map(\.words) == [3, 1], "words in \(name)")
                check(
                    pages.map { $0.lines.map(\.text).sorted() } == [["home", "rain and wind"], ["sun"]],
                    "lines in \(name)")
                check(pages.allSatisfy { $0.photos.map { $0.takenAt != nil } == [true] }, "photos in \(name)")
                let loose = try context.fetch(FetchDescriptor<Photo>(predicate: #Predicate { $0.takenAt == nil }))
                check(loose.count == 1, "a photo whose date no rule could read in \(name)")
                let extra = try context.fetch(FetchDescriptor<Line>(predicate: #Predicate { $0.page == nil }))
                check(Set(extra.map(\.text)) == ["was: rai", "was: sun"], "new objects of before in \(name)")
                try container.close()
            }
            do {
                _ = try ModelContainer(
                    for: Schema(versionedSchema: DiaryV1.self), migrationPlan: DowngradePlan.self,
                    configurations: [ModelConfiguration(url: url)])
                check(false, "a way back")
            } catch SwiftDataError.loadIssueModelContainer {
                // As Apple's error, whatever it says besides.
            }
            (DiaryPlan.dates, DiaryPlan.texts, DiaryPlan.extra) = ([:], [:], [])
        }
        let url = folder.appending(path: "empty.log")
        try fill(url)
        let container = try ModelContainer(
            for: DiaryV2.Page.self, DiaryV2.Photo.self, migrationPlan: EmptyPlan.self,
            configurations: ModelConfiguration(url: url))
        let pages = try ModelContext(container).fetch(FetchDescriptor<DiaryV2.Page>())
        check(pages.map(\.heading) == ["Monday", "Tuesday"] && pages.map(\.words) == [0, 0], "no closures")
        try container.close()
        print("all is as it should be")
    }
}
