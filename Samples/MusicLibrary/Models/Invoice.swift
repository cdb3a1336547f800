import Foundation
import Mortise

/// One purchase; its lines go when it goes. `invoiceDate` is midnight in UTC, `total` is in US dollars.
@Model
final class Invoice {
    #Index<Invoice>([\.total])

    @Attribute(.unique) var invoiceId: Int
    var invoiceDate: Date
    var billingAddress: String?
    var billingCity: String?
    var billingState: String?
    var billingCountry: String?
    var billingPostalCode: String?
    var total: Decimal
    var customer: Customer?
    @Relationship(deleteRule: .cascade, inverse: \InvoiceLine.invoice) var lines: [InvoiceLine] = []

    init(invoiceId: Int, invoiceDate: Date, total: Decimal) {
        self.invoiceId = invoiceId
        self.invoiceDate = invoiceDate
        self.total = total
    }
}
