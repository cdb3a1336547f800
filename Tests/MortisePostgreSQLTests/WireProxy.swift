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

    private struct State {
        var cut: Cut?
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
            let bytes = Array(buffer[..<count])
            last = last.suffix(64) + bytes
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
            while sent < count {
                let written = bytes[sent...].withUnsafeBytes {
                    send(to, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
                }
                if written <= 0 { return }
                sent += written
            }
        }
    }

    private static func contains(_ bytes: [UInt8], _ text: String) -> Bool {
        Data(bytes).range(of: Data(text.utf8)) != nil
    }
}
#endif
