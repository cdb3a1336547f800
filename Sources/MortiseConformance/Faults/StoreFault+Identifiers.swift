import MortiseCore

extension StoreFault {
    static let identifierFaults: [StoreFault] = [
        StoreFault("constant-identifier", "has the same store identifier in every storage") { steps in
            steps.storeIdentifier = { _, _ in "reference" }
        },
        StoreFault("constant-identifier-of-a-planner", "has the same store identifier in every storage", in: .planning)
        {
            $0.storeIdentifier = { _, _ in "reference" }
        },
        StoreFault("identifier-of-a-place", "has another store identifier in a copy of its storage") { steps in
            steps.storeIdentifier = { "\($0), copy \($1)" }
        },
        StoreFault("nameless", "has an empty store identifier") { $0.storeIdentifier = { _, _ in "" } },
        StoreFault(
            "identifier-by-number", "compares identifiers by their numbers, whatever their stores", in: .planning
        ) {
            steps in
            steps.sought = { wanted, store, _ in
                wanted.sequenceNumber.map {
                    .numbered($0, storeIdentifier: store, entityName: wanted.entityName)
                } ?? wanted
            }
        },
        StoreFault(
            "identifier-without-entity", "compares identifiers by their numbers, whatever their entities", in: .planning
        ) {
            steps in
            steps.sought = { wanted, store, entity in
                guard let number = wanted.sequenceNumber, wanted.storeIdentifier == store else { return wanted }
                return .numbered(number, storeIdentifier: store, entityName: entity)
            }
        },
        StoreFault("identifier-in-32-bits", "compares the last 32 bits of identifiers", in: .planning) { steps in
            steps.sought = { wanted, store, _ in
                guard let number = wanted.sequenceNumber, number > UInt64(UInt32.max) else { return wanted }
                // What is lost leads to the second record, which is there.
                return .numbered(2, storeIdentifier: store, entityName: wanted.entityName)
            }
        },
        StoreFault("rows-by-number", "finds rows by the numbers of identifiers, whatever their stores", in: .versioned)
        {
            $0.findsByNumber = true
        },
        StoreFault(
            "families-by-number", "finds a record of a subclass by an identifier of the superclass", in: .planning
        ) {
            steps in
            steps.sought = { wanted, store, entity in
                guard let number = wanted.sequenceNumber, wanted.storeIdentifier == store, entity == "Vehicle" else {
                    return wanted
                }
                return .numbered(number, storeIdentifier: store, entityName: number == 1 ? "Truck" : "Vehicle")
            }
        },
    ]
}
