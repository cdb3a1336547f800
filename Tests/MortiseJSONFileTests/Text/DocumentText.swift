import MortiseCore
import MortiseJSONFile
import Testing

/// A document written by hand, without a seal: the entities from line 6 on. A `§` marks where
/// an error is expected.
struct DocumentText {
    let text: String
    let position: TextPosition

    init(_ entities: String, _ records: String, next: String = "100", store: String = "\"S\"", after: String = "") {
        let marked = MarkedText(
            """
            {
              "format": "mortise-json",
              "formatVersion": 1,
              "store": \(store),
              "schema": {"version": "1.0.0", "entities": [
            \(entities)
              ]},
              "nextSequence": \(next),
              "records": {
            \(records)
              }\(after)
            }
            """)
        text = marked.text
        position = marked.position
    }
}

extension StoreDocumentError {
    /// The error of reading a text, edits accepted.
    static func reading(_ text: String, integrity: JSONFileIntegrity = .acceptEdits) -> StoreDocumentError? {
        #expect(throws: StoreDocumentError.self) { try read(Array(text.utf8), integrity: integrity) }
    }
}
