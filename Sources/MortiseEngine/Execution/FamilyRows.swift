import MortiseCore

/// The rows of several tables for which conditions hold, in the order in which they were inserted, which is the identity
/// order of a family. Chunks are looked at when their rows' turn comes.
struct FamilyRows {
    private let scans: [TableScan]

    init(_ scans: [TableScan]) { self.scans = scans }

    /// Rows that come one after the other and are in one chunk.
    struct Run {
        /// The table's place among the scans.
        let scan: Int
        let place: ChunkPlace
        /// The number of the chunk's first row.
        let first: Int
        let offsets: [Int]
    }

    /// Calls the body with all rows, run by run, until it returns false.
    /// - Returns: how many rows were looked at, at most.
    /// - Throws: `QueryEvaluationError`; what the body throws.
    @discardableResult
    func forEachRun(_ body: (Run) throws -> Bool) throws -> Int {
        let members = scans.enumerated().map { Member($0.element, place: $0.offset) }
        var left: [Member] = []
        for member in members where try member.advance() { left.append(member) }
        while let first = left.indices.min(by: { left[$0].sequence < left[$1].sequence }) {
            var end = UInt64.max
            for place in left.indices where place != first { end = min(end, left[place].sequence) }
            if try !body(left[first].run(before: end)) { break }
            if try !left[first].continues() { left.remove(at: first) }
        }
        return members.reduce(0) { $0 + $1.scanned }
    }

    /// One table, and how far its rows have been handed out.
    private final class Member {
        private let scan: TableScan
        private let place: Int
        private var cursor: TableScan.ChunkCursor
        private var chunk = 0
        private var offsets: [Int] = []
        private var next = 0
        /// The number of the record whose turn it is.
        private(set) var sequence: UInt64 = 0

        init(_ scan: TableScan, place: Int) {
            self.scan = scan
            self.place = place
            cursor = TableScan.ChunkCursor(scan)
        }

        var scanned: Int { cursor.scanned }

        /// Goes to the next chunk that has rows.
        func advance() throws -> Bool {
            guard let found = try cursor.advance() else { return false }
            chunk = found
            offsets.removeAll(keepingCapacity: true)
            cursor.selection.forEach { offsets.append($0) }
            next = 0
            return try continues()
        }

        /// Whether there is a row left, whose turn it then is.
        func continues() throws -> Bool {
            if next == offsets.count { return try advance() }
            sequence = scan.table.place(ofChunk: chunk).sequence(offsets[next])
            return true
        }

        /// The next rows whose numbers are below one, and that are in one chunk.
        func run(before end: UInt64) -> Run {
            let place = scan.table.place(ofChunk: chunk)
            let start = next
            repeat { next += 1 } while next < offsets.count && place.sequence(offsets[next]) < end
            return Run(
                scan: self.place, place: place, first: chunk << Chunk.shift, offsets: Array(offsets[start..<next]))
        }
    }
}
