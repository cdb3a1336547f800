extension DefaultSnapshot {
    /// About how much memory the record takes.
    package var approximateBytes: Int { values.reduce(64) { $0 + $1.approximateBytes } }
}
