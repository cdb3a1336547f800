import CustomStore
import Foundation
import Mortise
import Testing

@Model final class Bill {
    #Unique<Bill>([\.number], [\.branch, \.code])
    var number: Int?
    var branch: String?
    var code: Int?
    var note: String?
    @Relationship(deleteRule: .cascade, inverse: \BillLine.bill) var lines: [BillLine] = []
    @Relationship(deleteRule: .cascade, inverse: \BillStamp.bill) var stamp: BillStamp?
    @Relationship(inverse: \BillTag.bills) var tags: [BillTag] = []
    var payer: BillPayer?
    init(_ number: Int?, _ note: String? = nil, branch: String? = nil, code: Int? = nil) {
        (self.number, self.note, self.branch, self.code) = (number, note, branch, code)
    }
}

@Model final class BillLine {
    var amount: Int
    @Attribute(.unique) var key: String?
    var bill: Bill?
    init(_ amount: Int, _ bill: Bill? = nil, key: String? = nil) {
        (self.amount, self.bill, self.key) = (amount, bill, key)
    }
}

@Model final class BillStamp {
    var text: String
    var bill: Bill?
    init(_ text: String) { self.text = text }
}

@Model final class BillTag {
    @Attribute(.unique) var name: String
    var color: String?
    var bills: [Bill] = []
    init(_ name: String, _ color: String? = nil) { (self.name, self.color) = (name, color) }
}

@Model final class BillPayer {
    @Attribute(.unique) var mail: String
    var name: String?
    @Relationship(inverse: \Bill.payer) var bills: [Bill] = []
    init(_ mail: String, _ name: String? = nil) { (self.mail, self.name) = (mail, name) }
}

enum BillStores {
    static let all = StoreKinds.versioned + ["csv", "plain"] + StoreKinds.sqlite

    static func container(_ kind: String, _ folder: Folder) throws -> ModelContainer {
        if kind == "plain" { return try ModelContainer(for: Bill.self, configurations: PlainConfiguration()) }
        guard kind == "csv" else {
            return try ModelContainer(
                for: Bill.self, store: kind == "memory" ? "memory:\(UUID())" : "\(kind):\(folder.path("bills.\(kind)"))"
            )
        }
        try FileManager.default.createDirectory(atPath: folder.path("bills"), withIntermediateDirectories: true)
        return try ModelContainer(
            for: Bill.self, configurations: CSVConfiguration(folder: URL(fileURLWithPath: folder.path("bills"))))
    }

    /// All that is stored, in no particular order of records.
    static func contents(_ container: ModelContainer) throws -> [String] {
        let context = ModelContext(container)
        let bills = try context.fetch(FetchDescriptor<Bill>()).map { bill in
            let parts = [
                bill.number.map { "\($0)" } ?? "-", bill.note ?? "-",
                "\(bill.lines.map(\.amount).sorted())", bill.stamp?.text ?? "-", "\(bill.tags.map(\.name).sorted())",
                bill.payer?.mail ?? "-",
            ]
            return parts.joined(separator: " ")
        }
        let lines = try context.fetch(FetchDescriptor<BillLine>()).map { "line \($0.amount) \($0.bill?.number ?? -1)" }
        let stamps = try context.fetch(FetchDescriptor<BillStamp>()).map { "stamp \($0.text) \($0.bill?.number ?? -1)" }
        let tags = try context.fetch(FetchDescriptor<BillTag>()).map { tag in
            "tag \(tag.name) \(tag.color ?? "-") \(tag.bills.map { $0.number ?? -1 }.sorted())"
        }
        let payers = try context.fetch(FetchDescriptor<BillPayer>()).map { payer in
            "payer \(payer.mail) \(payer.name ?? "-") \(payer.bills.map { $0.number ?? -1 }.sorted())"
        }
        return bills.sorted() + lines.sorted() + stamps.sorted() + tags.sorted() + payers.sorted()
    }
}

@Model final class BillShelf {
    @Attribute(.unique) var name: String
    var books: [BillBook] = []
    init(_ name: String) { self.name = name }
}

@Model final class BillBook {
    var title: String
    @Relationship(inverse: \BillShelf.books) var shelf: BillShelf
    init(_ title: String, _ shelf: BillShelf) { (self.title, self.shelf) = (title, shelf) }
}

@ModelActor actor BillActor {
    func insert(_ number: Int, _ note: String) throws {
        modelContext.insert(Bill(number, note))
        try modelContext.save()
    }
}
