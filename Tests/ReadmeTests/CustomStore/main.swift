import Foundation
import Mortise

@Model
final class Book {
    var title: String
    var pages: Int

    init(title: String, pages: Int) {
        self.title = title
        self.pages = pages
    }
}

let context = ModelContext(try ModelContainer(for: Book.self, configurations: ShelfConfiguration()))
for (title, pages) in [("Walden", 352), ("Emma", 474), ("Candide", 129)] {
    context.insert(Book(title: title, pages: pages))
}
try context.save()
let thick = FetchDescriptor<Book>(predicate: #Predicate { $0.pages > 200 }, sortBy: [SortDescriptor(\.title)])
print(try context.fetch(thick).map(\.title))
