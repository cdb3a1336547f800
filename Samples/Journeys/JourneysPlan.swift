import Mortise

/// How the store of any version that was shipped becomes one of the current version.
public enum JourneysPlan: SchemaMigrationPlan {
    public static var schemas: [any VersionedSchema.Type] { [JourneysV1.self, JourneysV2.self, JourneysV3.self] }
    public static var stages: [MigrationStage] { [guestsBecomeTravelers, tripsBecomeJourneys] }

    /// What a stage drops is said there; anything else that has no place ends the migration.
    public static var migrationOptions: MigrationOptions {
        var options = MigrationOptions()
        options.loss = .declared
        options.mostCopies = 2
        return options
    }

    /// What keeps a stage from making sense of what is stored.
    public enum Problem: Error, Equatable {
        /// All trips together cost something else than before.
        case total(before: Int, after: Int)
        /// A price is no amount of money.
        case price(trip: PersistentIdentifier)
    }

    private static var guestsBecomeTravelers: MigrationStage {
        .custom(
            from: JourneysV1.self, to: JourneysV2.self,
            mapping: .inferred.renaming("Trip.cents", from: "price").converting("Trip.cents", .value(cents(of:)))
                .dropping("Trip.guest"),
            // Two trips with one code were one trip that was entered twice.
            duplicates: [.keep(.first, on: "Trip", ["code"])],
            migrate: { old, new in
                var travelers: [String: PersistentIdentifier] = [:]
                for trip in try new.records("Trip") {
                    guard let guest = try old.record(trip.id)?.value(String.self, of: "guest"), !guest.isEmpty else {
                        continue
                    }
                    let traveler = try travelers[guest] ?? new.insert("Traveler", ["name": .string(guest)])
                    travelers[guest] = traveler
                    try new.update(trip.id, ["traveler": .identifier(traveler)])
                }
            },
            validate: { old, new in
                var (before, after) = ([String: Int](), 0)
                for trip in try old.records("Trip") {
                    let code = try trip.value(String.self, of: "code") ?? ""
                    if before[code] == nil, case .integer(let cents) = try cents(of: trip) { before[code] = Int(cents) }
                }
                for trip in try new.fetch(JourneysV2.Trip.self) { after += trip.cents }
                let total = before.values.reduce(0, +)
                if total != after { throw Problem.total(before: total, after: after) }
            })
    }

    private static var tripsBecomeJourneys: MigrationStage {
        .custom(
            from: JourneysV2.self, to: JourneysV3.self, mapping: .inferred.dropping("Trip.note"))
    }

    @Sendable private static func cents(of trip: StoredRecord) throws -> StoredValue {
        let price = try trip.value(Double.self, of: "price") ?? 0
        guard let cents = Int64(exactly: (price * 100).rounded()) else { throw Problem.price(trip: trip.id) }
        return .integer(cents)
    }
}
