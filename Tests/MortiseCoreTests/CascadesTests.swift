import Testing

@testable import MortiseCore

/// What cascades remember of models that they do not retain.
struct CascadesTests {
    /// Bug: what the deletion of one model took came back with another that had its address.
    @Test func whatAFreedModelTookDoesNotComeBackWithOneAtItsAddress() throws {
        var cascades = Cascades()
        let follower = Author(name: "follower")
        let address: ObjectIdentifier
        do {
            let leader = Author(name: "old")
            address = ObjectIdentifier(leader)
            cascades.note(follower, deletedWith: leader)
            #expect(cascades.returning(with: leader).count == 1)
        }
        var others: [Author] = []
        while others.count < 100_000, others.last.map(ObjectIdentifier.init) != address {
            others.append(Author(name: "new"))
        }
        let leader = try #require(others.last)
        try #require(ObjectIdentifier(leader) == address)
        #expect(cascades.returning(with: leader).isEmpty)
        #expect(!cascades.hasTaken(follower))
    }
}
