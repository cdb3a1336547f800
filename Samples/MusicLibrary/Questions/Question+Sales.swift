import Foundation
import Mortise

/// Questions about customers and what they have paid, in US dollars.
extension Question {
    static var sales: [Question] {
        [customersInGermany, largeInvoices, revenueInUSA, bestCountries, invoicesByYear]
    }

    static var customersInGermany: Question {
        let customers = FetchDescriptor<Customer>(
            predicate: #Predicate { $0.country == "Germany" }, sortBy: [SortDescriptor(\.email)])
        return Question("customersInGermany", "customers in Germany", customers) { context in
            .texts(try context.fetch(customers).map(\.email))
        }
    }

    static var largeInvoices: Question {
        let limit: Decimal = 18
        let invoices = FetchDescriptor<Invoice>(
            predicate: #Predicate { $0.total > limit },
            sortBy: [SortDescriptor(\.total, order: .reverse), SortDescriptor(\.invoiceId)])
        return Question("invoicesAbove", "invoices above $18", invoices) { context in
            .list(try context.fetch(invoices).map { .number($0.invoiceId) })
        }
    }

    static var revenueInUSA: Question {
        let lines = FetchDescriptor<InvoiceLine>(predicate: #Predicate { $0.invoice?.billingCountry == "USA" })
            .allowing(.allInvoiceLines)
        return Question("revenueUSA", "revenue in the USA", lines) { context in
            .number(try context.fetch(lines).reduce(0) { $0 + $1.unitPrice * Decimal($1.quantity) })
        }
    }

    static var bestCountries: Question {
        let invoices = FetchDescriptor<Invoice>().allowing(.allInvoices)
        return Question(
            "bestCountries", "countries with sales above $100",
            plan: { try $0.explainGroups(invoices, by: \.billingCountry, computing: .sum(\.total)) },
            answer: { context in
                let countries = try context.groups(
                    invoices, by: \.billingCountry, computing: .sum(\.total), having: .sum(\.total) > 100,
                    sortedBy: [.descending(.sum(\.total))])
                return .list(countries.map { .list([.text($0.key ?? "none"), .number($0.values)]) })
            })
    }

    static var invoicesByYear: Question {
        let invoices = FetchDescriptor<Invoice>().allowing(.allInvoices)
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        let year = GroupKey<Invoice, Date>.start(of: .year, \.invoiceDate, in: calendar)
        return Question(
            "invoicesByYear", "invoices of each year, their sum",
            plan: { try $0.explainGroups(invoices, by: year, computing: .count, .sum(\.total)) },
            answer: { [calendar] context in
                let years = try context.groups(invoices, by: year, computing: .count, .sum(\.total))
                return .list(
                    years.map { group in
                        let (count, sum) = group.values
                        return .list([
                            .number(calendar.component(.year, from: group.key)), .number(count), .number(sum),
                        ])
                    })
            })
    }
}
