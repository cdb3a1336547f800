import Foundation
import Mortise

/// Unique by one property, by another, and with a to-many relationship.
@Model
final class Product {
    @Attribute(.unique) var code: String
    @Attribute(.unique) var barcode: String?
    var title: String
    @Relationship(inverse: \Label.products) var labels: [Label] = []

    init(code: String, title: String = "", barcode: String? = nil) {
        self.code = code
        self.title = title
        self.barcode = barcode
    }
}

@Model
final class Label {
    @Attribute(.unique) var text: String
    var products: [Product] = []
    init(_ text: String) { self.text = text }
}

/// Unique by two properties together, one of them optional.
@Model
final class Seat {
    #Unique<Seat>([\.row, \.number])
    var row: Int
    var number: Int?
    var guest: String
    init(row: Int, number: Int?, guest: String) {
        self.row = row
        self.number = number
        self.guest = guest
    }
}

func catalogContainer() throws -> ModelContainer { try memory(Product.self, Label.self, Seat.self) }
