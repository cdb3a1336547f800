public import MortiseCore

extension StoreScheme {
    /// `log:PATH`: an append log. Options: `allowsSave=true|false`; `durability=full|batched|none`; with `batched`
    /// `interval=50ms`; `sharing=exclusive|shared`; `keepDays=30`, which tells a compaction how much history to keep;
    /// `dropping=Entity,Other`; `name=ledger`.
    public static let log = StoreScheme(
        "log", summary: "an append log of checksummed transactions",
        options: [
            .allowsSave,
            StoreOption(
                "durability", .oneOf(["full", "batched", "none"]), default: "full",
                "when a save reaches the disk: before it returns, at most an interval later, or when the system decides"
            ),
            StoreOption(
                "sharing", .oneOf(["exclusive", "shared"]), default: "exclusive",
                "whether other processes may save at the same time; all of them must use shared"),
            StoreOption("interval", .duration, default: "50ms", "the interval of durability=batched"),
            StoreOption(
                "keepDays", .wholeNumber(0...36_500), default: "all",
                "how many days of history a compaction keeps; all of it without this option"),
            .dropping, .name,
        ]
    ) { url in
        if url.options["interval"] != nil, url.options["durability"] != "batched" {
            throw url.malformed("interval requires durability=batched")
        }
        let durability: AppendLogDurability =
            switch url.options["durability"] {
            case "batched": .batched(url.duration("interval") ?? .milliseconds(50))
            case "none": .none
            default: .full
            }
        return AppendLogConfiguration(
            url.name, path: url.path, allowsSave: url.allowsSave,
            sharing: url.options["sharing"] == "shared" ? .shared : .exclusive, durability: durability,
            history: url.wholeNumber("keepDays").map { .keep(days: $0) } ?? .keepAll,
            dropping: url.dropping)
    }
}
