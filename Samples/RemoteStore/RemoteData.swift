#if RemoteStore
import Foundation
import MortiseCore
import Synchronization

/// What the service keeps of one store. A save is carried out whole, under one lock.
final class RemoteData: Sendable {
    private struct State {
        var next: UInt64 = 1
        var records: [UInt64: RemoteRecord] = [:]
        var answers: [UUID: RemoteSaved] = [:]
    }
    private let state = Mutex(State())
    let identifier = UUID().uuidString

    /// What a client has asked that cannot be.
    struct Refusal: Error { let reason: String }

    func records(_ question: RemoteQuestion) -> [RemoteRecord] {
        let all = state.withLock { $0.records }.sorted { $0.key < $1.key }.map(\.value)
        let entities = Set(question.entities)
        var found = all.filter { entities.contains($0.identifier.entityName) }
        for derived in question.derived {
            var owners: [PersistentIdentifier: [PersistentIdentifier]] = [:]
            for record in all {
                for target in record.values[derived.inverse]?.targets ?? [] {
                    owners[target, default: []].append(record.identifier)
                }
            }
            for place in found.indices where found[place].values[derived.property] != nil {
                found[place].values[derived.property] = .identifiers(owners[found[place].identifier] ?? [])
            }
        }
        return found
    }

    func save(_ changes: RemoteChanges) throws -> RemoteSaved {
        try state.withLock { state in
            if let answer = state.answers[changes.key] { return answer }
            var next = state
            var permanent: [PersistentIdentifier: PersistentIdentifier] = [:]
            for record in changes.inserted {
                permanent[record.identifier] = .numbered(
                    next.next, storeIdentifier: identifier, entityName: record.identifier.entityName)
                next.next += 1
            }
            for identifier in changes.updated.map(\.identifier) + changes.deleted
            where identifier.sequenceNumber.flatMap({ next.records[$0] }) == nil {
                throw Refusal(reason: "There is no record \(identifier); another save may have deleted it.")
            }
            for var record in changes.inserted + changes.updated {
                record.identifier = permanent[record.identifier] ?? record.identifier
                for name in record.values.keys {
                    record.values[name]?.remapIdentifiers(permanent)
                    if case .identifiers(let members)? = record.values[name] {
                        record.values[name] = .identifiers(Set(members).sorted())
                    }
                }
                next.records[record.identifier.sequenceNumber ?? 0] = record
            }
            for identifier in changes.deleted { next.records[identifier.sequenceNumber ?? 0] = nil }
            Self.clear(Set(changes.deleted), in: &next.records)
            let saved = RemoteSaved(pairs: permanent.map { .init(temporary: $0.key, permanent: $0.value) })
            next.answers[changes.key] = saved
            state = next
            return saved
        }
    }

    func erase() { state.withLock { $0.records = [:] } }

    private static func clear(_ gone: Set<PersistentIdentifier>, in records: inout [UInt64: RemoteRecord]) {
        if gone.isEmpty { return }
        for number in records.keys {
            for (name, value) in records[number]?.values ?? [:] where !gone.isDisjoint(with: value.targets) {
                let left = value.targets.filter { !gone.contains($0) }
                if case .identifiers = value {
                    records[number]?.values[name] = .identifiers(left)
                } else {
                    records[number]?.values[name] = left.first.map(StoredValue.identifier) ?? .null
                }
            }
        }
    }
}
#endif
