public import MortiseCore

extension StoreScheme {
    /// `log:PATH`: an append log. Options: `allowsSave=true|false`; `durability=full|batched|none`; with `batched`
    /// `interval=50ms`; `sharing=exclusive|shared`; `keepDays=30`, which tells a compaction how much history to keep.
    public static let log = StoreScheme(
        "log", summary: "an append log of checksummed transactions",
        options: [
            .allowsSave,
            StoreOption(
                "durability", .oneOf(["full", "batched", "none"]), default: "full",
                "when a save is on the disk: before it returns, at most an interval later, or some time"),
            StoreOption(
                "sharing", .oneOf(["exclusive", "shared"]), default: "exclusive",
                "whether other processes that say shared, too, may save at the same time"),
            StoreOption("interval", .duration, default: "50ms", "the interval of durability=batched"),
            StoreOption(
                "keepDays", .wholeNumber(0...36_500), default: "all",
                "for how many days a compaction keeps the history; without it all is kept"),
        ]
    ) { url in
        if url.options["interval"] != nil, url.options["durability"] != "batched" {
            throw url.malformed("interval goes with durability=batched only")
        }
        let durability: AppendLogDurability =
            switch url.options["durability"] {
            case "batched": .batched(url.duration("interval") ?? .milliseconds(50))
            case "none": .none
            default: .full
            }
        return AppendLogConfiguration(
            path: url.path, allowsSave: url.allowsSave,
            sharing: url.options["sharing"] == "shared" ? .shared : .exclusive, durability: durability,
            history: url.wholeNumber("keepDays").map { .keep(days: $0) } ?? .keepAll)
    }
}
