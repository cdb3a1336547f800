extension MigrationUnderWay {
    /// How many attempts in succession may end with their processes before one is refused.
    package static let mostAttempts = 2

    /// The same migration, as the attempt that follows on one whose process has died.
    /// - Parameters:
    ///   - last: what that process has left; nil for nothing. One between other versions does not count.
    ///   - store: the store's name in errors.
    /// - Returns: this migration with the number of its attempt.
    /// - Throws: `MigrationError.attemptsDied` where that was the last of `mostAttempts`.
    package func following(
        _ last: MigrationUnderWay?, store: String
    ) throws(MigrationError) -> MigrationUnderWay {
        guard let last, last.from == from, last.to == to, last.attempt > 0 else { return self }
        if last.attempt >= Self.mostAttempts {
            throw .attemptsDied(store: store, from: from, to: to ?? from, attempts: last.attempt)
        }
        return MigrationUnderWay(
            process: process, host: host, start: start, from: from, to: to, attempt: last.attempt + 1)
    }
}
