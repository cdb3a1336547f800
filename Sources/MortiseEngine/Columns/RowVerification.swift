import MortiseCore
import Synchronization

/// Which of a chunk's rows have been checked by which checks, so that getters find no value that a property's type
/// does not know. Belongs to the chunk, whichever transaction made it and whichever versions have it.
struct RowVerification {
    /// The chunk's word: the checks' key, then in the low bits how many rows, from the first on, are known to fit it.
    let word: UnsafePointer<Atomic<UInt64>>

    /// The key of rows that typed models of this process have made: they fit.
    static let own: UInt64 = .max << 16

    @inline(__always)
    static func key(_ checks: PropertyChecks) -> UInt64 { checks.rawValue << 16 }

    @inline(__always)
    static func admits(_ found: UInt64, _ key: UInt64) -> Bool { found == key || found == own }

    /// Whether the first rows are known to pass.
    @inline(__always)
    func isDone(_ count: Int, _ key: UInt64) -> Bool {
        let found = word.pointee.load(ordering: .acquiring)
        return found & 0xFFFF >= count && Self.admits(found & ~0xFFFF, key)
    }

    /// The first rows have been checked.
    func note(_ count: Int, _ key: UInt64) {
        let found = word.pointee.load(ordering: .relaxed)
        // Where a writer has added rows meanwhile they are checked with all others the next time.
        _ = word.pointee.compareExchange(expected: found, desired: key | UInt64(count), ordering: .releasing)
    }

    // MARK: For the writer

    /// A typed model has made a row after those that are known.
    @inline(__always)
    func addOwn(_ offset: Int) {
        let found = word.pointee.load(ordering: .relaxed)
        if offset == 0 {
            word.pointee.store(Self.own | 1, ordering: .relaxed)
        } else if found & 0xFFFF == offset {
            _ = word.pointee.compareExchange(expected: found, desired: found + 1, ordering: .relaxed)
        }
    }

    /// A row is made that nobody has checked, perhaps in the place of one that a transaction had made which failed.
    @inline(__always)
    func addForeign(_ offset: Int) {
        let found = word.pointee.load(ordering: .relaxed)
        if found & 0xFFFF > offset { set(found & ~0xFFFF | UInt64(offset)) }
    }

    var state: UInt64 { word.pointee.load(ordering: .relaxed) }
    func set(_ state: UInt64) { word.pointee.store(state, ordering: .relaxed) }
}
