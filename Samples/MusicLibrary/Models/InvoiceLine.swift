import Foundation
import Mortise

/// One track on an invoice, at the price of that day in US dollars.
@Model
final class InvoiceLine {
    @Attribute(.unique) var invoiceLineId: Int
    var unitPrice: Decimal
    var quantity: Int
    var invoice: Invoice?
    var track: Track?

    init(invoiceLineId: Int, unitPrice: Decimal, quantity: Int) {
        self.invoiceLineId = invoiceLineId
        self.unitPrice = unitPrice
        self.quantity = quantity
    }
}
