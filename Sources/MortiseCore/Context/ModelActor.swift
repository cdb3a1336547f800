import Foundation

/// An actor with its own model context, for work on models away from the main actor.
public protocol ModelActor: Actor {
    /// The container whose stores the actor's context uses.
    nonisolated var modelContainer: ModelContainer { get }
    /// Runs the actor's code. Its context is for the actor alone: use `modelContext`.
    nonisolated var modelExecutor: any ModelExecutor { get }
}

extension ModelActor {
    /// The serial executor of `modelExecutor`, so that the actor's methods run where its context lives; the main
    /// actor's if that is not serial.
    nonisolated public var unownedExecutor: UnownedSerialExecutor {
        if let serial = modelExecutor as? any SerialModelExecutor { return serial.asUnownedSerialExecutor() }
        return MainActor.sharedUnownedExecutor
    }

    /// The actor's context.
    public var modelContext: ModelContext {
        let context = modelExecutor.modelContext
        // An executor of another's making: ours has done so itself.
        if context.autosave.needsExecutor, let serial = modelExecutor as? any SerialModelExecutor {
            context.autosave.attach(to: serial)
        }
        return context
    }

    /// The model with that identifier; nil if there is no such model of that type.
    public subscript<T: PersistentModel>(id: PersistentIdentifier, as type: T.Type) -> T? {
        modelContext.model(for: id) as? T
    }
}
