import Foundation

// mortise-relationships [--programs N] [--seed S] [--store memory|json|log|queried|deferred] [--trace true]: runs random programs of
// models that relate to each other on every kind of store, each compared with a reference, and ends with a line of counts.
// The seed of a program that differs is printed: `--seed S --programs 1` runs it again.

var programs = 20_000
var seed: UInt64 = 1
var kinds = StoreKind.allCases
var isTraced = false
var limit = 20
var arguments = CommandLine.arguments.dropFirst()
func refuse(_ what: String) -> Never {
    FileHandle.standardError.write(Data("mortise-relationships: \(what)\n".utf8))
    exit(64)
}
while let name = arguments.popFirst() {
    let value = arguments.popFirst() ?? ""
    switch name {
    case "--programs":
        guard let number = Int(value), number > 0 else { refuse("--programs takes a number from 1 on") }
        programs = number
    case "--seed":
        guard let number = UInt64(value) else { refuse("--seed takes a number") }
        seed = number
    case "--store":
        guard let kind = StoreKind(rawValue: value) else {
            refuse("--store takes memory, json, log, queried or deferred")
        }
        kinds = [kind]
    case "--failures":
        guard let number = Int(value), number > 0 else { refuse("--failures takes a number from 1 on") }
        limit = number
    case "--trace": isTraced = value == "true"
    default: refuse("there is no option \(name)")
    }
}

// Power cuts are not what is tried here, so memory is disk enough.
let shared = "/dev/shm"
let place =
    FileManager.default.isWritableFile(atPath: shared)
    ? shared : FileManager.default.temporaryDirectory.path(percentEncoded: false)
let folder = "\(place)/mortise-relationships-\(UUID().uuidString)"
print("seed: \(seed)")
var failed = 0
var passed = 0
for number in 0..<UInt64(programs) where failed < limit {
    let program = Program(seed: seed &+ number)
    if isTraced { print(program.text) }
    var isSound = true
    for kind in kinds {
        guard
            let difference = Runner.run(
                program.steps, in: program.world, on: kind, folder: folder, trace: isTraced)
        else { continue }
        isSound = false
        var shrinking = Shrinking(program, difference, on: kind, folder: folder)
        shrinking.shrink()
        print("failed: seed \(program.seed) on \(kind.rawValue): \(shrinking.difference)")
        print(shrinking.world)
        print(shrinking.steps.map { $0.text(in: shrinking.world) }.joined(separator: "\n"))
        print()
        break
    }
    if isSound { passed += 1 } else { failed += 1 }
}
if failed == limit, passed + failed < programs { print("stopped after \(failed) failures") }
print("\(passed) passed, \(failed) failed, \(programs - passed - failed) skipped")
exit(failed == 0 ? 0 : 1)
