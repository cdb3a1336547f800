#if PostgreSQL
import Foundation
import Synchronization

/// Passes on what a store and a server send each other, and cuts the connection where a test says so.
final class WireProxy: @unchecked Sendable {
    // @unchecked: what changes after the object is made is under the lock.

    /// Where a connection is cut, once unless it says otherwise.
    enum Cut: Sendable {
        /// When the server has said that it has committed a save, before the store gets that.
        case afterCommit
        /// Before the server gets the end of a save.
        case beforeCommit
        /// The same with all connections, until another cut is set.
        case beforeEveryCommit
        /// After so many bytes in one of the directions.
        case after(bytes: Int, fromServer: Bool)
    }

    /// What happens to the next end of a save instead of being passed on at once.
    enum Delay: Sendable {
        /// The server commits, and its answer is replaced by an error with this SQLSTATE.
        case answer(state: String)
        /// The server gets the end once the semaphore lets it pass.
        case hold(arrived: DispatchSemaphore, until: DispatchSemaphore)
    }

    private struct State {
        var cut: Cut?
        var delay: Delay?
        /// The server's sides of the connections that wait for notifications.
        var listening: Set<Int32> = []
        var silencesListeners = false
        var isDown = false
        var staysDown = false
        var sockets: [Int32] = []
        var cuts = 0
        /// Whether the end of a save is on its way to the server.
        var seesSave = false
    }

    let port: UInt16
    private let listener: Int32
    private let server: String
    private let state = Mutex(State())

    /// - Parameter server: the path of the server's socket.
    init(server: String) throws {
        self.server = server
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, length) == 0 && listen(listener, 64) == 0 && getsockname(listener, $0, &length) == 0
            }
        }
        guard isBound else { throw CocoaError(.fileReadUnknown) }
        self.listener = listener
        port = UInt16(bigEndian: address.sin_port)
        Thread.detachNewThread { [self] in accept() }
    }

    /// How many connections were cut.
    var cuts: Int { state.withLock { $0.cuts } }

    /// Cuts the next connection that comes so far.
    /// - Parameter staysDown: whether nobody can connect from then on, until `comeBack()`.
    func cut(_ cut: Cut, staysDown: Bool = false) {
        state.withLock {
            $0.cut = cut
            $0.staysDown = staysDown
        }
    }

    /// Does that to the next end of a save.
    func delay(_ delay: Delay) { state.withLock { $0.delay = delay } }

    /// Passes nothing on to those who wait for notifications, and leaves their connections open.
    func silenceListeners() { state.withLock { $0.silencesListeners = true } }

    /// How many connections have asked for notifications.
    var listeners: Int { state.withLock { $0.listening.count } }

    func comeBack() { state.withLock { $0.isDown = false } }

    func cutNoMore() { state.withLock { $0.cut = nil } }

    func close() {
        state.withLock {
            $0.isDown = true
            for socket in $0.sockets { shutdown(socket, Int32(SHUT_RDWR)) }
        }
        shutdown(listener, Int32(SHUT_RDWR))
        Foundation.close(listener)
    }

    private func accept() {
        while true {
            let client = Foundation.accept(listener, nil, nil)
            if client < 0 { return }
            let upstream = state.withLock { $0.isDown } ? -1 : dial()
            if upstream < 0 {
                Foundation.close(client)
                continue
            }
            state.withLock { $0.sockets += [client, upstream] }
            Thread.detachNewThread { [self] in pass(from: client, to: upstream, isServer: false) }
            Thread.detachNewThread { [self] in pass(from: upstream, to: client, isServer: true) }
        }
    }

    private func dial() -> Int32 {
        let found = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { bytes in
            for (place, byte) in server.utf8.enumerated() where place < bytes.count - 1 { bytes[place] = byte }
        }
        let isConnected = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(found, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
            }
        }
        return isConnected ? found : -1
    }

    private func pass(from: Int32, to: Int32, isServer: Bool) {
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        defer {
            shutdown(from, Int32(SHUT_RDWR))
            shutdown(to, Int32(SHUT_RDWR))
        }
        // Words may come in parts.
        var last: [UInt8] = []
        while true {
            let count = read(from, &buffer, buffer.count)
            if count <= 0 { return }
            var bytes = Array(buffer[..<count])
            last = last.suffix(64) + bytes
            if isServer, state.withLock({ $0.silencesListeners && $0.listening.contains(from) }) { continue }
            delay(&bytes, last, from: from, to: to, isServer: isServer)
            let isCut = state.withLock { state in
                let isHere: Bool
                switch state.cut {
                case .afterCommit?: isHere = isServer && Self.contains(last, "COMMIT\0") && state.seesSave
                case .beforeCommit?, .beforeEveryCommit?:
                    isHere = !isServer && Self.contains(last, "INSERT INTO mortise_saves")
                case .after(let left, isServer)?:
                    isHere = left < count
                    if !isHere { state.cut = .after(bytes: left - count, fromServer: isServer) }
                default: isHere = false
                }
                if !isServer, Self.contains(last, "INSERT INTO mortise_saves") { state.seesSave = true }
                guard isHere else { return false }
                if case .beforeEveryCommit? = state.cut {} else { state.cut = nil }
                state.cuts += 1
                state.seesSave = false
                if state.staysDown { state.isDown = true }
                return true
            }
            if isCut { return }
            var sent = 0
            while sent < bytes.count {
                let written = bytes[sent...].withUnsafeBytes {
                    send(to, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
                }
                if written <= 0 { return }
                sent += written
            }
        }
    }

    /// Waits, or changes what is passed on, where a test says so.
    private func delay(_ bytes: inout [UInt8], _ last: [UInt8], from: Int32, to: Int32, isServer: Bool) {
        if !isServer, Self.contains(last, "LISTEN ") { state.withLock { _ = $0.listening.insert(to) } }
        let found: Delay? = state.withLock { state in
            let isHere: Bool
            switch state.delay {
            case .answer?: isHere = isServer && state.seesSave && Self.contains(bytes, Self.committed)
            case .hold?: isHere = !isServer && Self.contains(last, "INSERT INTO mortise_saves")
            case nil: isHere = false
            }
            guard isHere else { return nil }
            state.cuts += 1
            defer { state.delay = nil }
            return state.delay
        }
        switch found {
        case .answer(let code)?:
            var error: [UInt8] = []
            for field in ["SERROR", "VERROR", "C\(code)", "Mreplaced"] { error += Array(field.utf8) + [0] }
            error.append(0)
            let length = UInt32(error.count + 4)
            error = [UInt8(ascii: "E")] + (0..<4).map { UInt8(truncatingIfNeeded: length >> (24 - 8 * $0)) } + error
            guard let range = Data(bytes).range(of: Data(Self.committed.utf8)) else { return }
            bytes.replaceSubrange(range, with: error)
        case .hold(let arrived, let until)?:
            arrived.signal()
            until.wait()
        case nil: break
        }
    }

    /// The server's message that a transaction is committed: its kind, its length, and the command.
    private static let committed = "C\0\0\0\u{B}COMMIT\0"

    private static func contains(_ bytes: [UInt8], _ text: String) -> Bool {
        Data(bytes).range(of: Data(text.utf8)) != nil
    }
}
#endif
