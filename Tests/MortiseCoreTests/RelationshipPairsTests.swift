import Foundation
import MortiseCore
import MortiseInMemory
import PackageTestSupport
import Testing

/// Both sides of every kind of relationship agree at all times, whoever set them and whether the models have a context yet.
///
/// Past faults: of several members set on a model without context, those behind the first that had one lost the pair; a
/// member that was taken from a model that did not have it could not be added to it later.
@Suite struct RelationshipPairsTests {
    // MARK: Any order of operations

    @Test(arguments: 0..<60 as Range<UInt64>) func pairsAreWhatASetOfPairsSays(_ number: UInt64) throws {
        let seed = testSeed() &+ number
        let world = try PairWorld(seed: seed)
        for step in 0..<60 {
            let operation = try world.step()
            let difference = world.difference()
            #expect(difference == nil, "seed \(seed), step \(step): \(operation)")
            if difference != nil { return }
        }
        try world.context.save()
        #expect(world.difference() == nil, "seed \(seed), after the last save")
        #expect(try world.storedDifference() == nil, "seed \(seed), as stored")
    }

    // MARK: Single cases

    @Test func membersBehindTheFirstThatHasAContextAreTakenInAndLinked() throws {
        let context = try PairWorld.newContext()
        let (ada, bob, one, two) = (Worker("ada"), Worker("bob"), Job("one"), Job("two"))
        context.insert(ada)
        context.insert(bob)
        one.workers = [ada, bob]
        #expect(bob.jobs == [one])
        bob.jobs.append(two)
        #expect(Set(bob.jobs) == [one, two] && one.workers.count == 2)
        let (eve, three) = (Worker("eve"), Job("three"))
        three.workers = [ada, eve]
        #expect(eve.modelContext === context && eve.jobs == [three])
    }

    @Test func theOtherSideIsSetBeforeThereIsAContext() throws {
        let (ada, bob, one, two) = (Worker("ada"), Worker("bob"), Job("one"), Job("two"))
        one.workers = [ada, bob]
        bob.jobs.append(two)
        #expect(Set(bob.jobs) == [one, two] && two.workers == [bob])
        let context = try PairWorld.newContext()
        context.insert(two)
        #expect([ada, bob].allSatisfy { $0.modelContext === context } && one.modelContext === context)
        try context.save()
        let names = try ModelContext(context.container).fetch(FetchDescriptor<Worker>(sortBy: [SortDescriptor(\.name)]))
            .map { "\($0.name): \($0.jobs.map(\.name).sorted())" }
        #expect(names == ["ada: [\"one\"]", "bob: [\"one\", \"two\"]"])
    }

    @Test func theLastOneToSetAToOneRelationshipWins() throws {
        let (ada, red, blue) = (Worker("ada"), Crew("red"), Crew("blue"))
        red.members = [ada]
        ada.crew = blue
        #expect(red.members.isEmpty && blue.members == [ada])
        red.members = [ada]
        #expect(ada.crew === red && blue.members.isEmpty)
        let context = try PairWorld.newContext()
        for crew in [blue, red] { context.insert(crew) }
        try context.save()
        #expect(ada.crew === red && blue.members.isEmpty && red.members == [ada])
        let (left, right) = (Desk("left"), Desk("right"))
        left.owner = ada
        right.owner = ada
        #expect(ada.desk === right && left.owner == nil)
    }

    /// Related models hold each other until a context has them.
    @Test func modelsThatAContextLetsGoOfAreReleased() throws {
        weak var crew: Crew?
        weak var worker: Worker?
        let context = try PairWorld.newContext()
        do {
            let (red, ada, one, desk) = (Crew("red"), Worker("ada"), Job("one"), Desk("desk"))
            (crew, worker) = (red, ada)
            ada.crew = red
            ada.jobs = [one]
            desk.owner = ada
            #expect(red.members == [ada] && one.workers == [ada] && ada.desk === desk)
            context.insert(ada)
            context.rollback()
            #expect(red.members == [ada] && one.workers == [ada] && ada.desk === desk)
        }
        #expect(crew == nil && worker == nil)
    }

    @Test func relationshipSetOnBothSidesIsRetainedByEither() {
        let ada = Worker("ada")
        do {
            let red = Crew("red")
            red.members = [ada]
            ada.crew = red
        }
        #expect(ada.crew?.name == "red")
        do {
            let blue = Crew("blue")
            blue.members = [ada]
        }
        #expect(ada.crew?.name == "blue", "what refers to it holds it")
    }
}

// MARK: - The reference

/// Models of all kinds of relationships, and the pairs that they should be in.
private final class PairWorld {
    let context: ModelContext
    private var random: SeededGenerator
    private let workers = (0..<4).map { Worker("worker \($0)") }
    private let crews = (0..<3).map { Crew("crew \($0)") }
    private let desks = (0..<3).map { Desk("desk \($0)") }
    private let jobs = (0..<4).map { Job("job \($0)") }
    /// The numbers of a worker and of the other.
    private var crewPairs: Set<[Int]> = []
    private var deskPairs: Set<[Int]> = []
    private var jobPairs: Set<[Int]> = []

    static func newContext() throws -> ModelContext {
        let schema = Schema([Worker.self, Crew.self, Desk.self, Job.self])
        return ModelContext(try ModelContainer(for: schema, configurations: [InMemoryConfiguration()]))
    }

    init(seed: UInt64) throws {
        random = SeededGenerator(seed: seed)
        context = try Self.newContext()
    }

    private func some(_ count: Int) -> [Int] { (0..<count).filter { _ in random.chance(percent: 40) } }

    func step() throws -> String {
        let (w, c, d, j) = (random.below(4), random.below(3), random.below(3), random.below(4))
        switch random.below(16) {
        case 0:
            workers[w].crew = crews[c]
            crewPairs = crewPairs.filter { $0[0] != w }.union([[w, c]])
            return "worker \(w).crew = crew \(c)"
        case 1:
            workers[w].crew = nil
            crewPairs = crewPairs.filter { $0[0] != w }
            return "worker \(w).crew = nil"
        case 2, 3:
            let members = some(4)
            crews[c].members = members.map { workers[$0] }
            crewPairs = crewPairs.filter { $0[1] != c && !members.contains($0[0]) }
                .union(members.map { [$0, c] })
            return "crew \(c).members = \(members)"
        case 4:
            crews[c].members.append(workers[w])
            crewPairs = crewPairs.filter { $0[0] != w }.union([[w, c]])
            return "crew \(c).members.append(worker \(w))"
        case 5:
            crews[c].members.removeAll { $0 === workers[w] }
            crewPairs.remove([w, c])
            return "crew \(c).members.remove(worker \(w))"
        case 6:
            workers[w].desk = desks[d]
            deskPairs = deskPairs.filter { $0[0] != w && $0[1] != d }.union([[w, d]])
            return "worker \(w).desk = desk \(d)"
        case 7:
            desks[d].owner = workers[w]
            deskPairs = deskPairs.filter { $0[0] != w && $0[1] != d }.union([[w, d]])
            return "desk \(d).owner = worker \(w)"
        case 8:
            desks[d].owner = nil
            deskPairs = deskPairs.filter { $0[1] != d }
            return "desk \(d).owner = nil"
        case 9:
            let list = some(4)
            workers[w].jobs = list.map { jobs[$0] }
            jobPairs = jobPairs.filter { $0[0] != w }.union(list.map { [w, $0] })
            return "worker \(w).jobs = \(list)"
        case 10:
            let list = some(4)
            jobs[j].workers = list.map { workers[$0] }
            jobPairs = jobPairs.filter { $0[1] != j }.union(list.map { [$0, j] })
            return "job \(j).workers = \(list)"
        case 11:
            workers[w].jobs.append(jobs[j])
            jobPairs.insert([w, j])
            return "worker \(w).jobs.append(job \(j))"
        case 12:
            jobs[j].workers.removeAll { $0 === workers[w] }
            jobPairs.remove([w, j])
            return "job \(j).workers.remove(worker \(w))"
        case 13 where random.chance(percent: 40):
            let choices: [any PersistentModel] = [workers[w], crews[c], jobs[j], desks[d]]
            let model = random.pick(choices)
            func insert(_ model: some PersistentModel) { context.insert(model) }
            insert(model)
            return "insert \(name(model))"
        case 14 where random.chance(percent: 40):
            try context.save()
            return "save"
        default: return "nothing"
        }
    }

    private func name(_ model: any PersistentModel) -> String {
        (model as? any Named)?.name ?? ""
    }

    /// What disagrees with the pairs; nil where nothing does.
    func difference() -> String? {
        func numbers<M: PersistentModel>(_ models: [M], in all: [M]) -> [Int] {
            models.compactMap { model in all.firstIndex { $0 === model } }.sorted()
        }
        for (w, worker) in workers.enumerated() {
            let crew = worker.crew.map { [$0] } ?? []
            if numbers(crew, in: crews) != crewPairs.filter({ $0[0] == w }).map({ $0[1] }) { return "worker \(w).crew" }
            let desk = worker.desk.map { [$0] } ?? []
            if numbers(desk, in: desks) != deskPairs.filter({ $0[0] == w }).map({ $0[1] }) { return "worker \(w).desk" }
            if numbers(worker.jobs, in: jobs) != jobPairs.filter({ $0[0] == w }).map({ $0[1] }).sorted() {
                return "worker \(w).jobs"
            }
        }
        for (c, crew) in crews.enumerated()
        where numbers(crew.members, in: workers) != crewPairs.filter({ $0[1] == c }).map({ $0[0] }).sorted() {
            return "crew \(c).members"
        }
        for (d, desk) in desks.enumerated()
        where numbers(desk.owner.map { [$0] } ?? [], in: workers) != deskPairs.filter({ $0[1] == d }).map({ $0[0] }) {
            return "desk \(d).owner"
        }
        for (j, job) in jobs.enumerated()
        where numbers(job.workers, in: workers) != jobPairs.filter({ $0[1] == j }).map({ $0[0] }).sorted() {
            return "job \(j).workers"
        }
        // Whoever is in a pair with a model of the context is in the context.
        for (w, worker) in workers.enumerated() {
            var others: [any PersistentModel] = crewPairs.filter { $0[0] == w }.map { crews[$0[1]] }
            others += deskPairs.filter { $0[0] == w }.map { desks[$0[1]] }
            others += jobPairs.filter { $0[0] == w }.map { jobs[$0[1]] }
            for other in others where (other.modelContext == nil) != (worker.modelContext == nil) {
                return "only one of worker \(w) and \(name(other)) is in the context"
            }
        }
        return nil
    }

    /// What another context finds in the store and does not agree with the pairs of the models that were inserted.
    func storedDifference() throws -> String? {
        let reader = ModelContext(context.container)
        let found = try reader.fetch(FetchDescriptor<Worker>())
        for (w, worker) in workers.enumerated() where worker.modelContext != nil {
            guard let stored = found.first(where: { $0.name == worker.name }) else { return "no worker \(w)" }
            if stored.crew?.name != worker.crew?.name || stored.desk?.name != worker.desk?.name
                || Set(stored.jobs.map(\.name)) != Set(worker.jobs.map(\.name))
            {
                return "worker \(w)"
            }
        }
        return found.count == workers.filter { $0.modelContext != nil }.count ? nil : "\(found.count) workers"
    }
}

// MARK: - Models

private protocol Named { var name: String { get } }

/// The inverses of crew and desk are found, that of jobs is named.
private final class Worker: PersistentModel, Named {
    var persistentBackingData: any BackingData<Worker> = Worker.createBackingData()
    static var schemaMetadata: [Schema.PropertyMetadata] {
        [
            .init(name: "name", keypath: \Worker.name), .init(name: "crew", keypath: \Worker.crew),
            .init(name: "desk", keypath: \Worker.desk), .init(name: "jobs", keypath: \Worker.jobs),
        ]
    }
    init(backingData: any BackingData<Worker>) { persistentBackingData = backingData }
    init(_ name: String) { self.name = name }

    var name: String {
        get { getValue(forKey: \.name) }
        set { setValue(forKey: \.name, to: newValue) }
    }
    var crew: Crew? {
        get { getValue(forKey: \.crew) }
        set { setValue(forKey: \.crew, to: newValue) }
    }
    var desk: Desk? {
        get { getValue(forKey: \.desk) }
        set { setValue(forKey: \.desk, to: newValue) }
    }
    var jobs: [Job] {
        get { getValue(forKey: \.jobs) }
        set { setValue(forKey: \.jobs, to: newValue) }
    }
}

private final class Crew: PersistentModel, Named {
    var persistentBackingData: any BackingData<Crew> = Crew.createBackingData()
    static var schemaMetadata: [Schema.PropertyMetadata] {
        [.init(name: "name", keypath: \Crew.name), .init(name: "members", keypath: \Crew.members)]
    }
    init(backingData: any BackingData<Crew>) { persistentBackingData = backingData }
    init(_ name: String) { self.name = name }

    var name: String {
        get { getValue(forKey: \.name) }
        set { setValue(forKey: \.name, to: newValue) }
    }
    var members: [Worker] {
        get { getValue(forKey: \.members) }
        set { setValue(forKey: \.members, to: newValue) }
    }
}

private final class Desk: PersistentModel, Named {
    var persistentBackingData: any BackingData<Desk> = Desk.createBackingData()
    static var schemaMetadata: [Schema.PropertyMetadata] {
        [.init(name: "name", keypath: \Desk.name), .init(name: "owner", keypath: \Desk.owner)]
    }
    init(backingData: any BackingData<Desk>) { persistentBackingData = backingData }
    init(_ name: String) { self.name = name }

    var name: String {
        get { getValue(forKey: \.name) }
        set { setValue(forKey: \.name, to: newValue) }
    }
    var owner: Worker? {
        get { getValue(forKey: \.owner) }
        set { setValue(forKey: \.owner, to: newValue) }
    }
}

private final class Job: PersistentModel, Named {
    var persistentBackingData: any BackingData<Job> = Job.createBackingData()
    static var schemaMetadata: [Schema.PropertyMetadata] {
        [
            .init(name: "name", keypath: \Job.name),
            .init(name: "workers", keypath: \Job.workers, metadata: Schema.Relationship(inverse: \Worker.jobs)),
        ]
    }
    init(backingData: any BackingData<Job>) { persistentBackingData = backingData }
    init(_ name: String) { self.name = name }

    var name: String {
        get { getValue(forKey: \.name) }
        set { setValue(forKey: \.name, to: newValue) }
    }
    var workers: [Worker] {
        get { getValue(forKey: \.workers) }
        set { setValue(forKey: \.workers, to: newValue) }
    }
}
