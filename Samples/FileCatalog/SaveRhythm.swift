/// How much may pile up before it is saved.
enum SaveRhythm {
    /// How many changes to make after `saved` of them were saved.
    ///
    /// Batches grow with what was saved before. A store that writes its whole file at each save would otherwise write
    /// the first thousand files of a million again for every thousand that follows.
    static func batch(afterSaving saved: Int) -> Int {
        max(5_000, saved)
    }
}
