#if Tool
import Dispatch
import Foundation
import Synchronization

/// Notices that the user wants to end the program (Ctrl-C, SIGTERM), so that it ends where nothing is half done.
final class Interruption {
    private final class Flag: Sendable {
        let isSet = Atomic(false)
    }
    private let flag = Flag()
    private var sources: [any DispatchSourceSignal] = []

    /// From here on the signals do not end the process.
    init() {
        for number in [SIGINT, SIGTERM] {
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler { [flag] in flag.isSet.store(true, ordering: .relaxed) }
            source.resume()
            sources.append(source)
        }
    }

    deinit {
        for source in sources { source.cancel() }
        for number in [SIGINT, SIGTERM] { signal(number, SIG_DFL) }
    }

    var isRequested: Bool { flag.isSet.load(ordering: .relaxed) }
}
#endif
