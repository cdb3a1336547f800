#if Inspector
import Foundation

/// `mortise serve` as a process, asked through a socket, so that a test says every byte of a request itself.
final class InspectorRun: Sendable {
    struct Reply {
        let status: Int
        /// With names in lower case.
        let headers: [String: String]
        let bytes: Data
        var body: String { String(decoding: bytes, as: UTF8.self) }

        /// The token that a form of this page has to send.
        var formToken: String {
            let parts = body.components(separatedBy: "name=\"form\" value=\"")
            return parts.count > 1 ? String(parts[1].prefix { $0 != "\"" }) : ""
        }

        /// The values of the hidden and visible fields of the form that changes a record.
        var fields: [String: String] {
            var fields: [String: String] = [:]
            for match in body.matches(of: /<input[^>]* name="([a-z]+\d*)"[^>]* value="([^"]*)"/) {
                fields[String(match.1)] = Reply.unescaped(String(match.2))
            }
            for match in body.matches(of: /<input type="checkbox" name="(n\d+)" value="1" checked/) {
                fields[String(match.1)] = "1"
            }
            for match in body.matches(of: /<input type="checkbox" name="(n\d+)" value="1">/) {
                fields[String(match.1)] = nil
            }
            for match in body.matches(of: /<textarea name="(v\d+)"[^>]*>\n([^<]*)<\/textarea>/) {
                fields[String(match.1)] = Reply.unescaped(String(match.2))
            }
            return fields
        }

        private static func unescaped(_ text: String) -> String {
            [("&quot;", "\""), ("&#39;", "'"), ("&lt;", "<"), ("&gt;", ">"), ("&#13;", "\r"), ("&amp;", "&")]
                .reduce(text) { $0.replacingOccurrences(of: $1.0, with: $1.1) }
        }
    }

    let port: Int
    let token: String
    private let cookie: String
    private let process: SendableProcess

    private struct SendableProcess: @unchecked Sendable {
        // @unchecked: started before and ended after everything else.
        let process: Process
    }

    /// What has to be there as long as it is served.
    private let store: OddStore?

    /// Starts the tool and enters with the token that it prints.
    init(_ arguments: [String], keeping store: OddStore? = nil) throws {
        self.store = store
        let process = Process()
        process.executableURL = try Self.executable()
        process.arguments = ["serve"] + arguments
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        var text = ""
        while !text.contains("\n") {
            let piece = output.fileHandleForReading.availableData
            if piece.isEmpty { break }
            text += String(decoding: piece, as: UTF8.self)
        }
        guard let address = text.firstMatch(of: /http:\/\/[^:]+:(\d+)\/\?token=([0-9a-f]+)/), let port = Int(address.1)
        else {
            process.terminate()
            throw CocoaError(.fileReadUnknown, userInfo: [NSFilePathErrorKey: text])
        }
        self.port = port
        token = String(address.2)
        self.process = SendableProcess(process: process)
        let entered = try Self.ask(port, "GET", "/?token=\(token)", ["Host": "127.0.0.1:\(port)"], Data())
        cookie = entered.headers["set-cookie"].map { String($0.prefix { $0 != ";" }) } ?? ""
    }

    deinit { end() }

    @discardableResult func end() -> Int32 {
        let process = process.process
        if process.isRunning { process.terminate() }
        process.waitUntilExit()
        return process.terminationStatus
    }

    /// Asks for a path as a browser does that has entered; `headers` come in the place of what it would send.
    func get(_ path: String, _ headers: [String: String?] = [:]) throws -> Reply {
        try Self.ask(port, "GET", path, all(headers), Data())
    }

    /// Sends a form as a browser does.
    func post(_ path: String, _ form: [String: String], _ headers: [String: String?] = [:]) throws -> Reply {
        let allowed = CharacterSet(charactersIn: "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")
        let body = form.map { name, value in
            name + "=" + (value.addingPercentEncoding(withAllowedCharacters: allowed) ?? "")
        }.joined(separator: "&")
        var own: [String: String?] = [
            "Content-Type": "application/x-www-form-urlencoded", "Origin": "http://127.0.0.1:\(port)",
            "Sec-Fetch-Site": "same-origin",
        ]
        for (name, value) in headers { own.updateValue(value, forKey: name) }
        return try Self.ask(port, "POST", path, all(own), Data(body.utf8))
    }

    private func all(_ headers: [String: String?]) -> [String: String] {
        var all: [String: String?] = ["Host": "127.0.0.1:\(port)", "Cookie": cookie]
        for (name, value) in headers { all.updateValue(value, forKey: name) }
        return all.compactMapValues { $0 }
    }

    /// Asks for a path, reads the beginning of the answer, and goes away.
    func abandon(_ path: String) throws {
        let descriptor = try Self.send(port, "GET", path, all([:]), Data())
        defer { close(descriptor) }
        var buffer = [UInt8](repeating: 0, count: 1 << 10)
        let count = buffer.withUnsafeMutableBytes { recv(descriptor, $0.baseAddress, $0.count, 0) }
        guard count > 0 else { throw CocoaError(.fileReadUnknown) }
    }

    /// How many threads the server has.
    func threads() throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/\(process.process.processIdentifier)/task").count
    }

    /// Sends a request on a connection of its own.
    private static func send(
        _ port: Int, _ method: String, _ path: String, _ headers: [String: String], _ body: Data
    ) throws -> Int32 {
        #if canImport(Glibc)
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #else
        let descriptor = socket(AF_INET, SOCK_STREAM, 0)
        #endif
        // So that a test of a server which does not answer fails.
        var patience = timeval(tv_sec: 300, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        let connected = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard connected == 0 else {
            close(descriptor)
            throw CocoaError(.fileReadUnknown)
        }
        var request = "\(method) \(path) HTTP/1.1\r\nConnection: close\r\n"
        for (name, value) in headers { request += "\(name): \(value)\r\n" }
        if method == "POST" { request += "Content-Length: \(body.count)\r\n" }
        var bytes = Data((request + "\r\n").utf8) + body
        while !bytes.isEmpty {
            let count = bytes.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
            guard count > 0 else {
                close(descriptor)
                throw CocoaError(.fileWriteUnknown)
            }
            bytes = bytes.dropFirst(count)
        }
        return descriptor
    }

    private static func ask(
        _ port: Int, _ method: String, _ path: String, _ headers: [String: String], _ body: Data
    ) throws -> Reply {
        let descriptor = try send(port, method, path, headers, body)
        defer { close(descriptor) }
        var answer = Data()
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = buffer.withUnsafeMutableBytes { recv(descriptor, $0.baseAddress, $0.count, 0) }
            guard count > 0 else { break }
            answer += buffer.prefix(count)
        }
        return try reply(answer)
    }

    private static func reply(_ answer: Data) throws -> Reply {
        guard let end = answer.range(of: Data("\r\n\r\n".utf8)) else { throw CocoaError(.fileReadCorruptFile) }
        let lines = String(decoding: answer[..<end.lowerBound], as: UTF8.self).components(separatedBy: "\r\n")
        let words = lines[0].split(separator: " ")
        var headers: [String: String] = [:]
        for line in lines.dropFirst() {
            let sides = line.split(separator: ":", maxSplits: 1)
            if sides.count == 2 { headers[sides[0].lowercased()] = sides[1].trimmingCharacters(in: .whitespaces) }
        }
        var body = Data(answer[end.upperBound...])
        if headers["transfer-encoding"] == "chunked" { body = try unchunked(body) }
        return Reply(status: words.count > 1 ? Int(words[1]) ?? 0 : 0, headers: headers, bytes: body)
    }

    /// - Throws: an error if the last chunk is missing, as where the server has ended within a body.
    private static func unchunked(_ body: Data) throws -> Data {
        var (rest, result) = (body, Data())
        while let line = rest.range(of: Data("\r\n".utf8)) {
            guard let count = Int(String(decoding: rest[..<line.lowerBound], as: UTF8.self), radix: 16) else { break }
            if count == 0 { return result }
            guard rest.endIndex - line.upperBound >= count + 2 else { break }
            result += rest[line.upperBound..<line.upperBound + count]
            rest = Data(rest[(line.upperBound + count + 2)...])
        }
        throw CocoaError(.fileReadCorruptFile)
    }

    /// Runs the tool to its end.
    /// - Returns: its exit status.
    static func tool(_ arguments: [String]) throws -> Int32 {
        let process = Process()
        process.executableURL = try executable()
        process.arguments = arguments
        process.standardOutput = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        return process.terminationStatus
    }

    /// The tool that `MORTISE_TOOL` names; else the one beside the tests.
    private static func executable() throws -> URL {
        if let path = ProcessInfo.processInfo.environment["MORTISE_TOOL"], !path.isEmpty {
            return URL(fileURLWithPath: path)
        }
        let folders = [Bundle.main.executableURL, URL(fileURLWithPath: CommandLine.arguments[0])]
            .compactMap { $0?.deletingLastPathComponent() }
        guard
            let found = folders.map({ $0.appending(path: "mortise") })
                .first(where: { FileManager.default.isExecutableFile(atPath: $0.path) })
        else { throw CocoaError(.fileNoSuchFile, userInfo: [NSFilePathErrorKey: "mortise"]) }
        return found
    }
}
#endif
