/// Which object stands for which row. Rows are dense, so this is an array in pages; objects are held without a reference,
/// because a model takes itself out when it goes.
struct ModelRegistry {
    private static let shift = 9
    private var pages: ContiguousArray<Page?> = []
    private(set) var count = 0
    /// The page that was emptied last: fetches of a few models that go again at once would make one each time.
    private var spare: Page?

    /// A page goes when its last object does.
    final class Page {
        fileprivate(set) var count = 0
        let objects: UnsafeMutablePointer<Unmanaged<AnyObject>?>

        init() {
            objects = .allocate(capacity: 1 << ModelRegistry.shift)
            objects.initialize(repeating: nil, count: 1 << ModelRegistry.shift)
        }
        deinit { objects.deallocate() }
    }

    subscript(row: Int) -> AnyObject? {
        get {
            let page = row >> Self.shift
            guard row >= 0, page < pages.count else { return nil }
            return pages[page]?.objects[row & (1 << Self.shift - 1)]?.takeUnretainedValue()
        }
        set {
            let number = row >> Self.shift
            guard row >= 0, newValue != nil || number < pages.count else { return }
            while number >= pages.count { pages.append(nil) }
            guard let page = pages[number] ?? (newValue == nil ? nil : makePage()) else { return }
            let place = row & (1 << Self.shift - 1)
            let difference = (newValue == nil ? 0 : 1) - (page.objects[place] == nil ? 0 : 1)
            page.objects[place] = newValue.map(Unmanaged.passUnretained)
            page.count += difference
            count += difference
            if page.count == 0 { removePage(number) } else { pages[number] = page }
        }
    }

    private mutating func makePage() -> Page {
        defer { spare = nil }
        return spare ?? Page()
    }

    private mutating func removePage(_ number: Int) {
        spare = pages[number]
        pages[number] = nil
    }

    /// Puts an object into a place that is free.
    /// - Returns: false where it is not.
    mutating func register(_ object: AnyObject, row: Int) -> Bool {
        let number = row >> Self.shift
        while number >= pages.count { pages.append(nil) }
        let place = row & (1 << Self.shift - 1)
        if let page = pages[number] {
            if page.objects[place] != nil { return false }
            page.objects[place] = Unmanaged.passUnretained(object)
            page.count += 1
        } else {
            let page = makePage()
            page.objects[place] = Unmanaged.passUnretained(object)
            page.count = 1
            pages[number] = page
        }
        count += 1
        return true
    }

    static func page(of row: Int) -> Int { row >> shift }
    static func place(of row: Int) -> Int { row & (1 << shift - 1) }

    /// A page, for putting objects into places that are free; it stays until the work is done.
    /// - Parameter number: not negative.
    mutating func beginFilling(_ number: Int) -> Page {
        while number >= pages.count { pages.append(nil) }
        let page = pages[number] ?? makePage()
        pages[number] = page
        page.count += 1
        return page
    }

    /// - Parameter added: how many places of the page have an object that had none.
    mutating func endFilling(_ page: Page, _ number: Int, added: Int) {
        page.count += added - 1
        count += added
        if page.count == 0 { removePage(number) }
    }

    /// The rows in a range that have an object, ascending.
    func rows(in range: Range<Int>) -> [Int] {
        var rows: [Int] = []
        let end = min(range.upperBound, pages.count << Self.shift)
        var row = max(range.lowerBound, 0)
        while row < end {
            guard let page = pages[row >> Self.shift] else {
                row = (row >> Self.shift + 1) << Self.shift
                continue
            }
            if page.objects[row & (1 << Self.shift - 1)] != nil { rows.append(row) }
            row += 1
        }
        return rows
    }
}
