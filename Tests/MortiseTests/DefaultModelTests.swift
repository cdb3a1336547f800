import Foundation
import Mortise
import Synchronization
import Testing

// Each test has classes of its own, because what is known of a class is kept for the life of the process.

/// Models whose default values are models. Reading a class runs its default values, and once those met classes that were
/// half read: the process ended, or a class was read twice and its schema refused, depending on what was asked for first.
@Suite struct DefaultModelTests {
    /// Saves a document that a default value gave everything it has, and checks what a fetch finds.
    private func check<Doc: PersistentModel, Meta: PersistentModel, Rev: PersistentModel>(
        _ doc: Doc, _ meta: (Doc) -> Meta?, _ rev: (Meta) -> Rev?, _ docOfMeta: (Meta) -> Doc?,
        _ metaOfRev: (Rev) -> Meta?
    ) throws {
        func checkLinks(_ doc: Doc) throws {
            let meta = try #require(meta(doc))
            #expect(docOfMeta(meta) === doc)
            let rev = try #require(rev(meta))
            #expect(metaOfRev(rev) === meta)
        }
        try checkLinks(doc)
        let context = ModelContext(try memory(Doc.self))
        context.insert(doc)
        try context.save()
        try checkLinks(try onlyModel(Doc.self, in: ModelContext(context.container)))
        #expect(try context.fetchCount(FetchDescriptor<Meta>()) == 1)
        #expect(try context.fetchCount(FetchDescriptor<Rev>()) == 1)
    }

    @Test func aContainerOpensForThreeModelsWhoseDefaultsAreModels() throws {
        _ = try memory(Three.Doc.self)
        try check(Three.Doc(), \.meta, \.rev, \.doc, \.meta)
    }

    @Test func aModelMayBeMadeBeforeItsContainer() throws {
        try check(Early.Doc(), \.meta, \.rev, \.doc, \.meta)
    }

    @Test func theModelInTheMiddleMayComeFirst() throws {
        _ = Middle.Meta()
        try check(Middle.Doc(), \.meta, \.rev, \.doc, \.meta)
    }

    @Test func listsMayHaveModelsAsTheirDefault() throws {
        _ = try memory(Lists.A.self, Lists.B.self, Lists.C.self)
        let a = Lists.A()
        #expect(a.bs.map { $0.a === a } == [true] && a.bs[0].c.b === a.bs[0])
        let context = ModelContext(try memory(Lists.A.self))
        context.insert(a)
        try context.save()
        let stored = try onlyModel(Lists.A.self, in: ModelContext(context.container))
        #expect(stored.bs.map { $0.a === stored } == [true] && stored.bs[0].c.b === stored.bs[0])
    }

    /// What a default value makes stays, and is linked although nothing was known of its class at that time.
    @Test func aModelThatADefaultSharesIsLinked() throws {
        _ = try memory(Kept.Doc.self)
        let meta = Kept.Meta.shared
        #expect(meta.rev?.n == 2 && meta.rev?.meta === meta)
        #expect(meta.former?.meta == nil)
    }

    @Test func aSubclassMayInheritADefaultThatIsAModel() throws {
        func check<User: PersistentModel, Settings: PersistentModel>(
            _ types: [any PersistentModel.Type], _ make: () -> (admin: User, user: User),
            _ settings: (User) -> Settings, _ userOf: (Settings) -> User?
        ) throws {
            let container = try ModelContainer(for: Schema(types), configurations: [InMemoryConfiguration()])
            let context = ModelContext(container)
            let (admin, user) = make()
            context.insert(admin)
            context.insert(user)
            try context.save()
            let stored = try ModelContext(container).fetch(FetchDescriptor<User>())
            #expect(stored.count == 2 && stored.allSatisfy { userOf(settings($0)) === $0 })
            #expect(try context.fetchCount(FetchDescriptor<Settings>()) == 2)
        }
        try check(
            [Users1.User.self, Users1.Admin.self, Users1.Settings.self], { (Users1.Admin(), Users1.User()) },
            \.settings, \.user)
        try check(
            [Users2.Settings.self, Users2.User.self, Users2.Admin.self], { (Users2.Admin(), Users2.User()) },
            \.settings, \.user)
        try check(
            [Users3.Admin.self, Users3.Settings.self, Users3.User.self], { (Users3.Admin(), Users3.User()) },
            \.settings, \.user)
    }

    /// The default opens a store of its own model.
    @Test func aStoreThatADefaultOpensOfItsOwnModelIsRefused() throws {
        _ = try memory(Opening.Item.self)
        #expect(Opening.error.withLock { $0 } as? SchemaError == .neededByDefaultValue(entity: "Item"))
        _ = try memory(Opening.Item.self)
        #expect(Opening.Item().count == 1)
        _ = try memory(Opening.Special.self)
        #expect(Opening.baseError.withLock { $0 } as? SchemaError == .neededByDefaultValue(entity: "Special"))
        #expect(Opening.Special().count == 2)
    }

    /// A default value that waits for another thread, which reads the same classes.
    @Test func threadsReadTheSameClassesAtOnce() throws {
        let names = Mutex<Set<String?>>([])
        DispatchQueue.concurrentPerform(iterations: 8) { number in
            let schema = number % 2 == 0 ? Schema([Shared8.Doc.self]) : Schema([Shared8.Rev.self])
            let doc = Shared8.Doc()
            let isRight = doc.meta?.doc === doc && doc.meta?.rev?.meta === doc.meta
            names.withLock {
                _ = $0.insert(isRight ? schema.entitiesByName["Meta"]?.relationshipsByName["doc"]?.inverseName : nil)
            }
        }
        #expect(names.withLock { $0 } == ["meta"])
        _ = try memory(Shared8.Doc.self)
    }
}

private enum Three {
    @Model final class Doc {
        var meta: Meta? = Meta()
        init() {}
    }
    @Model final class Meta {
        var rev: Rev? = Rev()
        var doc: Doc?
        init() {}
    }
    @Model final class Rev {
        var n = 0
        var meta: Meta?
        init() {}
    }
}

private enum Early {
    @Model final class Doc {
        var meta: Meta? = Meta()
        init() {}
    }
    @Model final class Meta {
        var rev: Rev? = Rev()
        var doc: Doc?
        init() {}
    }
    @Model final class Rev {
        var n = 0
        var meta: Meta?
        init() {}
    }
}

private enum Middle {
    @Model final class Doc {
        var meta: Meta? = Meta()
        init() {}
    }
    @Model final class Meta {
        var rev: Rev? = Rev()
        var doc: Doc?
        init() {}
    }
    @Model final class Rev {
        var n = 0
        var meta: Meta?
        init() {}
    }
}

private enum Lists {
    @Model final class A {
        var bs: [B] = [B()]
        init() {}
    }
    @Model final class B {
        var n = 0
        @Relationship(inverse: \A.bs) var a: A?
        var c: C = C()
        init() {}
    }
    @Model final class C {
        var n = 0
        @Relationship(inverse: \B.c) var b: B?
        init() {}
    }
}

private enum Kept {
    @Model final class Doc {
        var meta: Meta? = Meta.shared
        init() {}
    }
    @Model final class Meta {
        nonisolated(unsafe) static let shared = Meta()
        var rev: Rev? = Rev()
        @Transient var former: Rev?
        var doc: Doc?
        init() {
            former = rev
            // Through the setter, because all properties have a value by now.
            let next = Rev()
            next.n = 2
            rev = next
        }
    }
    @Model final class Rev {
        var n = 0
        var meta: Meta?
        init() {}
    }
}

private enum Users1 {
    @Model final class Settings {
        var n = 0
        var user: User?
        init() {}
    }
    @Model class User {
        var n = 0
        @Relationship(inverse: \Settings.user) var settings: Settings = Settings()
        init() {}
    }
    @Model final class Admin: User {
        var m = 0
        override init() { super.init() }
    }
}

private enum Users2 {
    @Model final class Settings {
        var n = 0
        var user: User?
        init() {}
    }
    @Model class User {
        var n = 0
        var settings: Settings = Settings()
        init() {}
    }
    @Model final class Admin: User {
        var m = 0
        override init() { super.init() }
    }
}

private enum Users3 {
    @Model final class Settings {
        var n = 0
        @Relationship(inverse: \User.settings) var user: User?
        init() {}
    }
    @Model class User {
        var n = 0
        var settings: Settings = Settings()
        init() {}
    }
    @Model final class Admin: User {
        var m = 0
        override init() { super.init() }
    }
}

private enum Opening {
    static let error = Mutex<(any Error)?>(nil)

    @Model final class Item {
        var count: Int = Opening.count()
        init() {}
    }

    static let baseError = Mutex<(any Error)?>(nil)

    @Model class Base {
        var count: Int = Opening.countOfBase()
        init() {}
    }
    @Model final class Special: Base {
        var more = 0
        override init() { super.init() }
    }

    static func countOfBase() -> Int {
        do {
            _ = try ModelContainer(for: Schema([Special.self]), configurations: [InMemoryConfiguration()])
        } catch {
            Opening.baseError.withLock { $0 = $0 ?? error }
        }
        return 2
    }

    static func count() -> Int {
        do {
            _ = try ModelContainer(for: Schema([Item.self]), configurations: [InMemoryConfiguration()])
        } catch {
            Opening.error.withLock { $0 = error }
        }
        return 1
    }
}

private enum Shared8 {
    @Model final class Doc {
        var meta: Meta? = Meta()
        init() {}
    }
    @Model final class Meta {
        var rev: Rev? = Shared8.slow()
        var doc: Doc?
        init() {}
    }
    @Model final class Rev {
        var n = 0
        var meta: Meta?
        init() {}
    }

    static func slow() -> Rev? {
        Thread.sleep(forTimeInterval: 0.002)
        return Rev()
    }
}
