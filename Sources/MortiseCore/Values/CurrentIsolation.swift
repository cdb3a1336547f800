import Dispatch
import Foundation

/// What is known of where code runs that no isolation was passed to.
enum CurrentIsolation {
    /// Whether the current code runs on the main actor. After `dispatchMain()`, in which an asynchronous `main` ends on
    /// Linux, the main queue has no thread of its own.
    static var isMainActor: Bool { Thread.isMainThread || DispatchQueue.getSpecific(key: mainQueue) == true }

    private static let mainQueue: DispatchSpecificKey<Bool> = {
        let key = DispatchSpecificKey<Bool>()
        DispatchQueue.main.setSpecific(key: key, value: true)
        return key
    }()
}
