#if Inventory
import Foundation
import Hummingbird
import InventorySample
import Logging
import MortiseService
import NIOCore
import ServiceLifecycle
import UnixSignals

/// Serves an inventory on loopback until it is told to end, and closes its store then.
///
///     inventory [STORE] [PORT]
@main
struct InventoryCommand {
    static func main() async throws {
        let arguments = CommandLine.arguments.dropFirst()
        let store = arguments.first ?? "log:inventory.log?keepDays=365"
        let port = arguments.dropFirst().first.flatMap(Int.init) ?? 8080
        let logger = Logger(label: "inventory")
        let inventory = try Inventory(store: store, logger: logger)
        let server = Application(
            router: InventoryRoutes(inventory).router,
            configuration: .init(address: .hostname("127.0.0.1", port: port)),
            onServerRunning: { channel in
                // Not by print, which keeps it back where the output is a pipe.
                let line = "http://127.0.0.1:\(channel.localAddress?.port ?? port)\n"
                FileHandle.standardOutput.write(Data(line.utf8))
            },
            logger: logger)
        // Ended in reverse order: the store is closed when the last request has been answered.
        let group = ServiceGroup(
            services: [ContainerService(inventory.container), server], gracefulShutdownSignals: [.sigterm, .sigint],
            logger: logger)
        try await group.run()
    }
}
#else
import MissingTrait

@main
struct InventoryCommand {
    static func main() { endForMissingTrait("Inventory", program: "inventory") }
}
#endif
