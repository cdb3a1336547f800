/// The sections of a result: for each title, in order, how many rows follow each other with it.
struct SectionRuns: Sendable, Hashable {
    private(set) var titles: [String] = []
    private(set) var counts: [Int] = []
    /// The position of each section's first row.
    private(set) var starts: [Int] = []
    private(set) var places: [String: Int] = [:]

    init() {}

    /// The sections of rows with these titles. Rows with one title that are not next to each other, which a sort by title does not
    /// leave, count for the section that came first.
    init(_ rows: some Sequence<String>) {
        for title in rows {
            if let last = titles.last, last == title {
                counts[counts.count - 1] += 1
            } else if let place = places[title] {
                counts[place] += 1
            } else {
                places[title] = titles.count
                titles.append(title)
                counts.append(1)
            }
        }
        count()
    }

    private mutating func count() {
        var total = 0
        starts.removeAll(keepingCapacity: true)
        for count in counts {
            starts.append(total)
            total += count
        }
    }

    /// The number of the section that a position lies in; nil if there are no sections.
    func section(of position: Int) -> Int? {
        var (low, high) = (0, starts.count)
        while high - low > 1 {
            let middle = (low + high) / 2
            if starts[middle] <= position { low = middle } else { high = middle }
        }
        return starts.isEmpty ? nil : low
    }

    /// The title of the section that a position lies in.
    func title(of position: Int) -> String? { section(of: position).map { titles[$0] } }

    /// The rows of a section.
    func rows(of section: Int) -> Range<Int> { starts[section]..<(starts[section] + counts[section]) }

    /// Takes in a change: the old positions of rows that may have left their section, and the new positions of those rows that
    /// are there, ascending, with their titles. Both together are the rows that differ.
    mutating func take(leaving: [Int], entering: [(index: Int, title: String)]) -> SectionDifference {
        var difference = SectionDifference(old: self)
        for index in leaving { if let section = section(of: index) { counts[section] -= 1 } }
        var new: [(first: Int, title: String, count: Int)] = []
        var newPlaces: [String: Int] = [:]
        for (index, title) in entering {
            if let place = places[title] {
                counts[place] += 1
            } else if let place = newPlaces[title] {
                new[place].count += 1
            } else {
                newPlaces[title] = new.count
                new.append((index, title, 1))
            }
        }
        if new.isEmpty, !counts.contains(0) {
            count()
            difference.new = self
            return difference
        }
        let old = zip(titles, counts)
        titles = []
        counts = []
        places = [:]
        var total = 0
        var next = 0
        func add(_ title: String, _ count: Int, _ runs: inout SectionRuns) {
            runs.places[title] = runs.titles.count
            runs.titles.append(title)
            runs.counts.append(count)
            total += count
        }
        func addNew(_ runs: inout SectionRuns) {
            while next < new.count, new[next].first == total {
                difference.inserted.append(.init(index: runs.titles.count, title: new[next].title))
                add(new[next].title, new[next].count, &runs)
                next += 1
            }
        }
        for (place, (title, count)) in old.enumerated() {
            if count == 0 {
                difference.removed.append(.init(index: place, title: title))
                continue
            }
            addNew(&self)
            add(title, count, &self)
        }
        addNew(&self)
        // Only where rows of one title were apart.
        while next < new.count {
            difference.inserted.append(.init(index: titles.count, title: new[next].title))
            add(new[next].title, new[next].count, &self)
            next += 1
        }
        count()
        difference.new = self
        return difference
    }

    /// How these differ from other sections.
    func difference(from old: SectionRuns) -> SectionDifference {
        var difference = SectionDifference(old: old, new: self)
        for (place, title) in old.titles.enumerated() where places[title] == nil {
            difference.removed.append(.init(index: place, title: title))
        }
        for (place, title) in titles.enumerated() where old.places[title] == nil {
            difference.inserted.append(.init(index: place, title: title))
        }
        return difference
    }
}
