public import Foundation

/// A migration that a process says it is carrying out: advice for those who find the store locked. It decides on nothing: what is left of
/// a process that has died means no more than that.
public struct MigrationUnderWay: Sendable, Hashable, Codable {
    /// The number of the process.
    public let process: Int32
    /// The name of the machine that it runs on.
    public let host: String
    /// When it began.
    public let start: Date
    /// The version of the schema that the store was at.
    public let from: Schema.Version
    /// The version that it comes to; nil if that was not said.
    public let to: Schema.Version?
    /// Which attempt it is, from 1: those before it ended with their processes.
    public let attempt: Int

    /// Describes a migration of this process.
    /// - Parameters:
    ///   - from: the version of the schema that the store is at.
    ///   - to: the version that it comes to, if that is known.
    ///   - start: when it began.
    ///   - attempt: which attempt it is.
    public init(from: Schema.Version, to: Schema.Version?, start: Date = Date(), attempt: Int = 1) {
        self.init(
            process: ProcessInfo.processInfo.processIdentifier, host: Self.hostName, start: start, from: from, to: to,
            attempt: attempt)
    }

    /// Describes a migration.
    public init(
        process: Int32, host: String, start: Date, from: Schema.Version, to: Schema.Version?, attempt: Int = 1
    ) {
        self.attempt = attempt
        self.process = process
        self.host = host
        self.start = start
        self.from = from
        self.to = to
    }

    /// Reads what `encode(to:)` writes. Without the number of an attempt it is the first.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        process = try values.decode(Int32.self, forKey: .process)
        host = try values.decode(String.self, forKey: .host)
        start = try values.decode(Date.self, forKey: .start)
        from = try values.decode(Schema.Version.self, forKey: .from)
        to = try values.decodeIfPresent(Schema.Version.self, forKey: .to)
        attempt = try values.decodeIfPresent(Int.self, forKey: .attempt) ?? 1
    }

    /// That of `ProcessInfo` may ask the network.
    private static let hostName: String = {
        var name = [CChar](repeating: 0, count: 256)
        guard gethostname(&name, name.count - 1) == 0 else { return "" }
        return String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }()
}

extension MigrationUnderWay: CustomStringConvertible {
    /// The process, its machine and the versions.
    public var description: String {
        "process \(process)\(host.isEmpty ? "" : " on \(host)"), since \(start.formatted(.iso8601)), from version \(from)"
            + (to.map { " to \($0)" } ?? "") + (attempt > 1 ? ", attempt \(attempt)" : "")
    }
}
