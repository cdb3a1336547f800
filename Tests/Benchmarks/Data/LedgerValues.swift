import Foundation
import PackageTestSupport

/// The values of one transaction of a ledger, with its splits and the places of its account and tags.
struct LedgerValues: Sendable {
    let reference: String
    let date: Date
    let month: String
    /// What databases without decimals keep.
    let cents: Int64
    /// The same as a decimal.
    let amount: Decimal
    let payee: String
    let category: String
    let memo: String
    let account: Int
    let tags: [Int]
    let splits: [Split]

    /// A part of the amount, with a category of its own.
    struct Split: Sendable {
        let cents: Int64
        let amount: Decimal
        let category: String
    }
}

extension LedgerValues {
    static let accountCount = 10
    static let tagCount = 500
    static let categoryCount = 40
    static let monthCount = 24
    /// Amounts in cents are spread evenly from 1 up to this.
    static let highestCents: Int64 = 500_000

    /// Transactions that depend on the count and the seed alone: two splits and three halves of a tag each, in no order of
    /// dates or references, and several on the same day.
    static func generate(_ count: Int, seed: UInt64) -> [LedgerValues] {
        var random = SeededGenerator(seed: seed)
        let months = (0..<monthCount).map { month in
            let number = month % 12 + 1
            return "\(2024 + month / 12)-\(number < 10 ? "0" : "")\(number)"
        }
        let categories = (0..<categoryCount).map { "Category \($0)" }
        let payees = (0..<2_000).map { "Payee \($0) of \(random.text(12))" }
        let firstDay = Date(timeIntervalSince1970: 1_704_067_200)
        return (0..<count).map { number in
            let month = Int.random(in: 0..<monthCount, using: &random)
            let day = month * 30 + Int.random(in: 0..<30, using: &random)
            let cents = Int64.random(in: 1...highestCents, using: &random)
            let first = Int64.random(in: 0...cents, using: &random)
            let splits = [first, cents - first].map { part in
                Split(
                    cents: part, amount: decimal(part),
                    category: categories[Int.random(in: 0..<categoryCount, using: &random)])
            }
            var tags: [Int] = []
            for _ in 0..<Int.random(in: 1...2, using: &random) {
                let tag = Int.random(in: 0..<tagCount, using: &random)
                if !tags.contains(tag) { tags.append(tag) }
            }
            return LedgerValues(
                // The first part of an identifier that a bank gives, and the number that makes it one.
                reference: "\(random.text(6, from: "ABCDEFGHIJKLMNOPQRSTUVWXYZ"))-\(number)",
                date: firstDay.addingTimeInterval(Double(day) * 86_400), month: months[month], cents: cents,
                amount: decimal(cents), payee: payees[Int.random(in: 0..<payees.count, using: &random)],
                category: categories[Int.random(in: 0..<categoryCount, using: &random)], memo: random.text(30),
                account: Int.random(in: 0..<accountCount, using: &random), tags: tags, splits: splits)
        }
    }

    static func accountNumber(_ place: Int) -> String { "DE-\(1_000 + place)" }
    static func tagName(_ place: Int) -> String { "tag \(place)" }

    static func decimal(_ cents: Int64) -> Decimal {
        Decimal(sign: .plus, exponent: -2, significand: Decimal(cents))
    }
}

extension SeededGenerator {
    fileprivate mutating func text(_ length: Int, from letters: String) -> String {
        let letters = Array(letters.utf8)
        let bytes = (0..<length).map { _ in letters[Int.random(in: 0..<letters.count, using: &self)] }
        return String(decoding: bytes, as: UTF8.self)
    }
}
