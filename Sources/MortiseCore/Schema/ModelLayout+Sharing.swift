extension ModelLayout {
    /// The relationships of the model at the other end that name the one in this slot as their inverse, where several do.
    /// None where it has an inverse of its own.
    func sharers(of slot: Int) -> [Int] {
        guard inverseSlots[slot] == nil, let other = destinations[slot] else { return [] }
        return other.properties.indices.filter { candidate in
            other.inverseSlots[candidate] == slot && !other.sharingSlots[candidate].isEmpty
                && other.destinations[candidate].map { isSame(as: $0) || $0.isSame(as: self) } == true
        }
    }
}
