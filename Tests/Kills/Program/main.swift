import Foundation
import MortiseKills

// mortise-kill [--kills N] [--seed S]: kills a process that saves N times, and ends with a line of counts. With
// `--broken true` the process acknowledges before it saves, which has to be found out. With `--migrations true` the process
// migrates stores instead of saving to one.

var kills = 500
var seed: UInt64 = 1
var isBroken = false
var killsMigrations = false
var arguments = CommandLine.arguments.dropFirst()
func refuse(_ what: String) -> Never {
    FileHandle.standardError.write(Data("mortise-kill: \(what)\n".utf8))
    exit(64)
}
while let name = arguments.popFirst() {
    let value = arguments.popFirst() ?? ""
    switch name {
    case "--kills":
        guard let number = Int(value), number > 0 else { refuse("--kills takes a number from 1 on") }
        kills = number
    case "--seed":
        guard let number = UInt64(value) else { refuse("--seed takes a number") }
        seed = number
    case "--migrations": killsMigrations = value == "true"
    case "--migrate":
        let path = arguments.popFirst() ?? ""
        try MigrationKillRun.migrate(value, at: path, seed: UInt64(arguments.popFirst() ?? "") ?? 0)
        exit(0)
    case "--broken": isBroken = value == "true"
    case "--save", "--save-broken":
        try KillRun.save(
            at: value, seed: UInt64(arguments.popFirst() ?? "") ?? 0, isBroken: name == "--save-broken")
    default: refuse("there is no option \(name)")
    }
}
let folder = FileManager.default.temporaryDirectory.appending(path: "mortise-kill-\(UUID().uuidString)")
try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
let program = Bundle.main.executablePath ?? CommandLine.arguments[0]
if killsMigrations {
    let result = try MigrationKillRun.run(program: program, kills: kills, seed: seed, in: folder)
    for fault in result.faults { print("failed: \(fault)") }
    if result.faults.isEmpty {
        try FileManager.default.removeItem(at: folder)
    } else {
        print("the stores are in \(folder.path)")
    }
    print(
        "migrations: seed \(seed), after \(kills) kills \(result.before) stores were at the version before and \(result.after) after, "
            + "\(result.refused) attempts were refused")
    print("\(kills - result.faults.count) passed, \(result.faults.count) failed, 0 skipped")
    exit(result.faults.isEmpty ? 0 : 1)
}
let (faults, acknowledged) = try KillRun.run(program: program, kills: kills, seed: seed, isBroken: isBroken, in: folder)
for fault in faults { print("failed: \(fault)") }
if faults.isEmpty { try FileManager.default.removeItem(at: folder) } else { print("the store is in \(folder.path)") }
print("\(acknowledged) saves were acknowledged before \(kills) kills")
print("\(kills - min(faults.count, kills)) passed, \(faults.count) failed, 0 skipped")
exit(faults.isEmpty ? 0 : 1)
