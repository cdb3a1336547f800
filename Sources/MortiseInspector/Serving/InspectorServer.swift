#if Inspector
import Foundation
import HTTPTypes
import Hummingbird
import Logging
public import MortiseCommands
import NIOCore
import Synchronization

extension ToolServer {
    /// The inspector: what `mortise serve` starts.
    public static var inspector: ToolServer {
        ToolServer { stores, opened in try InspectorServer(stores).run(opened) }
    }
}

/// The inspector by HTTP.
struct InspectorServer: Sendable {
    private let served: ServedStores

    init(_ served: ServedStores) { self.served = served }

    /// Serves until the process gets SIGINT or SIGTERM.
    func run(_ opened: @escaping @Sendable (_ address: String) -> Void) throws {
        let responder = InspectorResponder(served)
        var logger = Logger(label: "mortise.inspector")
        logger.logLevel = .warning
        let application = Application(
            responder: responder, configuration: .init(address: .hostname(served.host, port: served.port)),
            onServerRunning: { [served] channel in
                let access = Access(host: served.host, port: channel.localAddress?.port ?? served.port)
                responder.open(access)
                opened(access.address)
            },
            logger: logger)
        let ended = DispatchSemaphore(value: 0)
        let failure = Mutex<(any Error)?>(nil)
        Task {
            do { try await application.runService() } catch { failure.withLock { $0 = error } }
            ended.signal()
        }
        ended.wait()
        responder.end()
        if let error = failure.withLock({ $0 }) {
            throw ServingFailed(host: served.host, port: served.port, cause: "\(error)")
        }
    }
}

/// The server could not be started, or ended by itself.
struct ServingFailed: Error, CustomStringConvertible {
    let host: String
    let port: Int
    let cause: String
    var description: String { "cannot serve on \(host), port \(port): \(cause); choose another with --port" }
}

/// Answers one request after the other. Pages are made on threads that may wait for the disk.
final class InspectorResponder: HTTPResponder {
    typealias Context = BasicRequestContext

    private let site: Site
    private let threads: RequestThreads
    private let access = Mutex<Access?>(nil)
    private static let longestForm = 8 << 20

    init(_ served: ServedStores) {
        site = Site(served)
        threads = RequestThreads(stores: served.stores.count)
    }

    func open(_ access: Access) { self.access.withLock { $0 = access } }

    /// Answers no more.
    func end() { threads.end() }

    func respond(to request: Request, context: BasicRequestContext) async throws -> Response {
        var response = try await answer(request)
        for (name, value) in Self.headers { response.headers[name] = value }
        return request.method == .head ? response.createHeadResponse() : response
    }

    /// Nothing of a page is loaded from elsewhere, runs but the one script, or is shown within another page. No other site is
    /// told an address of the inspector; its own pages are, since without that browsers hide the origin of forms.
    private static let headers: [HTTPField.Name: String] = {
        var headers: [HTTPField.Name: String] = [
            .contentSecurityPolicy:
                "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; "
                + "form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
            .xContentTypeOptions: "nosniff", .cacheControl: "no-store",
        ]
        for (name, value) in [
            ("Referrer-Policy", "same-origin"), ("Cross-Origin-Opener-Policy", "same-origin"),
            ("Cross-Origin-Resource-Policy", "same-origin"),
        ] { if let name = HTTPField.Name(name) { headers[name] = value } }
        return headers
    }()

    private func answer(_ request: Request) async throws -> Response {
        guard let access = access.withLock({ $0 }), [.get, .head, .post].contains(request.method) else {
            return Self.response(.init(code: 405), Plain.refused("This method is not served."))
        }
        guard let path = Link.parts(ofPath: request.uri.path), let query = Link.values(ofQuery: request.uri.query ?? "")
        else { return Self.response(.badRequest, Plain.refused("The address is not readable.")) }
        switch access.verdict(
            host: request.head.authority, token: query["token"],
            cookies: request.headers[values: .cookie])
        {
        case .allowed: break
        case .entered(let cookie):
            // The same page without the secret in its address.
            let page = query.filter { $0.key != "token" }.sorted { $0.key < $1.key }
            let link = page.reduce(Link.page(path)) { $0.with($1.key, $1.value) }
            var response = Response(status: .seeOther, headers: [.location: link.text])
            response.headers[.setCookie] = cookie
            return response
        case .wrongHost:
            return Self.response(
                .init(code: 421), Plain.refused("This server answers under its own address alone."))
        case .noToken:
            return Self.response(
                .unauthorized,
                Plain.refused("Open the address that mortise serve has printed, with its token, and this page again."))
        }
        guard request.method == .post else {
            // Pages of others may lead here, but not with a statement that they have made up.
            let origin = HTTPField.Name("Sec-Fetch-Site").flatMap { request.headers[$0] }
            if path.contains("sql"), !query.isEmpty, origin == "cross-site" || origin == "same-site" {
                return Self.response(
                    .forbidden, Plain.refused("This statement is not from a page of this inspector. Type it there."))
            }
            return try await respond(InspectorRequest(method: .get, path: path, query: query, form: [:]), access)
        }
        let bytes: ByteBuffer
        do { bytes = try await request.body.collect(upTo: Self.longestForm) } catch {
            return Self.response(.contentTooLarge, Plain.refused("The form is too long."))
        }
        guard let form = Link.values(ofQuery: String(decoding: bytes.readableBytesView, as: UTF8.self)),
            access.isOwn(
                origin: request.headers[.origin], site: HTTPField.Name("Sec-Fetch-Site").flatMap { request.headers[$0] }
            ),
            access.isValid(formToken: form["form"])
        else {
            return Self.response(
                .forbidden, Plain.refused("This form is not from a page of this inspector. Open the page again."))
        }
        return try await respond(InspectorRequest(method: .post, path: path, query: query, form: form), access)
    }

    private func respond(_ request: InspectorRequest, _ access: Access) async throws -> Response {
        let answer = try await threads.run(for: request.path) { [site] in
            site.answer(request, formToken: access.formToken)
        }
        switch answer {
        case .page(let status, let html): return Self.response(.init(code: status), html)
        case .redirect(let link): return Response(status: .seeOther, headers: [.location: link.text])
        case .bytes(let data, let type, let name):
            var response = Response(
                status: .ok, headers: [.contentType: type], body: ResponseBody(byteBuffer: ByteBuffer(bytes: data)))
            if let name { response.headers[.contentDisposition] = Self.attachment(name) }
            return response
        case .stream(let type, let name, let produce):
            return Response(
                status: .ok, headers: [.contentType: type, .contentDisposition: Self.attachment(name)],
                body: ResponseBody { writer in
                    let pipe = ChunkPipe(produce)
                    // Also where the browser has gone: writing throws then.
                    defer { pipe.stop() }
                    try await withTaskCancellationHandler {
                        for try await chunk in pipe.chunks {
                            try await writer.write(ByteBuffer(bytes: chunk))
                            pipe.wrote()
                        }
                    } onCancel: {
                        pipe.stop()
                    }
                    try await writer.finish(nil)
                })
        }
    }

    private static func attachment(_ name: String) -> String {
        let plain = name.unicodeScalars.map { scalar in
            scalar.isASCII
                && (scalar.properties.isAlphabetic || ("0"..."9").contains(scalar)
                    || "._-".unicodeScalars.contains(scalar))
                ? Character(scalar) : "_"
        }
        return "attachment; filename=\"\(String(plain))\""
    }

    private static func response(_ status: HTTPResponse.Status, _ html: HTML) -> Response {
        Response(
            status: status, headers: [.contentType: "text/html; charset=utf-8"],
            body: ResponseBody(byteBuffer: ByteBuffer(string: html.markup)))
    }
}

/// Hands chunks from a thread that makes them to a task that sends them, a few ahead.
///
/// @unchecked Sendable: what changes is behind the mutex; the semaphore and the continuation may be used by any thread.
private final class ChunkPipe: @unchecked Sendable {
    let chunks: AsyncThrowingStream<Data, any Error>
    /// It begins at 0, since one that ends below its first value traps.
    private let room = DispatchSemaphore(value: 0)
    private let isStopped = Mutex(false)
    private static let ahead = 4

    init(_ produce: @escaping @Sendable (_ send: (Data) throws -> Void) throws -> Void) {
        let (chunks, continuation) = AsyncThrowingStream<Data, any Error>.makeStream()
        self.chunks = chunks
        continuation.onTermination = { [weak self] _ in self?.stop() }
        for _ in 0..<Self.ahead { room.signal() }
        let thread = Thread { [self] in
            do {
                try produce { data in
                    room.wait()
                    if isStopped.withLock({ $0 }) { throw CancellationError() }
                    continuation.yield(data)
                }
                continuation.finish()
            } catch { continuation.finish(throwing: error) }
        }
        thread.stackSize = 8 << 20
        thread.start()
    }

    func wrote() { room.signal() }

    func stop() {
        isStopped.withLock { $0 = true }
        room.signal()
    }
}
#endif
