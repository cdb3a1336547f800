extension TableWriter {
    /// Takes all full chunks out of memory but the one that rows are being added to.
    /// - Throws: why the file of the spill cannot be written.
    func relieve(_ spill: ChunkSpill) throws {
        isSpilled = true
        for group in open.keys.sorted() {
            for place in open[group]?.indices ?? 0..<0 {
                let index = group << ChunkGroup.shift + place
                guard index < chunkCount - 1, index != currentIndex, case .chunk(let chunk)? = open[group]?[place]
                else {
                    continue
                }
                if let packed = try spill.put(chunk, index, plan, dictionaries) {
                    open[group]?[place] = .packed(packed)
                }
            }
            letGo(group)
        }
    }

    /// Lets go of the chunks of a group that were read out of the file.
    func letGo(_ group: Int) {
        for place in open[group]?.indices ?? 0..<0 {
            if case .packed(let packed)? = open[group]?[place], packed.keptBytes > 0 {
                open[group]?[place] = .packed(packed.unread)
            }
        }
    }
}
