import MortiseCore

/// The models that the cases store. They are written by hand, so that the kit needs no macros.
enum ConformanceModels {
    static var types: [any PersistentModel.Type] {
        [
            ValueSample.self, OptionalSample.self, Person.self, Team.self, Project.self, Badge.self, Album.self,
            Track.self, Lyric.self, Vault.self, Coin.self, Binder.self, Sheet.self, Entry.self, Account.self,
            Charge.self, Vehicle.self, Truck.self, Item.self, SpecialItem.self, Crate.self, Receipt.self,
            Animal.self, Dog.self, Puppy.self, Keeper.self, Toy.self, Writer.self, Book.self, Song.self, Node.self,
            CodedSample.self,
        ]
    }
    static let schema = Schema(types)
}
