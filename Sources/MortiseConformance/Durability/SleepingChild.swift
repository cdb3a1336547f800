import Foundation

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// A program that does nothing, and has inherited what every program inherits from the one that starts it. `Process` closes
/// files that others leave open.
struct SleepingChild {
    private let identifier: pid_t

    /// - Throws: `Untried` where no program can be started.
    init() throws {
        #if os(Linux) || os(macOS)
        var identifier: pid_t = 0
        let paths: [String] = ["/bin/sleep", "/usr/bin/sleep"]
        let path = paths.first { access($0, X_OK) == 0 }
        guard let path else { throw Untried(reason: "there is no program to start") }
        var arguments: [UnsafeMutablePointer<CChar>?] = [strdup(path), strdup("300"), nil]
        var environment: [UnsafeMutablePointer<CChar>?] = [nil]
        defer { for argument in arguments { free(argument) } }
        let status = posix_spawn(&identifier, path, nil, nil, &arguments, &environment)
        guard status == 0 else { throw Untried(reason: "\(path) cannot be started: error \(status)") }
        self.identifier = identifier
        #else
        throw Untried(reason: "this system lets no program start another")
        #endif
    }

    /// Ends the program.
    func end() {
        #if os(Linux) || os(macOS)
        kill(identifier, SIGKILL)
        var status: Int32 = 0
        waitpid(identifier, &status, 0)
        #endif
    }
}
