#if Tool
/// A report's JSON, members in the order given.
indirect enum JSONText: CustomStringConvertible {
    case null
    case bool(Bool)
    case number(Int)
    case text(String)
    case raw(String)
    case list([JSONText])
    case object([(String, JSONText)])

    var description: String {
        switch self {
        case .null: "null"
        case .bool(let value): value ? "true" : "false"
        case .number(let value): "\(value)"
        case .text(let value): ValueText.quoted(value)
        case .raw(let text): text
        case .list(let elements): "[" + elements.map(\.description).joined(separator: ",") + "]"
        case .object(let members):
            "{" + members.map { ValueText.quoted($0.0) + ":" + $0.1.description }.joined(separator: ",") + "}"
        }
    }
}
#endif
