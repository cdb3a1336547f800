#if Tool
import Foundation
import MortiseCore

extension Migrate {
    /// Lists the copies that migrations have left beside a store.
    func listCopies(_ argument: StoreArgument) throws {
        let copies = try MigrationCopy.all(of: argument)
        let output = ToolContext.current.output
        switch format {
        case .json:
            let list = copies.map { copy in
                JSONText.object([
                    ("path", .text(copy.path)), ("version", copy.version.map { .text("\($0)") } ?? .null),
                    ("bytes", .number(Int(clamping: copy.bytes))), ("date", .text(copy.date.formatted(.iso8601))),
                ])
            }
            try output.line(
                JSONText.object([("store", .text(argument.name)), ("copies", .list(list))]).description)
        case .text:
            for copy in copies {
                let version = copy.version.map { "version \($0)" } ?? "cannot be read"
                try output.line(
                    "\(copy.path.shown(limit: 2_000))  \(version), \(FigureText.bytes(copy.bytes)), "
                        + copy.date.formatted(.iso8601))
            }
            if copies.isEmpty { try output.line("\(argument.name): no copies") }
        }
        try output.flush()
    }

    /// Puts a copy into the store's place.
    func restore(_ copy: String, _ argument: StoreArgument) throws {
        let configuration = try argument.capable(of: .restore, "be restored")
        let all = try MigrationCopy.all(of: argument)
        guard let found = all.first(where: { $0.path == copy || $0.path.hasSuffix("/\(copy)") }) else {
            let known = all.isEmpty ? "it has none" : "it has \(all.map(\.path).joined(separator: ", "))"
            throw ToolError.usage("\(copy.shown(limit: 300)) is no copy of \(argument.name): \(known)")
        }
        let report = try configuration.restoreStore(from: found.path, replacing: true) {}
        try report.print(format, summary: report.problems.isEmpty ? "restored" : "restored with its faults")
        if !report.problems.isEmpty { throw StoreDamage(store: argument.name, problems: report.problems) }
    }

    /// Says which versions and stages the linked plan has, and where the store is, without looking at a record.
    func showPlan(_ plan: any SchemaMigrationPlan.Type, stored: Schema.Version, _ argument: StoreArgument) throws {
        let output = ToolContext.current.output
        let versions = plan.schemas.map { Schema(versionedSchema: $0).version }
        let stages = plan.stages.map { ($0.source.versionIdentifier, $0.target.versionIdentifier, $0.hasCode) }
        switch format {
        case .json:
            try output.line(
                JSONText.object([
                    ("store", .text(argument.name)), ("stored", .text("\(stored)")),
                    ("versions", .list(versions.map { .text("\($0)") })),
                    (
                        "stages",
                        .list(
                            stages.map {
                                .object([
                                    ("from", .text("\($0.0)")), ("to", .text("\($0.1)")), ("code", .bool($0.2)),
                                ])
                            })
                    ),
                ]).description)
        case .text:
            for line in Self.lines(of: plan, stored: stored) { try output.line(line) }
            try output.line("\(argument.name): version \(stored)")
        }
        try output.flush()
    }

    static func lines(of plan: any SchemaMigrationPlan.Type, stored: Schema.Version) -> [String] {
        let versions = plan.schemas.map { version in
            let number = Schema(versionedSchema: version).version
            return "version \(number)\(number == stored ? ", stored" : "")"
        }
        let stages = plan.stages.map { stage in
            "stage \(stage.source.versionIdentifier) to \(stage.target.versionIdentifier)"
                + (stage.hasCode ? ", with code" : "")
        }
        return versions + stages
    }
}
#endif
