#if RemoteStore
import Foundation
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import Synchronization

/// The service: stores by name, each called with a POST. Listens on loopback only, because it does not authenticate.
final class RemoteService: Sendable {
    /// The faults that the service makes on purpose, for tests.
    struct Misbehaviour: Sendable {
        /// How many requests are refused as if the service were overloaded, and not carried out.
        var refusals = 0
        /// How many requests are carried out and answered late.
        var late = 0
        var delay = 0.0
    }

    let misbehaviour = Mutex(Misbehaviour())
    private let stores = Mutex<[String: RemoteData]>([:])
    private static let largestBody = 64 << 20

    /// Starts the service on a free port.
    /// - Returns: its address, when it listens. It runs until the process ends.
    func start() throws -> URL {
        let started = DispatchSemaphore(value: 0)
        let port = Mutex(0)
        Task {
            let application = Application(
                router: router, configuration: .init(address: .hostname("127.0.0.1", port: 0)),
                onServerRunning: { channel in
                    port.withLock { $0 = channel.localAddress?.port ?? 0 }
                    started.signal()
                }, logger: Logger(label: "remote-store") { _ in SwiftLogNoOpLogHandler() })
            try await application.run()
        }
        _ = started.wait(timeout: .now() + 10)
        let number = port.withLock { $0 }
        guard number > 0, let url = URL(string: "http://127.0.0.1:\(number)") else {
            throw RemoteStoreError.unreachable(service: "the service", tries: 1)
        }
        return url
    }

    private var router: Router<BasicRequestContext> {
        let router = Router()
        router.post(":store/about") { [self] _, context in
            try await answer { try JSONEncoder().encode(self.data(context).identifier) }
        }
        router.post(":store/fetch") { [self] request, context in
            let body = try await request.body.collect(upTo: Self.largestBody)
            return try await answer {
                let question = try JSONDecoder().decode(RemoteQuestion.self, from: Data(body.readableBytesView))
                return try JSONEncoder().encode(self.data(context).records(question))
            }
        }
        router.post(":store/save") { [self] request, context in
            let body = try await request.body.collect(upTo: Self.largestBody)
            return try await answer {
                let changes = try JSONDecoder().decode(RemoteChanges.self, from: Data(body.readableBytesView))
                return try JSONEncoder().encode(self.data(context).save(changes))
            }
        }
        router.post(":store/erase") { [self] _, context in
            try await answer {
                try self.data(context).erase()
                return Data("true".utf8)
            }
        }
        return router
    }

    private func data(_ context: BasicRequestContext) throws -> RemoteData {
        let name = try context.parameters.require("store")
        return stores.withLock { stores in
            if let data = stores[name] { return data }
            let data = RemoteData()
            stores[name] = data
            return data
        }
    }

    private func answer(_ body: () throws -> Data) async throws -> Response {
        let (isRefused, delay) = misbehaviour.withLock { misbehaviour -> (Bool, Double) in
            if misbehaviour.refusals > 0 {
                misbehaviour.refusals -= 1
                return (true, 0)
            }
            if misbehaviour.late > 0 {
                misbehaviour.late -= 1
                return (false, misbehaviour.delay)
            }
            return (false, 0)
        }
        if isRefused { return Response(status: .serviceUnavailable) }
        let (status, bytes): (HTTPResponse.Status, Data)
        do {
            (status, bytes) = (.ok, try body())
        } catch let refusal as RemoteData.Refusal {
            (status, bytes) = (.conflict, Data(refusal.reason.utf8))
        } catch {
            (status, bytes) = (.badRequest, Data("\(error)".utf8))
        }
        if delay > 0 { try await Task.sleep(for: .seconds(delay)) }
        return Response(
            status: status, headers: [.contentType: "application/json"],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)))
    }
}
#endif
