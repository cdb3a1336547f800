// What yusuga/swiftdata-101 expects of SwiftData, in a program with an asynchronous main: a context saves one turn later.
import SwiftData

@Model final class A {
    var n: Int
    init(n: Int) { self.n = n }
}

let store = URL(fileURLWithPath: CommandLine.arguments[1]).appending(path: "async.store")
let c = try ModelContainer(for: A.self, configurations: ModelConfiguration(url: store))
@MainActor func count() -> Int { (try? ModelContext(c).fetchCount(FetchDescriptor<A>())) ?? -1 }

let own = ModelContext(c)
own.autosaveEnabled = true
own.insert(A(n: 1))
RunLoop.main.run(until: Date().addingTimeInterval(0.2))
try await Task.sleep(nanoseconds: 200_000_000)
print(c.mainContext.autosaveEnabled, count(), own.hasChanges)
c.mainContext.insert(A(n: 2))
try await Task.sleep(nanoseconds: 300_000_000)
print(count(), c.mainContext.hasChanges)
