import Foundation
import Mortise

/// A few changes to a library, saved as one transaction and taken back as one step.
struct DayInTheShop {
    let context: ModelContext

    init(_ context: ModelContext) {
        self.context = context
        // The history names the author; the manager makes every change one that can be undone.
        context.author = "music-library"
        context.undoManager = UndoManager()
    }

    /// Raises a price, makes a playlist, and deletes a customer.
    func change() throws {
        try context.withUndoGroup("A day in the shop") {
            for track in try context.fetch(FetchDescriptor<Track>(predicate: #Predicate { $0.trackId == 1 })) {
                track.unitPrice = 1.29
            }

            let playlist = Playlist(playlistId: 19, name: "By moonlight")
            context.insert(playlist)
            playlist.tracks = try context.fetch(
                FetchDescriptor<Track>(predicate: #Predicate { $0.name.starts(with: "Moon") }))

            // Seven invoices and their lines go with the customer: the delete rules of the models say so.
            for customer in try context.fetch(FetchDescriptor<Customer>(predicate: #Predicate { $0.customerId == 1 })) {
                context.delete(customer)
            }
        }
        try context.save()
    }

    /// Takes back what was changed, and saves that.
    func undo() throws {
        try context.undo()
        try context.save()
    }

    /// What the store's history has of both; nil for a store that keeps no history.
    func history() throws -> [DefaultHistoryTransaction]? {
        do {
            return try context.container.history().filter { $0.author == "music-library" }
        } catch MaintenanceError.unsupported {
            return nil
        }
    }
}
