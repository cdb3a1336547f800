#if Inspector
import Foundation
import MortiseCommands
import MortiseCore
import Synchronization

/// Which page a request is for, and what an error becomes.
final class Site: Sendable {
    let stores: [InspectedStore]
    let isEditable: Bool
    /// By store.
    private let staged: Mutex<[Int: StagedChanges]>

    init(_ served: ServedStores) {
        stores = served.stores
        isEditable = served.isEditable
        staged = Mutex([:])
    }

    func staged(_ store: Int) -> StagedChanges { staged.withLock { $0[store] ?? StagedChanges() } }

    func changeStaged(_ store: Int, _ body: (inout StagedChanges) -> Void) {
        staged.withLock { body(&$0[store, default: StagedChanges()]) }
    }

    func answer(_ request: InspectorRequest, formToken: String) -> InspectorAnswer {
        let frame = Frame(site: self, formToken: formToken)
        do {
            return try request.method == .post ? change(request, frame) : show(request, frame)
        } catch {
            return failure(error, request, frame)
        }
    }

    private func show(_ request: InspectorRequest, _ frame: Frame) throws -> InspectorAnswer {
        let path = request.path
        switch (path.first, path.count) {
        case (nil, 0): return StoresPage(frame).answer()
        case ("-", 2): return try asset(path[1])
        case ("compare", 1): return try ComparePage(frame).answer(request)
        case ("s", 2...): break
        default: throw NoSuchPage(what: "The address leads to no page.")
        }
        let store = try number(path[1])
        switch (path.count > 2 ? path[2] : "", path.count) {
        case ("", 2): return try SchemaPage(frame, store).answer()
        case ("verify", 3): return try SchemaPage(frame, store).verify()
        case ("version", 3):
            let text = "{\"version\":\(InspectedText.quoted(try stores[store].lastChange()))}"
            return .bytes(Data(text.utf8), type: "application/json", name: nil)
        case ("explain", 3): return try ExplainPage(frame, store).answer(request)
        case ("history", 3): return try HistoryPage(frame, store).answer(request)
        case ("history", 4): return try HistoryPage(frame, store).transaction(path[3])
        case ("history", 5) where path[4] == "undo": return try UndoPage(frame, store, path[3]).answer()
        case ("difference", 3): return try DifferencePage(frame, store).answer(request)
        case ("sql", 3): return try StatementPage(frame, store).answer(request)
        case ("storage", 5): return try StoragePage(frame, store, path[3], path[4]).answer()
        case ("changes", 3): return try ChangesPage(frame, store).answer()
        case ("export", 5): return try Export(self, store, entity: path[3], format: path[4]).answer(request)
        case ("e", 4): return try RecordsPage(frame, store, path[3]).answer(request)
        case ("e", 5): return try RecordPage(frame, store, path[3], path[4]).answer(request)
        case ("e", 6): return try RecordPage(frame, store, path[3], path[4]).value(path[5])
        default: throw NoSuchPage(what: "The address leads to no page.")
        }
    }

    private func change(_ request: InspectorRequest, _ frame: Frame) throws -> InspectorAnswer {
        let path = request.path
        guard isEditable else { throw NotEditable() }
        guard path.first == "s", path.count > 2 else { throw NoSuchPage(what: "The address takes no form.") }
        let store = try number(path[1])
        switch (path[2], path.count) {
        case ("changes", 3): return try ChangesPage(frame, store).carryOut(request)
        case ("history", 5) where path[4] == "undo": return try UndoPage(frame, store, path[3]).stage()
        case ("e", 5): return try RecordPage(frame, store, path[3], path[4]).stage(request)
        default: throw NoSuchPage(what: "The address takes no form.")
        }
    }

    private func number(_ text: String) throws -> Int {
        guard let number = Int(text), stores.indices.contains(number) else {
            throw NoSuchPage(what: "There is no such store here.")
        }
        return number
    }

    private func asset(_ name: String) throws -> InspectorAnswer {
        switch name {
        case "inspector.css": .bytes(Data(Stylesheet.text.utf8), type: "text/css; charset=utf-8", name: nil)
        case "inspector.js": .bytes(Data(Script.text.utf8), type: "text/javascript; charset=utf-8", name: nil)
        default: throw NoSuchPage(what: "The address leads to no page.")
        }
    }

    private func failure(_ error: any Error, _ request: InspectorRequest, _ frame: Frame) -> InspectorAnswer {
        let store = request.path.count > 1 && request.path[0] == "s" ? Int(request.path[1]) : nil
        let known = store.flatMap { stores.indices.contains($0) ? $0 : nil }
        switch error {
        case let error as NoSuchPage:
            return frame.page(
                "Not found", store: known, status: 404, "<h1>Not found</h1><p class=\"lead\">\(error.what)</p>")
        case is NotEditable:
            return frame.page(
                "Read-only", store: known, status: 403,
                """
                <h1>Read-only</h1><p class="lead">Nothing can be changed here. To allow changes, end the inspector and start it with \
                <code>--edit</code>.</p>
                """)
        case let error as PredicateTextError:
            return frame.page(
                "Not understood", store: known, status: 400,
                "<h1>Not understood</h1>\(frame.problem(error))")
        default: break
        }
        let errorClass = (error as? any ClassifiedStoreError)?.errorClass
        let (status, title) =
            switch errorClass {
            case .usage: (error is UnknownEntity ? 404 : 400, "Not possible")
            case .missing: (404, "The store is gone")
            case .damaged: (500, "The store is damaged")
            case .locked: (503, "The store is locked")
            case .busy: (503, "Busy")
            case .denied: (403, "Not allowed")
            case .unsupported: (501, "This kind of store cannot do that")
            case .conflict, .alreadyExists: (409, "In conflict")
            case .invalid: (422, "Not valid")
            case .failedInputOutput, .closed, nil: (500, "Something failed")
            }
        let way: HTML? =
            errorClass == .damaged
            ? """
            <p>Nothing was changed. <code>mortise verify</code> lists every fault, and <code>mortise salvage</code> takes what can be \
            read into a new store.</p>
            """
            : errorClass == .locked ? "<p>Another process has it. Try again when that has ended.</p>" : nil
        return frame.page(
            title, store: known, status: status,
            "<h1>\(title)</h1><p class=\"error\" role=\"alert\">\("\(error)")</p>\(way)")
    }
}

/// A change was asked for that was not allowed when the inspector was started.
struct NotEditable: Error {}
#endif
