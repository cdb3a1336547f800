/// A number for each of some handles: an array where most of the handles up to the greatest have one, else a hash table.
struct HandleTable {
    private static let none = UInt32.max
    /// By handle, where the table is dense.
    private var numbers: ContiguousArray<UInt32> = []
    /// The handles by place, where the table is sparse.
    private var keys: ContiguousArray<UInt32> = []
    private var values: ContiguousArray<UInt32> = []
    private(set) var isDense = false
    private(set) var count = 0
    /// One more than the greatest handle that was ever put in since the table was made or changed its form.
    private var end = 0

    init() {}

    /// Makes room for handles that are about to be put in.
    mutating func reserve(_ count: Int, below end: Int) {
        guard self.count == 0, count > 0 else { return }
        self.end = end
        if count >= end / 3 {
            isDense = true
            numbers = ContiguousArray(repeating: Self.none, count: end)
        } else {
            makeRoom(count + count / 2 + 8)
        }
    }

    /// The number of a handle; nil if it has none.
    subscript(handle: UInt32) -> UInt32? {
        if isDense {
            guard Int(handle) < numbers.count else { return nil }
            let number = numbers[Int(handle)]
            return number == Self.none ? nil : number
        }
        guard let place = place(of: handle) else { return nil }
        return values[place]
    }

    /// Gives a handle a number. Neither may be the greatest of its type.
    mutating func set(_ handle: UInt32, _ number: UInt32) {
        if isDense {
            if Int(handle) >= numbers.count {
                // A few far away would take the room of all between.
                if Int(handle) >= 12 * (count + 64) {
                    makeSparse()
                    return set(handle, number)
                }
                let new = min(max(Int(handle) + 1, numbers.count + numbers.count / 4), Int(UInt32.max))
                numbers.reserveCapacity(new)
                numbers.append(contentsOf: repeatElement(Self.none, count: new - numbers.count))
            }
            if numbers[Int(handle)] == Self.none { count += 1 }
            numbers[Int(handle)] = number
            return
        }
        end = max(end, Int(handle) + 1)
        if let place = place(of: handle) {
            values[place] = number
            return
        }
        if (count + 1) * 5 > keys.count * 4 {
            if count >= 64, count >= end / 3 {
                makeDense()
                return set(handle, number)
            }
            makeRoom(max(16, keys.count + keys.count / 2))
        }
        put(handle, number)
        count += 1
    }

    /// Takes a handle's number away.
    mutating func remove(_ handle: UInt32) {
        if isDense {
            guard Int(handle) < numbers.count, numbers[Int(handle)] != Self.none else { return }
            numbers[Int(handle)] = Self.none
            count -= 1
            if count < numbers.count / 8, numbers.count > 512 { makeSparse() }
            return
        }
        guard var hole = place(of: handle) else { return }
        count -= 1
        // What lies behind moves up, unless that would take it before its own place.
        var next = hole
        while true {
            next = next + 1 == keys.count ? 0 : next + 1
            let key = keys[next]
            if key == Self.none { break }
            let home = home(of: key)
            let isBetween = hole <= next ? (hole < home && home <= next) : (hole < home || home <= next)
            if isBetween { continue }
            keys[hole] = key
            values[hole] = values[next]
            hole = next
        }
        keys[hole] = Self.none
    }

    private func home(of handle: UInt32) -> Int {
        let mixed = UInt64(handle) &* 0x9E37_79B9_7F4A_7C15
        return Int(((mixed >> 32) &* UInt64(keys.count)) >> 32)
    }

    private func place(of handle: UInt32) -> Int? {
        if keys.isEmpty { return nil }
        var place = home(of: handle)
        while keys[place] != Self.none {
            if keys[place] == handle { return place }
            place = place + 1 == keys.count ? 0 : place + 1
        }
        return nil
    }

    private mutating func put(_ handle: UInt32, _ number: UInt32) {
        var place = home(of: handle)
        while keys[place] != Self.none { place = place + 1 == keys.count ? 0 : place + 1 }
        keys[place] = handle
        values[place] = number
    }

    private mutating func makeRoom(_ room: Int) {
        let (oldKeys, oldValues) = (keys, values)
        keys = ContiguousArray(repeating: Self.none, count: room)
        values = ContiguousArray(repeating: 0, count: room)
        for (key, value) in zip(oldKeys, oldValues) where key != Self.none { put(key, value) }
    }

    private mutating func makeDense() {
        numbers = ContiguousArray(repeating: Self.none, count: end)
        for (key, value) in zip(keys, values) where key != Self.none { numbers[Int(key)] = value }
        keys = []
        values = []
        isDense = true
    }

    private mutating func makeSparse() {
        let old = numbers
        numbers = []
        isDense = false
        end = 0
        makeRoom(count + count / 2 + 16)
        for (handle, number) in old.enumerated() where number != Self.none {
            put(UInt32(handle), number)
            end = handle + 1
        }
    }
}
