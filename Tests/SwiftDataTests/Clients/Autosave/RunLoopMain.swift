// A program without tasks: its contexts save when it gives control to the run loop, and not before.
import SwiftData

@Model final class A {
    var n: Int
    init(n: Int) { self.n = n }
}
struct Stop: Error {}

let store = URL(fileURLWithPath: CommandLine.arguments[1]).appending(path: "runloop.store")
let c = try ModelContainer(for: A.self, configurations: ModelConfiguration(url: store))
func count() -> Int { (try? ModelContext(c).fetchCount(FetchDescriptor<A>())) ?? -1 }
func turn() { RunLoop.main.run(until: Date().addingTimeInterval(0.3)) }

let own = ModelContext(c)
own.autosaveEnabled = true
own.insert(A(n: 1))
Thread.sleep(forTimeInterval: 0.2)
print(count(), own.hasChanges)
turn()
print(count(), own.hasChanges)

// A block of one transaction that turns the run loop in its middle is not saved by halves.
try? own.transaction {
    own.insert(A(n: 2))
    turn()
    print(count(), own.hasChanges)
    throw Stop()
}
turn()
print(count(), own.hasChanges)

// Nothing turns the run loop any more: what is not saved is lost, unless the container is closed.
c.mainContext.insert(A(n: 3))
if CommandLine.arguments.count > 2 { try c.close() }
