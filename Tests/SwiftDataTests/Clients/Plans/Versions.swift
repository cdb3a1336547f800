import Foundation
import SwiftData

// Versions and plans in the ways in which apps are seen to write them.

enum DiaryV1: VersionedSchema {
    static let versionIdentifier = Schema.Version(1, 0, 0)
    static var models: [any PersistentModel.Type] { [Page.self, Photo.self] }

    @Model final class Page {
        var title: String
        var text: String
        @Relationship(deleteRule: .cascade, inverse: \Photo.page) var photos: [Photo] = []
        init(title: String, text: String) {
            self.title = title
            self.text = text
        }
    }

    @Model final class Photo {
        var taken: String
        var page: Page?
        init(taken: String, page: Page?) {
            self.taken = taken
            self.page = page
        }
    }
}

enum DiaryV2: VersionedSchema {
    static let versionIdentifier = Schema.Version(2, 0, 0)
    static var models: [any PersistentModel.Type] { [Page.self, Photo.self] }

    @Model final class Page {
        @Attribute(originalName: "title") var heading: String
        var text: String
        var words: Int = 0
        @Relationship(deleteRule: .cascade, inverse: \Photo.page) var photos: [Photo] = []
        init(heading: String, text: String) {
            self.heading = heading
            self.text = text
        }
    }

    @Model final class Photo {
        var taken: String
        var takenAt: Date?
        var page: Page?
        init(taken: String, page: Page?) {
            self.taken = taken
            self.page = page
        }
    }
}

/// Texts become records of their own.
enum DiaryV3: VersionedSchema {
    static let versionIdentifier = Schema.Version(3, 0, 0)
    static var models: [any PersistentModel.Type] { [Page.self, Photo.self, Line.self] }

    @Model final class Page {
        var heading: String
        var words: Int = 0
        @Relationship(deleteRule: .cascade, inverse: \Photo.page) var photos: [Photo] = []
        @Relationship(deleteRule: .cascade, inverse: \Line.page) var lines: [Line] = []
        init(heading: String) { self.heading = heading }
    }

    @Model final class Photo {
        var takenAt: Date?
        var page: Page?
        init(page: Page?) { self.page = page }
    }

    @Model final class Line {
        var text: String
        var page: Page?
        init(text: String, page: Page?) {
            self.text = text
            self.page = page
        }
    }
}

typealias Page = DiaryV3.Page
typealias Photo = DiaryV3.Photo
typealias Line = DiaryV3.Line

// Some write this, so that a stage can be kept in a constant.
extension MigrationStage: @unchecked @retroactive Sendable {}
extension Schema.Version: @unchecked @retroactive Sendable {}

enum DiaryPlan: SchemaMigrationPlan {
    // The second version appears in the stages alone.
    static var schemas: [any VersionedSchema.Type] { [DiaryV1.self, DiaryV3.self] }
    static var stages: [MigrationStage] { [toV2, toV3] }

    // From one closure to the other, by identifier.
    nonisolated(unsafe) static var dates: [PersistentIdentifier: Date] = [:]
    nonisolated(unsafe) static var texts: [PersistentIdentifier: [String]] = [:]
    // New objects, made before there is a context for them.
    nonisolated(unsafe) static var extra: [DiaryV3.Line] = []

    static let toV2 = MigrationStage.custom(
        fromVersion: DiaryV1.self, toVersion: DiaryV2.self,
        willMigrate: { context in
            let photos = try? context.fetch(FetchDescriptor<DiaryV1.Photo>())
            for photo in photos ?? [] {
                dates[photo.persistentModelID] = try? Date(photo.taken, strategy: .iso8601)
            }
            try? context.save()
        },
        didMigrate: { context in
            for (identifier, date) in dates {
                guard let photo = context.model(for: identifier) as? DiaryV2.Photo else { continue }
                photo.takenAt = date
            }
            let pages = try context.fetch(FetchDescriptor<DiaryV2.Page>(sortBy: [SortDescriptor(\.heading)]))
            pages.forEach { $0.words = $0.text.split(separator: " ").count }
            try? context.save()
        })

    static let toV3 = MigrationStage.custom(
        fromVersion: DiaryV2.self, toVersion: DiaryV3.self,
        willMigrate: { context in
            try context.enumerate(FetchDescriptor<DiaryV2.Page>()) { page in
                texts[page.id] = page.text.components(separatedBy: "\n")
                extra.append(Line(text: "was: \(page.text.prefix(3))", page: nil))
            }
        },
        didMigrate: { context in
            for (identifier, lines) in texts {
                guard let page = context.model(for: identifier) as? Page else { continue }
                for text in lines { context.insert(Line(text: text, page: page)) }
            }
            extra.forEach { context.insert($0) }
            try context.save()
        })
}

/// Custom in name only, and versions of nothing but numbers.
enum EmptyPlan: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] { [DiaryV1.self, DiaryV2.self] }
    static var stages: [MigrationStage] {
        [
            MigrationStage.custom(
                fromVersion: DiaryV1.self, toVersion: DiaryV2.self, willMigrate: nil, didMigrate: nil)
        ]
    }
}

/// Back again, which some try for a test.
enum DowngradePlan: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] { [DiaryV1.self, DiaryV2.self] }
    static var stages: [MigrationStage] { [.lightweight(fromVersion: DiaryV2.self, toVersion: DiaryV1.self)] }
}
