/// Which object is the model of which row, for one entity in one context. Rows are dense, so this is an array in pages.
///
/// Objects are held without a reference and take themselves out when they go, on whatever thread. The table's lock is held
/// for every call: an object whose last release has begun waits for it, so that its memory is still there and asking it for
/// a reference fails.
struct IdentityMap {
    private static let shift = 9
    private var pages: ContiguousArray<Page?> = []
    /// The page that was emptied last: fetches of a few models that go again at once would make one each time.
    private var spare: Page?
    /// How often a row's object was followed by another before it had taken itself out; 0 for the rows that are not here.
    private var generations: [Int: UInt16] = [:]

    /// The generation of an object that was made for a row which already has another.
    static let surplus = UInt16.max

    /// A page goes when its last object does.
    final class Page {
        fileprivate var count = 0
        fileprivate let objects: UnsafeMutablePointer<Unmanaged<AnyObject>?>

        init() {
            objects = .allocate(capacity: 1 << IdentityMap.shift)
            objects.initialize(repeating: nil, count: 1 << IdentityMap.shift)
        }
        deinit { objects.deallocate() }
    }

    /// Pages without objects are not kept.
    var isEmpty: Bool { pages.allSatisfy { $0 == nil } }

    static func page(of row: Int) -> Int { row >> shift }
    fileprivate static func place(of row: Int) -> Int { row & (1 << shift - 1) }

    /// The objects of a page, to be asked for those of several rows.
    func page(_ number: Int) -> Page? { number < pages.count ? pages[number] : nil }

    /// The object of a row, unless it is being released.
    func object(row: Int) -> AnyObject? {
        guard row >= 0, let page = page(Self.page(of: row)) else { return nil }
        return page.object(row: row)
    }

    /// Whether a row has an object, also one that is being released.
    func isOccupied(row: Int) -> Bool {
        guard row >= 0, let page = page(Self.page(of: row)) else { return false }
        return page.objects[Self.place(of: row)] != nil
    }

    /// What came of registering an object.
    enum Outcome {
        /// The object is the model of the row, in this generation.
        case registered(UInt16)
        /// The row already has this object.
        case present(AnyObject)
    }

    mutating func register(_ object: AnyObject, row: Int) -> Outcome {
        let number = Self.page(of: row)
        while number >= pages.count { pages.append(nil) }
        let page = pages[number] ?? makePage(number)
        let place = Self.place(of: row)
        if page.objects[place] == nil {
            page.count += 1
        } else {
            if let present = page.object(row: row) {
                if present !== object { return .present(present) }
                return .registered(generations[row] ?? 0)
            }
            generations[row] = Self.following(generations[row] ?? 0)
        }
        page.objects[place] = .passUnretained(object)
        return .registered(generations.isEmpty ? 0 : generations[row] ?? 0)
    }

    /// Puts objects into free places of one page.
    /// - Returns: nil if some object of the table has replaced another, so that each has to be registered separately.
    mutating func beginFilling(_ number: Int) -> Page? {
        if !generations.isEmpty { return nil }
        while number >= pages.count { pages.append(nil) }
        return pages[number] ?? makePage(number)
    }

    private static func following(_ generation: UInt16) -> UInt16 {
        let next = generation &+ 1
        return next == surplus ? 0 : next
    }

    /// Takes out the object of a row, unless another has followed it.
    mutating func forget(row: Int, generation: UInt16) {
        let number = Self.page(of: row)
        guard row >= 0, generation != Self.surplus, let page = page(number) else { return }
        if !generations.isEmpty, generations[row] ?? 0 != generation { return }
        let place = Self.place(of: row)
        guard page.objects[place] != nil else { return }
        page.objects[place] = nil
        page.count -= 1
        if page.count == 0 {
            spare = page
            pages[number] = nil
        }
    }

    private mutating func makePage(_ number: Int) -> Page {
        let page = spare ?? Page()
        spare = nil
        pages[number] = page
        return page
    }

    /// The rows in a range that have an object, ascending, with the objects.
    func objects(in range: Range<Int>) -> [(row: Int, object: AnyObject)] {
        var found: [(row: Int, object: AnyObject)] = []
        let end = min(range.upperBound, pages.count << Self.shift)
        var row = max(range.lowerBound, 0)
        while row < end {
            guard let page = pages[row >> Self.shift] else {
                row = (row >> Self.shift + 1) << Self.shift
                continue
            }
            if let object = page.object(row: row) { found.append((row, object)) }
            row += 1
        }
        return found
    }
}

extension IdentityMap.Page {
    /// - Returns: false if the row already has an object.
    @inline(__always)
    func put(_ object: AnyObject, row: Int) -> Bool {
        let place = IdentityMap.place(of: row)
        guard objects[place] == nil else { return false }
        objects[place] = .passUnretained(object)
        count += 1
        return true
    }

    /// The object of a row of the page, unless it is being released.
    @inline(__always)
    func object(row: Int) -> AnyObject? {
        // What loading a weak reference comes to; a weak reference itself would take an allocation for each model.
        guard let object = objects[IdentityMap.place(of: row)], mortise_retain_if_alive(object.toOpaque()) != nil
        else { return nil }
        return object.takeRetainedValue()
    }
}

/// A function of CMortisePlatform, whose header says what it does. Not imported, so that who reads this module's interface
/// does not need the C module; see the functions of the engine.
@_silgen_name("mortise_retain_if_alive")
private func mortise_retain_if_alive(_ object: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer?
