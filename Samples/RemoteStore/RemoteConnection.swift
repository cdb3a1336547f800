#if RemoteStore
import Foundation
import Synchronization

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Asks a service, and waits for the answer.
///
/// The thread that asks waits on a semaphore; everything else happens on the session's own threads. A context calls its
/// store on the caller's thread. A model actor runs on a dispatch queue of its own, so that no thread of the
/// cooperative pool waits; a plain task would block one, so use a model actor. Every wait ends: by an answer, or at the
/// deadline.
final class RemoteConnection: Sendable {
    let service: URL
    let timeout: Double
    let tries: Int
    private let session: URLSession

    init(_ service: URL, timeout: Double = 10, tries: Int = 3) {
        self.service = service
        self.timeout = timeout
        self.tries = tries
        let configuration = URLSessionConfiguration.ephemeral
        // The deadline is kept below; the session's own is in whole seconds, and only has to be later.
        configuration.timeoutIntervalForRequest = max(5, timeout * 2)
        configuration.httpMaximumConnectionsPerHost = 8
        session = URLSession(configuration: configuration)
    }

    /// - Throws: `RemoteStoreError`.
    func ask<Question: Encodable, Answer: Decodable>(
        _ path: String, _ question: Question, for type: Answer.Type
    ) throws -> Answer {
        var request = URLRequest(url: service.appending(path: path))
        request.httpMethod = "POST"
        request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        request.httpBody = try JSONEncoder().encode(question)
        let bytes = try send(request)
        do {
            return try JSONDecoder().decode(type, from: bytes)
        } catch {
            throw RemoteStoreError.notUnderstood(service: service.absoluteString, reason: "\(error)")
        }
    }

    /// Sends the same request again if that cannot do harm: if there was no answer, or the service was too busy. A save
    /// has an identifier, so that one that arrives twice is carried out once.
    private func send(_ request: URLRequest) throws -> Data {
        for attempt in 1...tries {
            switch once(request) {
            case .answered(200, let data): return data
            case .answered(503, _), .failed: break
            case .answered(let status, let data):
                throw RemoteStoreError.refused(status: status, reason: String(decoding: data, as: UTF8.self))
            case .silent: throw RemoteStoreError.timedOut(service: service.absoluteString, seconds: timeout)
            }
            if attempt < tries { Thread.sleep(forTimeInterval: 0.02 * Double(1 << attempt)) }
        }
        throw RemoteStoreError.unreachable(service: service.absoluteString, tries: tries)
    }

    private enum Outcome: Sendable {
        case answered(Int, Data)
        case failed
        case silent
    }

    private func once(_ request: URLRequest) -> Outcome {
        let (done, outcome) = (DispatchSemaphore(value: 0), OutcomeBox())
        let task = session.dataTask(with: request) { data, response, _ in
            if let status = (response as? HTTPURLResponse)?.statusCode {
                outcome.set(.answered(status, data ?? Data()))
            } else {
                outcome.set(.failed)
            }
            done.signal()
        }
        task.resume()
        if done.wait(timeout: .now() + timeout) == .timedOut {
            task.cancel()
            return .silent
        }
        return outcome.value ?? .failed
    }

    private final class OutcomeBox: Sendable {
        private let kept = Mutex<Outcome?>(nil)
        var value: Outcome? { kept.withLock { $0 } }
        func set(_ value: Outcome) { kept.withLock { $0 = value } }
    }
}
#endif
