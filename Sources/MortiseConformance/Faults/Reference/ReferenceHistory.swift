import MortiseCore

/// A reference store that keeps a history: its work does.
protocol ReferenceHistory: HistoryProviding where HistoryType == DefaultHistoryTransaction {
    var work: ReferenceWork { get }
}

extension ReferenceHistory {
    static var historyType: DefaultHistoryTransaction.Type { DefaultHistoryTransaction.self }

    func fetchHistory(
        _ descriptor: HistoryDescriptor<DefaultHistoryTransaction>
    ) throws -> [DefaultHistoryTransaction] { try work.history(descriptor) }

    func deleteHistory(_ descriptor: HistoryDescriptor<DefaultHistoryTransaction>) throws {
        try work.deleteHistory(descriptor)
    }
}
