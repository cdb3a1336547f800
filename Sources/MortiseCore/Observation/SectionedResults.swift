/// The sections of a live result, in the order of their first rows; each is a collection of models.
///
/// The collection shows the result at the time when it was read from the observer.
public struct SectionedResults<Element: PersistentModel, SectionTitle: Hashable>: RandomAccessCollection {
    private let results: FetchResultsCollection<Element>
    private let runs: SectionRuns
    /// The titles of the sections, in order.
    public let sectionTitles: [SectionTitle]

    init(_ results: FetchResultsCollection<Element>, _ runs: SectionRuns, _ title: (String) -> SectionTitle?) {
        self.results = results
        self.runs = runs
        sectionTitles = runs.titles.compactMap(title)
    }

    /// Always 0.
    public var startIndex: Int { 0 }
    /// The number of sections.
    public var endIndex: Int { sectionTitles.count }

    /// The section at a position.
    /// - Precondition: `position` is at least 0 and less than `endIndex`.
    public subscript(position: Int) -> ResultsSection<Element, SectionTitle> {
        precondition(position >= 0 && position < endIndex, "Section \(position) is out of range 0..<\(endIndex).")
        return ResultsSection(title: sectionTitles[position], results: results, range: runs.rows(of: position))
    }

    /// The section with a title; nil if there is no such section. Takes the same time for any number of sections.
    public subscript(sectionTitle title: SectionTitle) -> ResultsSection<Element, SectionTitle>? {
        index(ofSectionTitled: title).map { self[$0] }
    }

    /// Whether there is a section with a title.
    public func contains(sectionTitle title: SectionTitle) -> Bool { index(ofSectionTitled: title) != nil }

    /// The number of the section with a title; nil if there is no such section.
    public func index(ofSectionTitled title: SectionTitle) -> Int? {
        if let title = title as? String { return runs.places[title] }
        return sectionTitles.firstIndex(of: title)
    }
}

/// One section of a live result: the models whose section key path has the same value.
public struct ResultsSection<Element: PersistentModel, SectionTitle: Hashable>: RandomAccessCollection, Identifiable {
    /// The value that the models have in common.
    public let title: SectionTitle
    private let results: FetchResultsCollection<Element>
    private let range: Range<Int>

    init(title: SectionTitle, results: FetchResultsCollection<Element>, range: Range<Int>) {
        self.title = title
        self.results = results
        self.range = range
    }

    /// The title.
    public var id: SectionTitle { title }
    /// Always 0.
    public var startIndex: Int { 0 }
    /// The number of models.
    public var endIndex: Int { range.count }

    /// The model at a position in the section.
    /// - Precondition: `position` is at least 0 and less than `endIndex`.
    public subscript(position: Int) -> Element {
        precondition(position >= 0 && position < endIndex, "Index \(position) is out of range 0..<\(endIndex).")
        return results[range.lowerBound + position]
    }
}
