import Foundation
import Mortise

// The models of the rows about a ledger: what a service keeps that imports statements, searches, pages and totals them.

@Model
final class LedgerAccount {
    @Attribute(.unique) var number: String
    var name: String
    @Relationship(deleteRule: .cascade, inverse: \LedgerTransaction.account) var transactions: [LedgerTransaction] = []

    init(number: String, name: String) {
        self.number = number
        self.name = name
    }
}

@Model
final class LedgerTransaction {
    #Index<LedgerTransaction>([\.date, \.reference], [\.amount])

    @Attribute(.unique) var reference: String
    var date: Date
    /// As "2024-03", to total by.
    var month: String
    var amount: Decimal
    var payee: String
    var category: String
    var memo: String
    var account: LedgerAccount?
    @Relationship(deleteRule: .cascade, inverse: \LedgerSplit.transaction) var splits: [LedgerSplit] = []
    var tags: [LedgerTag] = []

    init(_ values: LedgerValues, account: LedgerAccount?) {
        reference = values.reference
        date = values.date
        month = values.month
        amount = values.amount
        payee = values.payee
        category = values.category
        memo = values.memo
        self.account = account
    }
}

@Model
final class LedgerSplit {
    var amount: Decimal
    var month: String
    var category: String
    var transaction: LedgerTransaction?

    init(_ values: LedgerValues.Split, month: String) {
        amount = values.amount
        self.month = month
        category = values.category
    }
}

@Model
final class LedgerTag {
    @Attribute(.unique) var name: String
    @Relationship(inverse: \LedgerTransaction.tags) var transactions: [LedgerTransaction] = []

    init(name: String) { self.name = name }
}
