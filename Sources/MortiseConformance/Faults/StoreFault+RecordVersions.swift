import Foundation
import MortiseCore

extension StoreFault {
    /// A fault of the reference store that others write.
    static func shared(
        _ id: String, _ summary: String, isOfSize: Bool = false,
        _ change: @escaping @Sendable (inout ReferenceSteps) -> Void
    ) -> StoreFault {
        StoreFault(id, summary, in: .shared, isOfSize: isOfSize, change: change)
    }

    /// Shared by the openings of the store that refuses to be one of two.
    private static let saving = BusyMark()

    static let recordVersionFaults: [StoreFault] = [
        shared("overwrites-what-others-changed", "takes a save whatever the versions of its records are") { steps in
            steps.superseded = { _, _ in [] }
        },
        shared("deletes-what-others-changed", "looks at the versions of updated records alone") { steps in
            steps.superseded = { request, current in
                DataStoreSaveChangesRequest(
                    updated: request.updated, editingState: request.editingState,
                    updatedVersions: request.updatedVersions
                ).superseded(current)
            }
        },
        shared("names-the-first-superseded", "names only the first of several records that others have changed") {
            $0.superseded = { Array($0.superseded($1).prefix(1)) }
        },
        shared("refuses-while-another-saves", "refuses a save that comes while another opening saves") { steps in
            steps.beforeSaving = { _, _ in
                saving.enter()
                // Long enough for another to come.
                Thread.sleep(forTimeInterval: 0.002)
            }
            steps.accept = { request in
                if saving.leave() > 0 { throw ReferenceStoreError.refused }
                return request
            }
        },
        shared("record-version-stays", "gives a changed record the version that it had") { steps in
            steps.recordVersion = { old, save in old ?? save }
        },
        shared("refuses-unknown-versions", "takes version 0 for one that no record has") { steps in
            steps.superseded = { request, current in
                request.superseded(current)
                    + zip(request.updated, request.updatedVersions).filter { $0.1 == 0 }.map(\.0.persistentIdentifier)
            }
        },
        shared("passes-over-the-superseded", "saves what others have not changed, and says nothing of the rest") {
            steps in
            steps.superseded = { _, _ in [] }
            steps.accept = { request in
                let isOld = { (versions: [UInt64], place: Int) in place < versions.count && versions[place] > 0 }
                return DataStoreSaveChangesRequest(
                    inserted: request.inserted,
                    updated: request.updated.enumerated().filter { !isOld(request.updatedVersions, $0.offset) }
                        .map(\.element), deleted: request.deleted, editingState: request.editingState)
            }
        },
        shared("tells-another-version", "compares another version of a record than it tells") { steps in
            steps.superseded = { request, current in request.superseded { current($0).map { $0 + 1 } } }
        },
        shared("gone-is-nothing-to-do", "takes an update of a record that others have deleted, and does nothing") {
            steps in
            steps.superseded = { request, current in
                request.superseded(current).filter { current($0) != nil }
            }
            steps.passesOverMissing = true
        },
        shared("reads-once", "answers a connection with what it has read of a record before") { $0.readsOnce = true },
        shared("takes-a-thousand-updates", "refuses more than 1,000 updates in one save", isOfSize: true) { steps in
            steps.accept = { request in
                if request.updated.count > 1_000 { throw ReferenceStoreError.refused }
                return request
            }
        },
        shared("one-version-for-all", "gives all its records another version at every save") { steps in
            steps.finish = { _, next in
                for number in next.records.keys { next.recordVersions[number] = next.version + 1 }
            }
        },
    ]
}
