import Mortise

/// A customer with invoices, which are deleted with the customer.
@Model
final class Customer {
    #Index<Customer>([\.country])

    @Attribute(.unique) var customerId: Int
    var firstName: String
    var lastName: String
    var company: String?
    var address: String?
    var city: String?
    var state: String?
    var country: String?
    var postalCode: String?
    var phone: String?
    var fax: String?
    var email: String
    var supportRep: Employee?
    @Relationship(deleteRule: .cascade, inverse: \Invoice.customer) var invoices: [Invoice] = []

    init(customerId: Int, firstName: String, lastName: String, email: String) {
        self.customerId = customerId
        self.firstName = firstName
        self.lastName = lastName
        self.email = email
    }
}
