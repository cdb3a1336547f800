#if Inventory
import Foundation
import HTTPTypes
import Hummingbird
import InventorySample
import Mortise
import NIOCore
import NIOPosix

/// The inventory by HTTP: what is asked for by path and body, and what an error becomes.
struct InventoryRoutes {
    private let inventory: Inventory

    init(_ inventory: Inventory) { self.inventory = inventory }

    /// A movement, as a client asks for it.
    struct MovementEntry: Codable {
        var amount: Int
        var reason: String
    }

    var router: Router<BasicRequestContext> {
        let router = Router()
        router.get("health") { [inventory] _, _ in
            try await reply {
                let health = inventory.container.health()
                return try json(health, status: health.allSatisfy(\.answers) ? .ok : .serviceUnavailable)
            }
        }
        router.get("items") { [inventory] request, _ in
            let query = request.uri.queryParameters
            let search = ItemSearch(
                text: query["text"].map(String.init), tag: query["tag"].map(String.init),
                place: query["place"].map(String.init))
            let cursor = query["after"].map(String.init)
            let size = query["size"].flatMap { Int($0) } ?? 50
            return try await answer { try inventory.search(search, after: cursor, size: size) }
        }
        router.post("items") { [inventory] request, _ in
            let (entry, author) = try await (body(of: request) as ItemEntry, author(of: request))
            return try await answer(.created) { try inventory.add(entry, by: author) }
        }
        router.get("items/:id") { [inventory] _, context in
            let id = try context.parameters.require("id")
            return try await answer { try inventory.item(id) }
        }
        router.put("items/:id") { [inventory] request, context in
            let id = try context.parameters.require("id")
            let revision = request.uri.queryParameters["revision"].flatMap { Int($0) } ?? 0
            let (entry, author) = try await (body(of: request) as ItemEntry, author(of: request))
            return try await answer { try inventory.edit(id, seen: revision, as: entry, by: author) }
        }
        router.delete("items/:id") { [inventory] request, context in
            let (id, author) = (try context.parameters.require("id"), author(of: request))
            return try await answer { () -> [String] in
                try inventory.delete(id, by: author)
                return []
            }
        }
        router.post("items/:id/movements") { [inventory] request, context in
            let id = try context.parameters.require("id")
            let (entry, author) = try await (body(of: request) as MovementEntry, author(of: request))
            return try await answer { try inventory.move(id, by: entry.amount, reason: entry.reason, by: author) }
        }
        router.put("items/:id/attachments/:name") { [inventory] request, context in
            let (id, name) = (try context.parameters.require("id"), try context.parameters.require("name"))
            let (type, author) = (request.headers[.contentType] ?? "application/octet-stream", author(of: request))
            let content = Data(
                try await request.body.collect(upTo: Inventory.largestAttachment + 1).readableBytesView)
            return try await answer { try inventory.attach(content, named: name, type: type, to: id, by: author) }
        }
        router.get("attachments/:id") { [inventory] _, context in
            let id = try context.parameters.require("id")
            return try await reply {
                let (content, type) = try inventory.attachment(id)
                // What somebody has uploaded is never a page of this service.
                var response = response(content, type: type)
                response.headers[.contentDisposition] = "attachment"
                response.headers[.xContentTypeOptions] = "nosniff"
                return response
            }
        }
        router.post("stocktaking") { [inventory] request, _ in
            let (entries, author) = try await (body(of: request) as [ItemEntry], author(of: request))
            let stocktaking = Stocktaking(modelContainer: inventory.container)
            do {
                return try json(await stocktaking.take(entries, by: author ?? "stocktaking"))
            } catch let error as any ClassifiedStoreError {
                return try refusal(error)
            }
        }
        router.get("totals") { [inventory] _, _ in try await answer { try inventory.totals() } }
        router.get("audit") { [inventory] request, _ in
            let isPage = request.headers[.accept]?.contains("text/html") == true
            return try await reply {
                let lines = try inventory.audit()
                return try isPage
                    ? response(Data(AuditPage(lines).html.utf8), type: "text/html; charset=utf-8") : json(lines)
            }
        }
        return router
    }
}

private func author(of request: Request) -> String? { HTTPField.Name("X-User").flatMap { request.headers[$0] } }

private func body<Value: Decodable>(of request: Request) async throws -> Value {
    let bytes = try await request.body.collect(upTo: 16 << 20)
    do {
        return try JSONDecoder().decode(Value.self, from: Data(bytes.readableBytesView))
    } catch {
        throw HTTPError(.badRequest, message: "The body is not what this path expects: \(error)")
    }
}

private func answer<Value: Encodable & Sendable>(
    _ status: HTTPResponse.Status = .ok, _ body: @escaping @Sendable () throws -> Value
) async throws -> Response {
    try await reply { try json(try body(), status: status) }
}

/// Runs the body on a thread that may wait for the disk, and makes a status of what it throws.
private func reply(_ body: @escaping @Sendable () throws -> Response) async throws -> Response {
    try await NIOThreadPool.singleton.runIfActive {
        do { return try body() } catch let error as any ClassifiedStoreError { return try refusal(error) }
    }
}

private func refusal(_ error: any ClassifiedStoreError) throws -> Response {
    let status: HTTPResponse.Status =
        switch error.errorClass {
        case .missing: .notFound
        case .denied: .forbidden
        case .conflict, .locked, .alreadyExists: .conflict
        case .invalid, .usage: .unprocessableContent
        case .busy, .closed: .serviceUnavailable
        case .unsupported: .notImplemented
        case .damaged, .failedInputOutput: .internalServerError
        }
    return try json(["error": error.localizedDescription], status: status)
}

private func json(_ value: some Encodable, status: HTTPResponse.Status = .ok) throws -> Response {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys]
    encoder.dateEncodingStrategy = .iso8601
    return response(try encoder.encode(value), type: "application/json", status: status)
}

private func response(_ bytes: Data, type: String, status: HTTPResponse.Status = .ok) -> Response {
    Response(
        status: status, headers: [.contentType: type], body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)))
}
#endif
