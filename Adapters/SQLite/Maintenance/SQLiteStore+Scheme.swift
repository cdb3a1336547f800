#if SQLite
public import MortiseCore

extension StoreScheme {
    /// `sqlite:PATH`: a file of SQLite. Options: `allowsSave=true|false`; `durability=full|system|none`; `busyTimeout=5s`;
    /// `cache=64` and `walLimit=64`, in MiB; `readers=4`; `pinsReads=true|false`; `dropping=Entity,Other`; `name=ledger`.
    public static let sqlite = StoreScheme(
        "sqlite", summary: "a file of SQLite, larger than memory if need be",
        options: [
            .allowsSave,
            StoreOption(
                "durability", .oneOf(["full", "system", "none"]), default: "full",
                "when a save reaches the disk: before it returns, when the system decides, or so that a power cut may do damage"
            ),
            StoreOption(
                "busyTimeout", .duration, default: "5s", "how long a call waits for another process that writes"),
            StoreOption(
                "cache", .wholeNumber(1...65_536), default: "64", "MiB of the file that a connection keeps in memory"),
            StoreOption("readers", .wholeNumber(1...64), default: "4", "how many connections for reading stay open"),
            StoreOption("walLimit", .wholeNumber(1...65_536), default: "64", "MiB to which the write-ahead log is cut"),
            StoreOption(
                "pinsReads", .flag, default: "false",
                "whether a context reads one state of the file until its next fetch or save"),
            .dropping, .name,
        ]
    ) { url in
        var configuration = SQLiteConfiguration(
            url.name, path: url.path, allowsSave: url.allowsSave,
            durability: url.options["durability"].flatMap(SQLiteDurability.init) ?? .full,
            busyTimeout: url.duration("busyTimeout") ?? .seconds(5),
            cacheBytes: (url.wholeNumber("cache") ?? 64) << 20, readers: url.wholeNumber("readers") ?? 4,
            walLimit: (url.wholeNumber("walLimit") ?? 64) << 20, dropping: url.dropping)
        configuration.pinsReads = url.flag("pinsReads") ?? false
        return configuration
    }
}
#endif
