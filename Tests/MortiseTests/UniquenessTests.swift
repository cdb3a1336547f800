import Foundation
import Mortise
import Testing

@Suite struct UniquenessTests {
    let container: ModelContainer
    let context: ModelContext

    init() throws {
        container = try catalogContainer()
        context = ModelContext(container)
    }

    private func stored() throws -> [String] {
        try ModelContext(container).fetch(FetchDescriptor<Product>(sortBy: [SortDescriptor(\.code)])).map {
            "\($0.code)=\($0.title)"
        }
    }

    @Test func twoPendingInsertionsBecomeOneWithTheLastValues() throws {
        let first = Product(code: "1", title: "a")
        let second = Product(code: "1", title: "b")
        first.labels = [Label("x")]
        second.labels = [Label("y")]
        context.insert(first)
        context.insert(second)
        try context.save()
        #expect(try stored() == ["1=b"])
        #expect(first.modelContext === context && second.modelContext == nil)
        #expect(Set(first.labels.map(\.text)) == ["x", "y"])
    }

    @Test func aPendingInsertionUpdatesARegisteredRecord() throws {
        let first = Product(code: "1", title: "a")
        first.labels = [Label("x")]
        context.insert(first)
        try context.save()
        let second = Product(code: "1", title: "b")
        second.labels = [Label("y")]
        context.insert(second)
        try context.save()
        #expect(try stored() == ["1=b"])
        #expect(first.title == "b")
        #expect(Set(first.labels.map(\.text)) == ["x", "y"])
    }

    @Test func aPendingInsertionUpdatesARecordThatIsNotInMemory() throws {
        do {
            let writer = ModelContext(container)
            let product = Product(code: "1", title: "a")
            product.labels = [Label("x")]
            writer.insert(product)
            try writer.save()
        }
        let second = Product(code: "1", title: "b")
        second.labels = [Label("x"), Label("y")]
        context.insert(second)
        try context.save()
        #expect(try stored() == ["1=b"])
        let product: Product = try onlyModel(in: context)
        #expect(product.persistentModelID == second.persistentModelID)
        #expect(Set(product.labels.map(\.text)) == ["x", "y"])
        #expect(try context.fetchCount(FetchDescriptor<Label>()) == 2)
    }

    @Test func nothingIsUniqueAboutNil() throws {
        for code in ["1", "2", "3"] { context.insert(Product(code: code)) }
        for guest in ["a", "b"] { context.insert(Seat(row: 1, number: nil, guest: guest)) }
        try context.save()
        #expect(try stored().count == 3)
        #expect(try context.fetchCount(FetchDescriptor<Seat>()) == 2)
    }

    @Test func compoundValuesCollideOnlyTogether() throws {
        context.insert(Seat(row: 1, number: 1, guest: "a"))
        context.insert(Seat(row: 1, number: 2, guest: "b"))
        context.insert(Seat(row: 2, number: 1, guest: "c"))
        try context.save()
        context.insert(Seat(row: 1, number: 2, guest: "d"))
        try context.save()
        let seats = try ModelContext(container).fetch(
            FetchDescriptor<Seat>(sortBy: [SortDescriptor(\.row), SortDescriptor(\.number)]))
        #expect(seats.map(\.guest) == ["a", "d", "c"])
    }

    @Test func storedRecordsCanSwapTheirValues() throws {
        let a = Product(code: "a", title: "A")
        let b = Product(code: "b", title: "B")
        context.insert(a)
        context.insert(b)
        try context.save()
        a.code = "b"
        b.code = "a"
        try context.save()
        #expect(try stored() == ["a=B", "b=A"])
    }

    @Test func aDeletedRecordMakesRoomInTheSameSave() throws {
        let a = Product(code: "1", title: "old")
        context.insert(a)
        try context.save()
        context.delete(a)
        let b = Product(code: "1", title: "new")
        context.insert(b)
        try context.save()
        #expect(try stored() == ["1=new"])
        #expect(b.modelContext === context && a.modelContext == nil)
    }

    @Test func aFreedValueCanBeTakenInTheSameSave() throws {
        let a = Product(code: "1", title: "a")
        context.insert(a)
        try context.save()
        a.code = "2"
        context.insert(Product(code: "1", title: "b"))
        try context.save()
        #expect(try stored() == ["1=b", "2=a"])
    }

    @Test func twoStoredRecordsThatWouldBecomeAlikeAreRefused() throws {
        let a = Product(code: "a")
        let b = Product(code: "b")
        context.insert(a)
        context.insert(b)
        try context.save()
        b.code = "a"
        #expect {
            try context.save()
        } throws: { error in
            guard case SwiftDataError.modelValidationFailure = error else { return false }
            return "\(error)".contains("Product") && "\(error)".contains("code")
                && error as? ModelContextError
                    == .notUnique(
                        entity: "Product", properties: ["code"], values: [.string("a")], model: b.persistentModelID,
                        other: a.persistentModelID)
        }
        #expect(context.hasChanges)
        #expect(try stored() == ["a=", "b="])
        b.code = "c"
        try context.save()
        #expect(try stored() == ["a=", "c="])
    }

    @Test func anInsertionThatCollidesWithTwoRecordsIsRefused() throws {
        context.insert(Product(code: "a", barcode: "1"))
        context.insert(Product(code: "b", barcode: "2"))
        try context.save()
        let both = Product(code: "a", title: "both", barcode: "2")
        context.insert(both)
        #expect(throws: ModelContextError.self) { try context.save() }
        #expect(context.hasChanges)
        both.barcode = "3"
        try context.save()
        #expect(try stored() == ["a=both", "b="])
    }

    @Test func aSurvivorIsKnownByTheValuesThatItTookOver() throws {
        context.insert(Product(code: "1", title: "stored", barcode: "B"))
        try context.save()
        context.insert(Product(code: "2", title: "renamed", barcode: "B"))
        context.insert(Product(code: "2", title: "again"))
        try context.save()
        #expect(try stored() == ["2=again"])
    }

    @Test func aValueThatASurvivorGaveUpIsFree() throws {
        context.insert(Product(code: "1", title: "first", barcode: "B"))
        context.insert(Product(code: "2", title: "renamed", barcode: "B"))
        context.insert(Product(code: "1", title: "third", barcode: "C"))
        try context.save()
        #expect(try stored() == ["1=third", "2=renamed"])
    }

    @Test func changesOfTheSameSaveAreSeenByInsertions() throws {
        let a = Product(code: "1", title: "a")
        context.insert(a)
        try context.save()
        a.code = "2"
        a.title = "changed"
        context.insert(Product(code: "2", title: "inserted"))
        try context.save()
        #expect(try stored() == ["2=inserted"])
        #expect(a.title == "inserted")
    }

    @Test func aSaveRefusedAfterMergingCanBeRepeated() throws {
        let a = Product(code: "1", title: "a")
        context.insert(a)
        try context.save()
        let b = Product(code: "1", title: "b")
        context.insert(b)
        let x = Product(code: "x")
        let y = Product(code: "y")
        context.insert(x)
        context.insert(y)
        try context.save()
        y.code = "x"
        context.insert(Product(code: "1", title: "c"))
        #expect(throws: ModelContextError.self) { try context.save() }
        y.code = "z"
        try context.save()
        #expect(try stored() == ["1=c", "x=", "z="])
    }
}
