import Foundation
import MortiseCore

extension ConformanceCase {
    static let familyHint =
        "Records of three classes are looked for one step down, or the class of a record is taken for the declared one."

    static func family(
        _ id: String, level: Level = .core, capability: StoreCapability? = nil, _ requirement: String,
        hint: String = familyHint, body: @escaping @Sendable (CaseContext) throws -> Void
    ) -> ConformanceCase {
        ConformanceCase("families.\(id)", level: level, capability: capability, requirement: requirement, hint: hint) {
            c in
            try storeZoo(c)
            try body(c)
        }
    }

    /// Animals of three classes, mixed in the order of insertion, two keepers and two toys.
    private static func storeZoo(_ c: CaseContext) throws {
        let a = try c.session()
        let ada = Keeper("Ada")
        let bob = Keeper("Bob")
        let ball = Toy("ball")
        let bone = Toy("bone")
        let puck = Puppy("Puck", age: 1, weeks: 9)
        let cat = Animal("Cat", legs: 3)
        let rex = Dog("Rex", age: 7, breed: "collie")
        let pip = Puppy("Pip", age: 0, weeks: 4)
        let bella = Dog("Bella", age: 4)
        let owl = Animal("Owl", legs: 2)
        a.change("insert 6 animals of 3 classes, 2 keepers and 2 toys, related to each other") {
            for animal in [puck, cat, rex, pip, bella, owl] { a.context.insert(animal) }
            for keeper in [ada, bob] { a.context.insert(keeper) }
            for toy in [ball, bone] { a.context.insert(toy) }
            for animal in [puck, cat, rex] { animal.keeper = ada }
            for animal in [pip, owl] { animal.keeper = bob }
            for dog in [puck, rex] { dog.walker = bob }
            bella.walker = ada
            puck.mother = bella
            pip.mother = puck
            pip.rival = puck
            puck.breed = "collie"
            rex.toys = [ball]
            pip.toys = [ball, bone]
            ada.favourite = pip
            bob.favourite = cat
            ada.lead = puck
            bob.charges = [pip, puck]
            ada.herd = [owl, rex, puck]
        }
        try a.save()
    }

    private static func name(_ animal: Animal?) -> String { animal?.name ?? "-" }
    private static func kind(_ animal: Animal?) -> String {
        switch animal {
        case is Puppy: "Puppy"
        case is Dog: "Dog"
        case .some: "Animal"
        case nil: "-"
        }
    }

    /// Everything that the zoo's relationships lead to, from every side.
    private static func checkRelationships(_ c: CaseContext, _ moment: String) throws {
        let b = try c.session()
        let animals = try b.all(Animal.self)
        func find(_ wanted: String) throws -> Animal {
            try c.require(animals.first { $0.name == wanted }, "an animal \(wanted) \(moment)")
        }
        func dog(_ wanted: String) throws -> Dog {
            try c.require(try find(wanted) as? Dog, "a dog \(wanted) \(moment)")
        }
        let keepers = try b.all(Keeper.self)
        try c.expect(keepers.map { name($0.favourite) }, is: ["Pip", "Cat"], "favourites \(moment):")
        try c.expect(
            keepers.map { kind($0.favourite) }, is: ["Puppy", "Animal"], "classes of the favourites \(moment):")
        try c.expect(keepers.map { name($0.lead) }, is: ["Puck", "-"], "puppies on the lead \(moment):")
        try c.expect(
            keepers.map { $0.animals.map(\.name) }, is: [["Puck", "Cat", "Rex"], ["Pip", "Owl"]], "animals \(moment):")
        try c.expect(
            keepers.map { $0.animals.map { kind($0) } }, is: [["Puppy", "Animal", "Dog"], ["Puppy", "Animal"]],
            "classes of the animals \(moment):")
        try c.expect(keepers.map { $0.walks.map(\.name) }, is: [["Bella"], ["Puck", "Rex"]], "walks \(moment):")
        try c.expect(keepers.map { $0.charges.map(\.name) }, is: [[], ["Puck", "Pip"]], "charges \(moment):")
        try c.expect(keepers.map { $0.herd.map(\.name) }, is: [["Puck", "Rex", "Owl"], []], "herds \(moment):")
        try c.expect(animals.map { $0.keeper?.name ?? "-" }, is: ["Ada", "Ada", "Ada", "Bob", "-", "Bob"], "keepers:")
        let dogs = try b.all(Dog.self)
        try c.expect(dogs.map { $0.walker?.name ?? "-" }, is: ["Bob", "Bob", "-", "Ada"], "walkers \(moment):")
        try c.expect(dogs.map { $0.litter.map(\.name) }, is: [["Pip"], [], [], ["Puck"]], "litters \(moment):")
        try c.expect(
            dogs.map { $0.toys.map(\.name) }, is: [[], ["ball"], ["ball", "bone"], []], "toys \(moment):")
        let puppies = try b.all(Puppy.self)
        try c.expect(puppies.map { name($0.mother) }, is: ["Bella", "Puck"], "mothers \(moment):")
        try c.expect(puppies.map { kind($0.mother) }, is: ["Dog", "Puppy"], "classes of the mothers \(moment):")
        try c.expect(puppies.map { name($0.rival) }, is: ["-", "Puck"], "rivals \(moment):")
        try c.expect(
            try b.all(Toy.self).map { $0.owners.map(\.name) }, is: [["Rex", "Pip"], ["Pip"]], "owners \(moment):")
    }

    static let wideModelCases: [ConformanceCase] =
        familyCases + familyQueryCases + familySecondCases + wideRelationshipCases

    private static let familyCases: [ConformanceCase] = [
        family(
            "every-level",
            "A fetch of a class finds its records and those of all classes below, at any depth, each as what it is."
        ) { c in
            let b = try c.session()
            let animals = try b.all(Animal.self)
            try c.expect(
                animals.map(\.name), is: ["Puck", "Cat", "Rex", "Pip", "Bella", "Owl"], "names of all animals:")
            try c.expect(
                animals.map { kind($0) }, is: ["Puppy", "Animal", "Dog", "Puppy", "Dog", "Animal"],
                "classes of all animals:")
            try c.expect(try b.all(Dog.self).map(\.name), is: ["Puck", "Rex", "Pip", "Bella"], "names of the dogs:")
            try c.expect(try b.all(Puppy.self).map(\.name), is: ["Puck", "Pip"], "names of the puppies:")
            try c.expect(try b.count(FetchDescriptor<Animal>()), is: 6, "count of all animals:")
            try c.expect(try b.count(FetchDescriptor<Dog>()), is: 4, "count of the dogs:")
            try c.expect(try b.count(FetchDescriptor<Puppy>()), is: 2, "count of the puppies:")
            try c.expect(
                try b.identifiers(FetchDescriptor<Dog>()).map(\.entityName), is: ["Puppy", "Dog", "Puppy", "Dog"],
                "entities of the dogs' identifiers:")
        },
        family("values-of-every-level", "A record keeps the values of its class and of all classes above.") { c in
            let b = try c.session()
            let puppies = try b.all(Puppy.self)
            try c.expect(puppies.map(\.legs), is: [4, 4], "values of the first class:")
            try c.expect(puppies.map(\.age), is: [1, 0], "values of the middle class:")
            try c.expect(puppies.map(\.breed), is: ["collie", nil], "optional values of the middle class:")
            try c.expect(puppies.map(\.weeks), is: [9, 4], "values of the last class:")
            try c.expect(try b.all(Animal.self).map(\.legs), is: [4, 3, 4, 4, 4, 2], "legs of all animals:")
        },
        family(
            "changed-at-every-level", "A change of one level's property leaves those of the other levels as they are.",
            hint: "An update writes the columns of the record's own entity alone, or those of all and some as null."
        ) { c in
            let a = try c.session()
            func puppy(_ name: String) throws -> Puppy {
                try c.require(try a.all(Puppy.self).first { $0.name == name }, "a puppy \(name)")
            }
            for (what, change) in [
                ("an inherited property of the first class", { (puck: Puppy) in puck.legs = 5 }),
                ("one of the middle class", { puck in puck.age = 2 }),
                ("its own", { puck in puck.weeks = 10 }),
            ] {
                let puck = try puppy("Puck")
                a.change("\(what) of a puppy") { change(puck) }
                try a.save()
            }
            let found = try c.session().all(Puppy.self)
            try c.expect(found.map(\.legs), is: [5, 4], "legs:")
            try c.expect(found.map(\.age), is: [2, 0], "ages:")
            try c.expect(found.map(\.weeks), is: [10, 4], "weeks:")
            try c.expect(found.map(\.breed), is: ["collie", nil], "breeds:")
            try c.expect(found.map { $0.keeper?.name }, is: ["Ada", "Bob"], "keepers:")
            try c.expect(try c.session().all(Animal.self).map(\.legs), is: [5, 3, 4, 4, 4, 2], "legs of all animals:")
        },
        family(
            "relationships", "Relationships lead to and from classes of every level, from both sides.",
            hint: "An identifier gets the entity that the relationship declares, or a derived side looks at one entity."
        ) { c in try checkRelationships(c, "in a fresh context") },
        family(
            "relationships-changed", "Changed relationships to and from subclasses show the same from both sides.",
            hint: "Only relationships that the record's own entity declares are written."
        ) { c in
            let a = try c.session()
            let animals = try a.all(Animal.self)
            let keepers = try a.all(Keeper.self)
            let dogs = animals.compactMap { $0 as? Dog }
            let puppies = animals.compactMap { $0 as? Puppy }
            let toys = try a.all(Toy.self)
            guard animals.count == 6, keepers.count == 2, dogs.count == 4, puppies.count == 2, toys.count == 2 else {
                throw c.failure(expected: "6 animals, 2 keepers and 2 toys", found: "others")
            }
            a.change("move puppies and dogs from one to another") {
                puppies[0].keeper = keepers[1]
                keepers[0].favourite = dogs[1]
                keepers[1].favourite = nil
                keepers[0].lead = puppies[1]
                puppies[0].mother = dogs[1]
                puppies[1].walker = keepers[0]
                dogs[3].walker = nil
                toys[0].owners = [puppies[0]]
                puppies[1].toys = [toys[1]]
                keepers[1].charges = [puppies[1]]
                keepers[0].herd.append(puppies[1])
            }
            try a.save()
            func check(_ moment: String) throws {
                let b = try c.session()
                let keepers = try b.all(Keeper.self)
                try c.expect(
                    keepers.map { $0.animals.map(\.name) }, is: [["Cat", "Rex"], ["Puck", "Pip", "Owl"]],
                    "animals \(moment):")
                try c.expect(keepers.map { name($0.favourite) }, is: ["Rex", "-"], "favourites \(moment):")
                try c.expect(keepers.map { name($0.lead) }, is: ["Pip", "-"], "puppies on the lead \(moment):")
                try c.expect(
                    keepers.map { $0.walks.map(\.name) }, is: [["Pip"], ["Puck", "Rex"]], "walks \(moment):")
                try c.expect(keepers.map { $0.charges.map(\.name) }, is: [[], ["Pip"]], "charges \(moment):")
                try c.expect(
                    keepers.map { $0.herd.map(\.name) }, is: [["Puck", "Rex", "Pip", "Owl"], []], "herds \(moment):")
                try c.expect(
                    try b.all(Dog.self).map { $0.litter.map(\.name) }, is: [["Pip"], ["Puck"], [], []],
                    "litters \(moment):")
                try c.expect(
                    try b.all(Toy.self).map { $0.owners.map(\.name) }, is: [["Puck"], ["Pip"]], "owners \(moment):")
                try c.expect(
                    try b.all(Dog.self).map { $0.toys.map(\.name) }, is: [["ball"], [], ["bone"], []],
                    "toys \(moment):")
            }
            try check("in a fresh context")
            if c.subject.capabilities.contains(.reopening) {
                try c.reopen()
                try check("after reopening")
            }
        },
        family(
            "after-reopening", capability: .reopening,
            "Records of every level, and what they refer to, are the same after reopening.",
            hint: "The class of a record is kept by the entity that declares it, or only one level is read again."
        ) { c in
            let before = try c.session().identifiers(FetchDescriptor<Animal>())
            try c.reopen()
            try c.expect(try c.session().identifiers(FetchDescriptor<Animal>()), is: before, "identifiers:")
            let found = try c.session().all(Puppy.self)
            try c.expect(found.map(\.name), is: ["Puck", "Pip"], "names of the puppies:")
            try c.expect(found.map(\.age), is: [1, 0], "values of the middle class:")
            try c.expect(found.map(\.weeks), is: [9, 4], "values of the last class:")
            try checkRelationships(c, "after reopening")
        },
        family(
            "deletion-at-every-level", "A deleted record of any level is gone from every fetch and relationship.",
            hint: "A deletion looks for the record among those of one entity."
        ) { c in
            let a = try c.session()
            let animals = try a.all(Animal.self)
            for name in ["Puck", "Rex", "Cat"] {
                a.delete(try c.require(animals.first { $0.name == name }, "an animal \(name)"))
            }
            try a.save()
            let b = try c.session()
            try c.expect(try b.all(Animal.self).map(\.name), is: ["Pip", "Bella", "Owl"], "animals:")
            try c.expect(try b.all(Dog.self).map(\.name), is: ["Pip", "Bella"], "dogs:")
            try c.expect(try b.all(Puppy.self).map(\.name), is: ["Pip"], "puppies:")
            let keepers = try b.all(Keeper.self)
            try c.expect(keepers.map { $0.animals.map(\.name) }, is: [[], ["Pip", "Owl"]], "the keepers' animals:")
            try c.expect(keepers.map { name($0.favourite) }, is: ["Pip", "-"], "favourites:")
            try c.expect(keepers.map { name($0.lead) }, is: ["-", "-"], "puppies on the lead:")
            try c.expect(keepers.map { $0.walks.map(\.name) }, is: [["Bella"], []], "walks:")
            try c.expect(keepers.map { $0.charges.map(\.name) }, is: [[], ["Pip"]], "charges:")
            try c.expect(keepers.map { $0.herd.map(\.name) }, is: [["Owl"], []], "herds:")
            try c.expect(try b.all(Puppy.self).map { name($0.mother) }, is: ["-"], "mothers:")
            try c.expect(try b.all(Toy.self).map { $0.owners.map(\.name) }, is: [["Pip"], ["Pip"]], "owners:")
        },
        family(
            "batch-deletion-of-the-middle",
            "A batch delete of the middle class leaves the first class and others alone.",
            hint: "A batch deletes the whole family, or one step of it."
        ) { c in
            let a = try c.session()
            c.note("\(a.name): delete(model: Dog)")
            try a.context.delete(model: Dog.self)
            try a.save()
            let b = try c.session()
            try c.expect(try b.all(Animal.self).map(\.name), is: ["Cat", "Owl"], "animals:")
            try c.expect(try b.count(FetchDescriptor<Puppy>()), is: 0, "puppies:")
            let keepers = try b.all(Keeper.self)
            try c.expect(keepers.map { $0.animals.map(\.name) }, is: [["Cat"], ["Owl"]], "the keepers' animals:")
            try c.expect(keepers.map { name($0.favourite) }, is: ["-", "Cat"], "favourites:")
            try c.expect(keepers.map { $0.herd.map(\.name) }, is: [["Owl"], []], "herds:")
        },
        family(
            "batch-deletion-of-the-first",
            "A batch delete of the first class takes the records of all classes below it.",
            hint: "A batch deletes one step of the family."
        ) { c in
            let a = try c.session()
            c.note("\(a.name): delete(model: Animal)")
            try a.context.delete(model: Animal.self)
            try a.save()
            let b = try c.session()
            try c.expect(try b.all(Animal.self).map(\.name), is: [], "animals:")
            try c.expect(try b.count(FetchDescriptor<Puppy>()), is: 0, "puppies:")
            let keepers = try b.all(Keeper.self)
            try c.expect(keepers.map { $0.animals.map(\.name) }, is: [[], []], "the keepers' animals:")
            try c.expect(keepers.map { name($0.lead) }, is: ["-", "-"], "puppies on the lead:")
        },
    ]

    private static let familyQueryCases: [ConformanceCase] = [
        family(
            "order-of-the-middle", "The records of a class and of those below are sorted among each other.",
            hint: "Each entity's records are sorted by themselves."
        ) { c in
            let b = try c.session()
            func names(_ order: [SortDescriptor<Dog>]) throws -> [String] {
                try b.fetch(FetchDescriptor(sortBy: order)).map(\.name)
            }
            try c.expect(
                try names([SortDescriptor(\.age)]), is: ["Pip", "Puck", "Bella", "Rex"], "dogs by age:")
            try c.expect(
                try names([SortDescriptor(\.name, comparator: .lexical, order: .reverse)]),
                is: ["Rex", "Puck", "Pip", "Bella"], "dogs by name, downwards:")
            try c.expect(
                try names([SortDescriptor(\.legs), SortDescriptor(\.breed), SortDescriptor(\.age, order: .reverse)]),
                is: ["Bella", "Pip", "Rex", "Puck"], "dogs by keys of two classes:")
        },
        family(
            "window-of-the-middle", "Offset and limit count the records of a class and of those below together.",
            hint: "Each entity gives as many records as were asked for, or leaves out as many."
        ) { c in
            let b = try c.session()
            for (offset, limit, expected) in [
                (0, 3, ["Pip", "Puck", "Bella"]), (1, 2, ["Puck", "Bella"]), (3, 5, ["Rex"]),
                (2, nil, ["Bella", "Rex"]),
            ] as [(Int, Int?, [String])] {
                var descriptor = FetchDescriptor<Dog>(sortBy: [SortDescriptor(\.age)])
                descriptor.fetchOffset = offset
                descriptor.fetchLimit = limit
                try c.expect(try b.fetch(descriptor).map(\.name), is: expected, "dogs by age:")
                try c.expect(try b.count(descriptor), is: expected.count, "count of the dogs in the window:")
            }
            var unsorted = FetchDescriptor<Animal>()
            unsorted.fetchOffset = 1
            unsorted.fetchLimit = 3
            try c.expect(try b.fetch(unsorted).map(\.name), is: ["Cat", "Rex", "Pip"], "animals in identity order:")
            unsorted.predicate = #Predicate { $0.legs == 4 }
            try c.expect(try b.fetch(unsorted).map(\.name), is: ["Rex", "Pip", "Bella"], "animals with four legs:")
        },
        family(
            "conditions-on-the-middle", "A condition on a class is put to its records and to those of all below.",
            hint: "A slot is counted from the entity that declares it, or one entity is asked."
        ) { c in
            let b = try c.session()
            func check(_ predicate: Predicate<Dog>, _ expected: [String]) throws {
                let descriptor = FetchDescriptor(predicate: predicate)
                try c.expect(try b.fetch(descriptor).map(\.name), is: expected, "dogs that match:")
                try c.expect(try b.count(descriptor), is: expected.count, "count of the dogs that match:")
                try c.expect(try b.identifiers(descriptor).count, is: expected.count, "identifiers of them:")
            }
            try check(#Predicate { $0.age < 5 }, ["Puck", "Pip", "Bella"])
            try check(#Predicate { $0.legs == 4 && $0.breed == "collie" }, ["Puck", "Rex"])
            try check(#Predicate { $0.walker?.name == "Bob" }, ["Puck", "Rex"])
            try check(#Predicate { $0.keeper?.name == "Bob" }, ["Pip"])
            try check(#Predicate { $0.litter.contains { $0.weeks > 5 } }, ["Bella"])
            try check(#Predicate { $0.toys.isEmpty }, ["Puck", "Bella"])
            try check(#Predicate { !($0 is Puppy) }, ["Rex", "Bella"])
        },
        family(
            "conditions-on-every-level",
            "Conditions on the first and on the last class reach their records, and no others.",
            hint: "A slot is counted from the entity that declares it, or a type is tested one step up."
        ) { c in
            let b = try c.session()
            func names<M: Animal>(_ predicate: Predicate<M>) throws -> [String] {
                try b.fetch(FetchDescriptor(predicate: predicate)).map(\.name)
            }
            try c.expect(try names(#Predicate<Animal> { $0.legs < 4 }), is: ["Cat", "Owl"], "animals:")
            try c.expect(
                try names(#Predicate<Puppy> { $0.weeks < 9 && $0.age == 0 && $0.legs == 4 }), is: ["Pip"], "puppies:")
            try c.expect(try names(#Predicate<Puppy> { $0.mother?.age == 4 }), is: ["Puck"], "puppies by their mother:")
            try c.expect(
                try names(#Predicate<Animal> { $0 is Dog }), is: ["Puck", "Rex", "Pip", "Bella"],
                "animals that are dogs:")
            try c.expect(
                try names(#Predicate<Animal> { $0 is Puppy }), is: ["Puck", "Pip"], "animals that are puppies:")
            try c.expect(
                try names(#Predicate<Animal> { ($0 as? Dog)?.age == 1 }), is: ["Puck"],
                "animals that are dogs of one year:")
            let keepers = try b.fetch(
                FetchDescriptor<Keeper>(predicate: #Predicate { $0.animals.contains { $0.legs == 4 } }))
            try c.expect(keepers.map(\.name), is: ["Ada", "Bob"], "keepers of animals with four legs:")
            let favourites = try b.fetch(FetchDescriptor<Keeper>(predicate: #Predicate { $0.favourite?.legs == 4 }))
            try c.expect(favourites.map(\.name), is: ["Ada"], "keepers whose favourite has four legs:")
        },
        family(
            "by-identifier", "A record of a subclass is found by its identifier, whichever class is asked for.",
            hint: "The identifier is looked for among the records of the class that was asked for."
        ) { c in
            let b = try c.session()
            let wanted = try c.require(try b.all(Puppy.self).first, "a puppy").persistentModelID
            try c.expect(
                try b.fetch(FetchDescriptor<Animal>(predicate: #Predicate { $0.persistentModelID == wanted })).map(
                    \.name),
                is: ["Puck"], "the animal of that identifier:")
            try c.expect(
                try b.fetch(FetchDescriptor<Dog>(predicate: #Predicate { $0.persistentModelID == wanted })).map(\.name),
                is: ["Puck"], "the dog of that identifier:")
            let found = try c.session().context.model(for: wanted) as? Puppy
            try c.expect(found?.weeks, is: 9, "weeks of the model for that identifier:")
        },
        family(
            "plans", capability: .queries, "Rows of a middle class are those of it and of all classes below, in order.",
            hint: "Only one entity's records are looked at, or one entity after the other."
        ) { c in
            let probe = try PlanProbe(c)
            func of(_ entity: String, _ name: String) throws -> QueryExpression {
                try probe.property(name, of: entity)
            }
            let age = try of("Dog", "age")
            try probe.check(StoreQuery("Dog"))
            try probe.check(StoreQuery("Dog", includesSubentities: false))
            try probe.check(StoreQuery("Animal", includesSubentities: false))
            try probe.check(StoreQuery("Dog", purpose: .count))
            try probe.check(StoreQuery("Dog", conjuncts: [.compare(.less, age, .constant(.integer(5)))]))
            try probe.check(
                StoreQuery(
                    "Dog", includesSubentities: false, conjuncts: [.compare(.less, age, .constant(.integer(5)))]))
            try probe.check(StoreQuery("Dog", order: [.init(age)]))
            try probe.check(StoreQuery("Dog", order: [.init(age, isAscending: false)], offset: 1, limit: 2))
            try probe.check(StoreQuery("Animal", offset: 1, limit: 3))
            let order: [StoreQuery.Order] = [.init(try of("Dog", "legs")), .init(age)]
            try probe.check(StoreQuery("Dog", purpose: .identifiers, order: order, limit: 3))
        },
    ]
}
