import Foundation
import MortiseCore

/// Second looks at families: batches with conditions, counts, and the classes of targets.
extension ConformanceCase {
    static let familySecondCases: [ConformanceCase] = [
        family(
            "batch-deletion-by-a-condition",
            "A batch delete of the first or the middle class with a condition takes the records that meet it of all classes below.",
            hint: "A batch deletes one step of the family, or goes up to its root."
        ) { c in
            let a = try c.session()
            c.note("\(a.name): delete(model: Dog) where legs == 4 and age < 5")
            try a.context.delete(model: Dog.self, where: #Predicate { $0.legs == 4 && $0.age < 5 })
            try c.expect(try c.session().all(Animal.self).map(\.name), is: ["Cat", "Rex", "Owl"], "animals left:")
            try a.store(Puppy("Pia", weeks: 1), Animal("Eel", legs: 0))
            c.note("\(a.name): delete(model: Animal) where legs > 2")
            try a.context.delete(model: Animal.self, where: #Predicate { $0.legs > 2 })
            let b = try c.session()
            try c.expect(try b.all(Animal.self).map(\.name), is: ["Owl", "Eel"], "animals left by the second batch:")
            try c.expect(
                [try b.count(FetchDescriptor<Dog>()), try b.count(FetchDescriptor<Puppy>())], is: [0, 0],
                "dogs and puppies:")
        },
        family(
            "batch-deletion-of-each-class",
            "Batch deletes of the last class, the middle one and the first take one after the other what is left below.",
            hint: "A batch deletes the whole family, or one step of it."
        ) { c in
            let a = try c.session()
            func expect(_ names: [String], after what: String) throws {
                let b = try c.session()
                try c.expect(try b.all(Animal.self).map(\.name), is: names, "animals after \(what):")
                try c.expect(
                    try b.all(Toy.self).map { $0.owners.count }.reduce(0, +), is: names.contains("Rex") ? 1 : 0,
                    "owners of toys after \(what):")
            }
            try a.context.delete(model: Puppy.self)
            try expect(["Cat", "Rex", "Bella", "Owl"], after: "delete(model: Puppy)")
            try a.store(Puppy("Pia", weeks: 1))
            try a.context.delete(model: Dog.self)
            try expect(["Cat", "Owl"], after: "delete(model: Dog)")
            try a.store(Puppy("Pia", weeks: 1), Dog("Max", age: 1))
            try a.context.delete(model: Animal.self)
            try expect([], after: "delete(model: Animal)")
        },
        family(
            "counts-on-every-level",
            "Counts of a class, with and without conditions and windows, count the records of all classes below.",
            hint: "A count looks at one entity, or one step down, where a fetch looks at all."
        ) { c in
            let b = try c.session()
            func expect<M: Animal>(_ count: Int, _ what: String, _ descriptor: FetchDescriptor<M>) throws {
                try c.expect(try b.count(descriptor), is: count, "count of \(what):")
                try c.expect(try b.fetch(descriptor).count, is: count, "fetched \(what):")
            }
            try expect(4, "animals of four legs", FetchDescriptor<Animal>(predicate: #Predicate { $0.legs == 4 }))
            try expect(3, "dogs up to 4 years", FetchDescriptor<Dog>(predicate: #Predicate { $0.age <= 4 }))
            try expect(1, "puppies of 9 weeks", FetchDescriptor<Puppy>(predicate: #Predicate { $0.weeks == 9 }))
            try expect(3, "Ada's animals", FetchDescriptor<Animal>(predicate: #Predicate { $0.keeper?.name == "Ada" }))
            var window = FetchDescriptor<Animal>(sortBy: [SortDescriptor(\.name)])
            (window.fetchOffset, window.fetchLimit) = (2, 10)
            try expect(4, "animals from the third on", window)
        },
        family(
            "types-of-targets",
            "Conditions on the class of a target, of a member, or on what a record is not, hold for classes at any depth.",
            hint: "A type is tested one step up, or by the declared entity."
        ) { c in
            let b = try c.session()
            func keepers(_ predicate: Predicate<Keeper>) throws -> [String] {
                try b.fetch(FetchDescriptor(predicate: predicate)).map(\.name)
            }
            try c.expect(
                try b.fetch(FetchDescriptor<Animal>(predicate: #Predicate { !($0 is Dog) })).map(\.name),
                is: ["Cat", "Owl"], "animals that are no dogs:")
            try c.expect(
                try b.count(FetchDescriptor<Animal>(predicate: #Predicate { $0 is Dog && $0.legs == 4 })), is: 4,
                "dogs of four legs:")
            try c.expect(
                try keepers(#Predicate { $0.animals.contains { $0 is Dog } }), is: ["Ada", "Bob"],
                "keepers of a dog:")
            try c.expect(
                try keepers(#Predicate { $0.animals.filter { !($0 is Dog) }.count == 1 }), is: ["Ada", "Bob"],
                "keepers of one animal that is no dog:")
            try c.expect(
                try keepers(#Predicate { $0.herd.filter { $0 is Dog }.count == 2 }), is: ["Ada"],
                "keepers with two dogs in their herd:")
        },
    ]
}
