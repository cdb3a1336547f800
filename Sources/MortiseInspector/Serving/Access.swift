#if Inspector
/// Who may see pages: a browser that was given the secret address, and asks under a name that this server listens on.
struct Access: Sendable {
    /// In the address that the tool prints.
    private let token = Access.secret()
    /// In the browser's cookie.
    private let session = Access.secret()
    /// In every form that changes something.
    let formToken = Access.secret()
    private let host: String
    private let port: Int

    init(host: String, port: Int) {
        self.host = host.lowercased()
        self.port = port
    }

    /// What to open in a browser.
    var address: String { "http://\(Self.named(host)):\(port)/?token=\(token)" }

    enum Verdict: Equatable {
        case allowed
        /// The secret was in the address: from now on it is in a cookie.
        case entered(cookie: String)
        /// Another site's name leads to this address: DNS rebinding.
        case wrongHost
        case noToken
    }

    func verdict(host authority: String?, token given: String?, cookies: [String]) -> Verdict {
        guard let authority, names.contains(authority.lowercased()) else { return .wrongHost }
        if let given {
            guard Self.areEqual(given, token) else { return .noToken }
            return .entered(cookie: "\(cookieName)=\(session); Path=/; HttpOnly; SameSite=Strict")
        }
        return isKnown(cookies) ? .allowed : .noToken
    }

    /// Whether a form was sent by a page of this server. Browsers say from which origin it is, and in another field from which
    /// site, but that only to an address that is encrypted or of this machine. Those that people have told to send no referrer
    /// send `null` as the origin.
    func isOwn(origin: String?, site: String?) -> Bool {
        guard site == nil || site == "same-origin" else { return false }
        switch origin?.lowercased() {
        case nil: return true
        case "null": return site == "same-origin"
        case let origin?: return names.contains { origin == "http://\($0)" }
        }
    }

    func isValid(formToken given: String?) -> Bool { given.map { Self.areEqual($0, formToken) } ?? false }

    private var names: [String] {
        let isLoopback = ["localhost", "::1"].contains(host) || host.hasPrefix("127.")
        let all = isLoopback ? [host, "localhost", "127.0.0.1", "::1"] : [host]
        return all.map { "\(Self.named($0)):\(port)" } + (port == 80 ? all.map(Self.named) : [])
    }

    private static func named(_ host: String) -> String { host.contains(":") ? "[\(host)]" : host }

    /// Cookies know no ports.
    private var cookieName: String { "mortise-\(port)" }

    private func isKnown(_ cookies: [String]) -> Bool {
        cookies.flatMap { $0.split(separator: ";") }.contains { pair in
            let sides = pair.split(separator: "=", maxSplits: 1)
            guard sides.count == 2, sides[0].drop(while: { $0 == " " }) == cookieName else { return false }
            return Self.areEqual(String(sides[1]), session)
        }
    }

    private static func secret() -> String {
        var generator = SystemRandomNumberGenerator()
        return (0..<4).map { _ in
            let digits = String(generator.next() as UInt64, radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }.joined()
    }

    /// In a time that does not tell where the texts differ.
    private static func areEqual(_ a: String, _ b: String) -> Bool {
        let (a, b) = (Array(a.utf8), Array(b.utf8))
        guard a.count == b.count else { return false }
        var difference: UInt8 = 0
        for (x, y) in zip(a, b) { difference |= x ^ y }
        return difference == 0
    }
}
#endif
