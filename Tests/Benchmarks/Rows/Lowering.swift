import Foundation
import Mortise

extension Row {
    /// What a fetch costs before the first record is looked at: predicate and sort order are lowered each time.
    static var lowering: Row {
        Row(
            name: "lowering", title: "fetch from an empty store", unit: "fetch", isSized: false
        ) { fixture in
            let container = try fixture.newContainer()
            let rounds = 1_000
            func descriptor(_ round: Int) -> FetchDescriptor<Trip> {
                let (destination, price) = (TripValues.destinationNames()[0], Double(round))
                return FetchDescriptor(
                    predicate: #Predicate { $0.destination == destination && $0.price < price },
                    sortBy: [SortDescriptor(\.name)])
            }
            let descriptors = (0..<rounds).map(descriptor)
            func fetching(_ descriptor: @escaping (Int) -> FetchDescriptor<Trip>) -> () throws -> Work {
                {
                    let context = ModelContext(container)
                    return {
                        var found = 0
                        for round in 0..<rounds { found += try context.fetch(descriptor(round)).count }
                        return { [found] in found }
                    }
                }
            }
            return [
                Way(name: memory, units: rounds, prepare: fetching { descriptors[$0] }),
                Way(name: "without predicate and order", units: rounds, prepare: fetching { _ in FetchDescriptor() }),
                // Comparing two descriptors lowers both predicates and does little else.
                Way(name: "lowering the predicate alone", units: rounds * 2) {
                    {
                        var different = 0
                        for descriptor in descriptors where descriptor != descriptor { different += 1 }
                        return { [different] in different }
                    }
                },
            ]
        }
    }
}
