import Foundation
import Synchronization

// mortise-soak [--minutes M | --seconds N] [--seed S]: random work on every kind of file store at once, each for that long,
// compared with a reference every 2,000 operations, closed and opened, and verified at the end.

var duration = Duration.seconds(600)
var seed = UInt64.random(in: 1...999_999)
var arguments = CommandLine.arguments.dropFirst()

func refuse(_ what: String) -> Never {
    FileHandle.standardError.write(Data("mortise-soak: \(what)\n".utf8))
    exit(64)
}
while let name = arguments.popFirst() {
    let value = arguments.popFirst() ?? ""
    switch name {
    case "--minutes", "--seconds":
        guard let number = Double(value), number > 0 else { refuse("\(name) takes a number above 0, not \"\(value)\"") }
        duration = .seconds(number * (name == "--minutes" ? 60 : 1))
    case "--seed":
        guard let number = UInt64(value) else { refuse("--seed takes a number, not \"\(value)\"") }
        seed = number
    default: refuse("there is no option \(name)")
    }
}

let counts = Mutex((passed: 0, failed: 0))
let (time, start) = (duration, seed)
DispatchQueue.concurrentPerform(iterations: SoakStore.all.count) { place in
    let store = SoakStore.all[place]
    let folder = FileManager.default.temporaryDirectory.appending(path: "mortise-soak-\(UUID().uuidString)")
    var run = SoakRun(store, seed: start &+ UInt64(place), in: folder.path)
    var isWhole = true
    do {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        try run.run(for: time)
    } catch {
        isWhole = false
        print("failed: \(store.name), after \(run.operations) operations, --seed \(start): \(error)")
        print("the store is in \(folder.path)")
    }
    if isWhole { try? FileManager.default.removeItem(at: folder) }
    print("\(store.name): \(run.operations) operations, \(run.comparisons) comparisons")
    counts.withLock {
        $0.passed += run.comparisons - (isWhole ? 0 : 1)
        $0.failed += isWhole ? 0 : 1
    }
}
let (passed, failed) = counts.withLock { ($0.passed, $0.failed) }
print("soak: seed \(seed)")
print("\(passed) passed, \(failed) failed, 0 skipped")
exit(failed == 0 ? 0 : 1)
