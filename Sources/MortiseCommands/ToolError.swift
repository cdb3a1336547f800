public import MortiseCore

/// What the tool itself has to say no to.
public enum ToolError: Error, Hashable, Sendable {
    /// There is no store.
    case missing(store: String)
    /// The store's kind cannot do this.
    case unsupported(store: String, what: String)
    /// The target of a copy holds records, and nobody said what to do about them.
    case holdsRecords(store: String, count: Int)
    /// Both ends of a copy are the same store.
    case sameStore(String)
    /// The stores have other schemas.
    case otherSchema(store: String, other: String, differences: [String])
    /// The target of a copy to be resumed holds something else than the beginning of the source.
    case notABeginning(store: String, detail: String)
    /// A copy ended and is not the same as its source.
    case unequalCopy(detail: String)
    /// The user ended it.
    case interrupted(String)
    /// An argument makes no sense.
    case usage(String)
    /// What was printed did not get where it should.
    case output(code: Int32)
    /// The standard error tells already what is wrong; only the status is left.
    case findings(StoreErrorClass)
}

extension ToolError: CustomStringConvertible, ClassifiedStoreError {
    public var description: String {
        switch self {
        case .missing(let store): "there is no store at \(store); check the path"
        case .unsupported(let store, let what): "\(store) is of a kind that cannot \(what)"
        case .holdsRecords(let store, let count):
            "\(store) holds \(count) records already and was left alone; pass --resume to go on with a copy that was "
                + "interrupted, or --replace to remove them first"
        case .sameStore(let store): "\(store) is both source and target"
        case .otherSchema(let store, let other, let differences):
            "\(store) has another schema than \(other): " + differences.prefix(3).joined(separator: "; ")
                + (differences.count > 3 ? "; and \(differences.count - 3) more" : "")
                + "; give a path that is not there yet"
        case .notABeginning(let store, let detail):
            "\(store) does not hold the beginning of the source: \(detail); pass --replace to remove what it holds first"
        case .unequalCopy(let detail): "the copy is not equal to its source: \(detail)"
        case .interrupted(let what): what
        case .usage(let message): message
        case .output(let code): "the output cannot be written (error \(code))"
        case .findings: ""
        }
    }

    public var errorClass: StoreErrorClass {
        switch self {
        case .missing: .missing
        case .unsupported: .unsupported
        case .holdsRecords: .alreadyExists
        case .sameStore, .usage: .usage
        case .otherSchema, .notABeginning, .unequalCopy, .interrupted: .conflict
        case .output: .failedInputOutput
        case .findings(let errorClass): errorClass
        }
    }
}
