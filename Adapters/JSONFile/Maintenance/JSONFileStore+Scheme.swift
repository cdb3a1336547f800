public import MortiseCore

extension StoreScheme {
    /// `json:PATH`: one JSON file. Options: `allowsSave=true|false`; `integrity=required|acceptEdits`;
    /// `dropping=Entity,Other`; `name=ledger`.
    public static let json = StoreScheme(
        "json", summary: "one JSON file that people can read",
        options: [
            .allowsSave,
            StoreOption(
                "integrity", .oneOf(["required", "acceptEdits"]), default: "required",
                "acceptEdits opens a file whose seal does not match, such as one edited by hand"),
            .dropping, .name,
        ]
    ) { url in
        JSONFileConfiguration(
            url.name, path: url.path, allowsSave: url.allowsSave,
            integrity: url.options["integrity"] == "acceptEdits" ? .acceptEdits : .required,
            dropping: url.dropping)
    }
}
