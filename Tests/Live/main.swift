import Foundation

// mortise-live [--programs N] [--seed S] [--trace true]: runs random programs of changes under live results, each compared with
// fetches, and ends with a line of counts. The seed of a program that differs is printed: `--seed S --programs 1` runs it again.

var programs = 20_000
var seed: UInt64 = 1
var isTraced = false
var arguments = CommandLine.arguments.dropFirst()
func refuse(_ what: String) -> Never {
    FileHandle.standardError.write(Data("mortise-live: \(what)\n".utf8))
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
    case "--trace": isTraced = value == "true"
    default: refuse("there is no option \(name)")
    }
}

print("seed: \(seed)")
var (passed, failed) = (0, 0)
var (steps, changes, tests, refills) = (0, 0, 0, 0)
var reruns: [String: Int] = [:]
for number in 0..<UInt64(programs) where failed < 20 {
    var program = Program(seed: seed &+ number)
    var fault = program.run(isTraced: isTraced)
    if fault == nil, number % 10 == 0 { fault = await Consumer().run(seed: program.seed) }
    if let fault {
        failed += 1
        print("failed: seed \(program.seed): \(fault)\n")
    } else {
        passed += 1
    }
    steps += program.steps
    changes += program.changes
    tests += program.tests
    refills += program.refills
    reruns.merge(program.reruns) { $0 + $1 }
}
let causes = reruns.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }.joined(separator: ", ")
print("\(steps) steps, \(changes) changes, \(tests) records tested, \(refills) refills, reruns: \(causes)")
print("\(passed) passed, \(failed) failed, \(programs - passed - failed) skipped")
exit(failed == 0 ? 0 : 1)
