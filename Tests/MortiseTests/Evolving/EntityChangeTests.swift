import Foundation
import Mortise
import Testing

/// Entities that are split, united or made of a value.
@Suite struct EntityChangeTests {
    enum One: VersionedSchema {
        static var models: [any PersistentModel.Type] { [Contact.self, Order.self] }
        static var versionIdentifier: Schema.Version { Schema.Version(1, 0, 0) }

        @Model final class Contact {
            var name: String
            var isCompany: Bool
            @Relationship(inverse: \Order.contact) var orders: [Order] = []
            init(_ name: String, isCompany: Bool) {
                self.name = name
                self.isCompany = isCompany
            }
        }
        @Model final class Order {
            var number: Int
            var country: String
            var contact: Contact?
            init(_ number: Int, _ country: String, _ contact: Contact?) {
                self.number = number
                self.country = country
                self.contact = contact
            }
        }
    }

    /// Persons and companies are two, and countries are records that orders share.
    enum Two: VersionedSchema {
        static var models: [any PersistentModel.Type] { [Person.self, Company.self, Order.self, Country.self] }
        static var versionIdentifier: Schema.Version { Schema.Version(2, 0, 0) }

        @Model final class Person {
            var name: String
            @Relationship(inverse: \Order.person) var orders: [Order] = []
            init(_ name: String) { self.name = name }
            static var originalEntityName: String? { "Contact" }
        }
        @Model final class Company {
            var name: String
            @Relationship(inverse: \Order.company) var orders: [Order] = []
            init(_ name: String) { self.name = name }
        }
        @Model final class Country {
            @Attribute(.unique) var code: String
            @Relationship(inverse: \Order.country) var orders: [Order] = []
            init(_ code: String) { self.code = code }
        }
        @Model final class Order {
            var number: Int
            @Relationship(originalName: "contact") var person: Person?
            var company: Company?
            var country: Country?
            init(_ number: Int) { self.number = number }
        }
    }

    /// One entity again for both.
    enum Three: VersionedSchema {
        static var models: [any PersistentModel.Type] { [Party.self, Order.self, Country.self] }
        static var versionIdentifier: Schema.Version { Schema.Version(3, 0, 0) }

        @Model final class Party {
            var name: String
            var isCompany: Bool = false
            @Relationship(inverse: \Order.party) var orders: [Order] = []
            init(_ name: String, isCompany: Bool) {
                self.name = name
                self.isCompany = isCompany
            }
            static var originalEntityName: String? { "Person" }
        }
        @Model final class Country {
            @Attribute(.unique) var code: String
            @Relationship(inverse: \Order.country) var orders: [Order] = []
            init(_ code: String) { self.code = code }
        }
        @Model final class Order {
            var number: Int
            @Relationship(originalName: "person") var party: Party?
            var country: Country?
            init(_ number: Int) { self.number = number }
        }
    }

    enum Plan: SchemaMigrationPlan {
        static var schemas: [any VersionedSchema.Type] { [One.self, Two.self, Three.self] }
        static var stages: [MigrationStage] { [splitting, merging] }

        static var splitting: MigrationStage {
            .custom(from: One.self, to: Two.self, mapping: .inferred.fresh("Order.country")) { old, new in
                for contact in try old.fetch(One.Contact.self) where contact.isCompany {
                    let company = Two.Company(contact.name)
                    new.insert(company)
                    company.orders = try contact.orders.compactMap {
                        try new.model(Two.Order.self, for: $0.persistentModelID)
                    }
                    try new.model(Two.Person.self, for: contact.persistentModelID).map(new.context.delete)
                }
                var countries: [String: PersistentIdentifier] = [:]
                for order in try old.records("Order") {
                    let code = try order.value(String.self, of: "country") ?? ""
                    let country = try countries[code] ?? new.insert("Country", ["code": .string(code)])
                    countries[code] = country
                    try new.update(order.id, ["country": .identifier(country)])
                }
            }
        }

        static var merging: MigrationStage {
            .custom(from: Two.self, to: Three.self) { old, new in
                for company in try old.fetch(Two.Company.self) {
                    let party = Three.Party(company.name, isCompany: true)
                    new.insert(party)
                    party.orders = try company.orders.compactMap {
                        try new.model(Three.Order.self, for: $0.persistentModelID)
                    }
                }
            }
        }
    }

    private func filled(_ kind: String) throws -> ShapeWorld {
        let world = try ShapeWorld(kind)
        let (ada, bolt) = (One.Contact("Ada", isCompany: false), One.Contact("Bolt", isCompany: true))
        try world.fill(
            One.self,
            [
                ada, bolt, One.Contact("Cleo", isCompany: false), One.Order(1, "NO", ada), One.Order(2, "PT", bolt),
                One.Order(3, "NO", bolt), One.Order(4, "IT", nil),
            ])
        return world
    }

    @Test(arguments: ShapeWorld.kinds) func anEntityIsSplitAndAValueBecomesARecord(_ kind: String) throws {
        try filled(kind).migrated(to: Two.self, Plan.self) { context in
            let persons = try context.fetch(FetchDescriptor<Two.Person>(sortBy: [SortDescriptor(\.name)]))
            #expect(persons.map { "\($0.name) \($0.orders.map(\.number))" } == ["Ada [1]", "Cleo []"])
            let companies = try context.fetch(FetchDescriptor<Two.Company>())
            #expect(companies.map { "\($0.name) \($0.orders.map(\.number).sorted())" } == ["Bolt [2, 3]"])
            let orders = try context.fetch(FetchDescriptor<Two.Order>(sortBy: [SortDescriptor(\.number)]))
            #expect(orders.map { $0.country?.code } == ["NO", "PT", "NO", "IT"])
            #expect(orders.map { $0.person?.name } == ["Ada", nil, nil, nil])
            let countries = try context.fetch(FetchDescriptor<Two.Country>(sortBy: [SortDescriptor(\.code)]))
            #expect(countries.map { $0.orders.map(\.number).sorted() } == [[4], [1, 3], [2]])
        }
    }

    @Test(arguments: ShapeWorld.kinds) func twoEntitiesBecomeOne(_ kind: String) throws {
        try filled(kind).migrated(to: Three.self, Plan.self) { context in
            let parties = try context.fetch(FetchDescriptor<Three.Party>(sortBy: [SortDescriptor(\.name)]))
            #expect(parties.map { "\($0.name) \($0.isCompany)" } == ["Ada false", "Bolt true", "Cleo false"])
            #expect(parties.map { $0.orders.map(\.number).sorted() } == [[1], [2, 3], []])
            let orders = try context.fetch(FetchDescriptor<Three.Order>(sortBy: [SortDescriptor(\.number)]))
            #expect(orders.map { $0.country?.code } == ["NO", "PT", "NO", "IT"])
        }
    }
}
