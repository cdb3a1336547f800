public import Foundation
import MortiseAppendLog
import MortiseCore
import PackageTestSupport

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#endif

/// Kills a process that saves, again and again, and looks whether all that it was told is there.
public enum KillRun {
    /// How many records each save makes; none of them may be there without the others.
    private static let parts = 3
    /// How many saves later they are changed, and after how many they are deleted.
    private static let (changed, deleted) = (5, 20)

    /// What the child does: says 0 when the store is open, saves numbers from where the store stands on, and prints each
    /// after its save returned. Each save makes records of its number, changes those of an earlier one and deletes those of
    /// one still earlier, so that the last number says all that the store holds.
    /// - Parameter isBroken: prints before it saves, to see that this is found out.
    public static func save(at path: String, seed: UInt64, isBroken: Bool) throws -> Never {
        var generator = SeededGenerator(seed: seed)
        var configuration = configuration(path, history: .keep(days: 0))
        // Half of the children write what they save while they encode it, in pieces shorter than a record.
        if seed % 2 == 0 { configuration.pieceSize = 128 }
        let container = try ModelContainer(for: Schema([Mark.self]), configurations: [configuration])
        let store = try AppendLogStore(configuration, migrationPlan: nil)
        let context = ModelContext(container)
        var number = (try numbers(in: context).max() ?? 0) + 1
        print(line: 0)
        while true {
            for part in 0..<parts {
                context.insert(Mark(number: number, part: part, text: text(number, part, after: number)))
            }
            let (old, gone) = (number - changed, number - deleted)
            for mark in try context.fetch(FetchDescriptor<Mark>(predicate: #Predicate { $0.number == old })) {
                mark.text = text(old, mark.part, after: number)
            }
            for mark in try context.fetch(FetchDescriptor<Mark>(predicate: #Predicate { $0.number == gone })) {
                context.delete(mark)
            }
            if isBroken { print(line: number) }
            try context.save()
            if !isBroken { print(line: number) }
            number += 1
            switch generator.next() % 40 {
            case 0: try store.checkpoint()
            case 1: try store.compact()
            default: break
            }
        }
    }

    private static func print(line number: Int) {
        let line = Array("\(number)\n".utf8)
        _ = line.withUnsafeBytes { write(1, $0.baseAddress, $0.count) }
    }

    /// Starts the program as its own child so many times and kills it each time.
    /// - Returns: what was wrong, in words, and how many saves were acknowledged in all.
    public static func run(
        program: String, kills: Int, seed: UInt64, isBroken: Bool = false, in folder: URL
    ) throws -> (faults: [String], acknowledged: Int) {
        var generator = SeededGenerator(seed: seed)
        var faults: [String] = []
        var acknowledged = 0
        var total = 0
        let path = folder.appending(path: "killed.log").path(percentEncoded: false)
        for kill in 1...max(1, kills) {
            let printed = try runChild(
                [program, isBroken ? "--save-broken" : "--save", path, String(generator.next())], for: generator.next())
            total += printed.count
            acknowledged = max(acknowledged, printed.last ?? 0)
            do {
                let container = try open(path, history: .keepAll)
                let context = ModelContext(container)
                let last = try numbers(in: context).max() ?? 0
                let wrong = try difference(in: context, after: last)
                try container.close()
                if last < acknowledged {
                    faults.append("kill \(kill): \(acknowledged) was acknowledged, \(last) is there")
                }
                if last > acknowledged + 1 { faults.append("kill \(kill): \(last) is there and was not begun") }
                if let wrong { faults.append("kill \(kill): \(wrong)") }
                // What was not acknowledged and is there stays there.
                acknowledged = last
            } catch {
                faults.append("kill \(kill): \(error)")
                return (faults, total)
            }
        }
        if total == 0 { faults.append("no save was acknowledged before a kill, so nothing was tried") }
        return (faults, total)
    }

    /// - Parameter chance: decides when the child dies: one in eight while it starts and opens the store, the others within
    ///   some milliseconds after so many saves.
    /// - Returns: the numbers that the child printed before it died.
    private static func runChild(_ command: [String], for chance: UInt64) throws -> [Int] {
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(fileURLWithPath: command[0])
        process.arguments = Array(command.dropFirst())
        process.standardOutput = output
        try process.run()
        var bytes = Data()
        if chance % 8 > 0 {
            // So many acknowledgements, whatever the machine's speed, and then somewhere in the next save.
            let lines = Int(chance / 8 % 12)
            while bytes.count(where: { $0 == UInt8(ascii: "\n") }) <= lines {
                let more = output.fileHandleForReading.availableData
                if more.isEmpty { break }
                bytes.append(more)
            }
            // Some moment or other after that line.
            usleep(UInt32(chance / 96 % 6_000))
        } else {
            // Some moment or other, also before the first line.
            usleep(UInt32(chance / 8 % 60_000))
        }
        kill(process.processIdentifier, SIGKILL)
        bytes.append(output.fileHandleForReading.readDataToEndOfFile())
        process.waitUntilExit()
        // What follows the last line feed is empty, or was not printed whole.
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
        return lines.dropLast().compactMap { Int($0) }.filter { $0 > 0 }
    }

    private static func configuration(_ path: String, history: AppendLogHistory) -> AppendLogConfiguration {
        var configuration = AppendLogConfiguration(schema: Schema([Mark.self]), path: path, history: history)
        // Compactions in the background are killed, too.
        configuration.leastGarbage = 64 << 10
        return configuration
    }

    private static func open(_ path: String, history: AppendLogHistory) throws -> ModelContainer {
        try ModelContainer(for: Schema([Mark.self]), configurations: [configuration(path, history: history)])
    }

    /// What a part's text is when a save has returned: made, and later changed, in a way that tells them apart.
    private static func text(_ number: Int, _ part: Int, after last: Int) -> String {
        let isChanged = last >= number + changed
        var generator = SeededGenerator(seed: UInt64(number * 2 * parts + part * 2 + (isChanged ? 1 : 0)))
        let length = Int(generator.next() % 2_000)
        return "\(number).\(part)\(isChanged ? " changed " : " ")\(generator.next()) "
            + String(repeating: "x", count: length)
    }

    /// What a store holds that it should not hold after a save, or does not hold that it should; nil where all is right.
    private static func difference(in context: ModelContext, after last: Int) throws -> String? {
        var found: [String: String] = [:]
        for mark in try context.fetch(FetchDescriptor<Mark>()) {
            let key = "\(mark.number).\(mark.part)"
            if found.updateValue(mark.text, forKey: key) != nil { return "part \(key) is there twice" }
        }
        for number in max(1, last - deleted + 1)..<max(1, last + 1) {
            for part in 0..<parts {
                let key = "\(number).\(part)"
                guard let text = found.removeValue(forKey: key) else { return "after \(last), part \(key) is missing" }
                if text != Self.text(number, part, after: last) {
                    return "after \(last), part \(key) reads \"\(text.prefix(40))\""
                }
            }
        }
        return found.keys.min().map { "after \(last), part \($0) is still there" }
    }

    private static func numbers(in context: ModelContext) throws -> [Int] {
        try context.fetch(FetchDescriptor<Mark>()).map(\.number)
    }
}
