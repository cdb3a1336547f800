import Foundation
import Mortise

/// An employee of the shop. Dates are midnight in UTC.
@Model
final class Employee {
    @Attribute(.unique) var employeeId: Int
    var lastName: String
    var firstName: String
    var title: String?
    var birthDate: Date?
    var hireDate: Date?
    var address: String?
    var city: String?
    var state: String?
    var country: String?
    var postalCode: String?
    var phone: String?
    var fax: String?
    var email: String?
    /// The employee whom this one reports to; nil at the top.
    var manager: Employee?
    @Relationship(inverse: \Employee.manager) var reports: [Employee] = []
    /// The customers whom this employee looks after.
    @Relationship(inverse: \Customer.supportRep) var customers: [Customer] = []

    init(employeeId: Int, lastName: String, firstName: String) {
        self.employeeId = employeeId
        self.lastName = lastName
        self.firstName = firstName
    }
}
