import Testing

@testable import MortiseCore

/// Which object is the model of a row while another one goes.
struct IdentityMapTests {
    private final class Departing {
        private let atLast: () -> Void
        init(_ atLast: @escaping () -> Void) { self.atLast = atLast }
        deinit { atLast() }
    }

    private final class Registered {
        var registry = IdentityMap()
        var generation: UInt16?
    }

    /// Bug: the object that went took its successor out, so that one row had two models.
    @Test func anObjectThatGoesDoesNotTakeOutTheOneThatFollowedIt() throws {
        let table = Registered()
        let successor = Registered()
        do {
            let departing = Departing {
                // Its last release has begun, so that the row needs another object.
                #expect(table.registry.object(row: 5) == nil)
                if case .registered(let generation) = table.registry.register(successor, row: 5) {
                    table.generation = generation
                }
                table.registry.forget(row: 5, generation: 0)
            }
            guard case .registered(0) = table.registry.register(departing, row: 5) else {
                Issue.record("expected the first object of the row to have generation 0")
                return
            }
        }
        #expect(table.registry.object(row: 5) === successor)
        let generation = try #require(table.generation)
        #expect(generation != 0)
        table.registry.forget(row: 5, generation: generation)
        #expect(table.registry.object(row: 5) == nil)
    }
}
