#if Inspector
import Foundation

/// What a browser asks for.
struct InspectorRequest: Sendable {
    enum Method: Sendable { case get, post }

    let method: Method
    /// The parts of the path, decoded.
    let path: [String]
    let query: [String: String]
    /// What a form sent.
    let form: [String: String]

    func number(_ name: String) -> Int? { query[name].flatMap { Int($0) } }
}

/// What it gets.
enum InspectorAnswer: Sendable {
    case page(status: Int, HTML)
    case redirect(Link)
    /// Bytes with their type; with a name they are to be saved, never shown.
    case bytes(Data, type: String, name: String?)
    /// Bytes that are made while they are sent. The body hands them over, and throws where it has to end early.
    case stream(type: String, name: String, @Sendable (_ send: (Data) throws -> Void) throws -> Void)
}

/// There is no such page.
struct NoSuchPage: Error {
    let what: String
}
#endif
