#if Tool
import Foundation
public import MortiseCore

/// A request that the tool itself refuses.
public enum ToolError: Error, Hashable, Sendable {
    /// The store does not exist.
    case missing(store: String)
    /// The store's kind cannot do this.
    case unsupported(store: String, what: String)
    /// The target of a copy holds records, and neither --resume nor --replace was given.
    case holdsRecords(store: String, count: Int)
    /// There is a store where a backup was to be put, and --replace was not given.
    case notReplaced(store: String)
    /// The folder of a new package exists already.
    case alreadyThere(path: String)
    /// Both ends of a copy are the same store.
    case sameStore(String)
    /// The stores have different schemas.
    case otherSchema(store: String, other: String, differences: [String])
    /// The target of a resumed copy holds something other than the beginning of the source.
    case notABeginning(store: String, detail: String)
    /// A copy completed, but differs from its source.
    case unequalCopy(detail: String)
    /// A record that was found is gone: another program has deleted it while the store was read.
    case changedMeanwhile(record: String)
    /// What a store's history no longer has is needed: transactions up to this one.
    case historyGone(store: String, upTo: UInt64)
    /// Somebody else has saved since the changes were shown, and they would be others now.
    case changedSinceShown(store: String)
    /// The user interrupted the tool; the text says what was completed.
    case interrupted(String)
    /// An argument is not valid.
    case usage(String)
    /// What was given as a schema cannot be read as one.
    case notASchema(source: String, detail: String)
    /// There is no schema where one was named.
    case missingSchema(source: String, detail: String)
    /// A model of another framework has what no schema here can have.
    case notImportable(source: String, faults: [String])
    /// Something may have been renamed or dropped, and nobody said which. The questions have been printed.
    case unansweredQuestions([String])
    /// A file cannot be read.
    case unreadableFile(path: String, reason: String)
    /// A file that the tool writes beside another cannot be written.
    case unwritableFile(path: String, reason: String)
    /// Some lines of a file are no records; the others were imported.
    case rejectedLines(count: Int, of: Int, path: String)
    /// Records of a file were imported without some relationships, as the file does not have the records that they lead to.
    case leftOutReferences(count: Int)
    /// There is a file where an import was to keep the lines that it rejects.
    case rejectedFileExists(path: String)
    /// An import of the file was interrupted.
    case unfinishedImport(path: String)
    /// An import cannot go on where it was interrupted.
    case notResumable(store: String, detail: String)
    /// The output could not be written; `code` is the system's error number.
    case output(code: Int32)
    /// The findings have been printed already; only the exit status follows from them.
    case findings(StoreErrorClass)
}

extension ToolError: CustomStringConvertible, ClassifiedStoreError {
    /// What went wrong and the way out, in one line.
    public var description: String {
        switch self {
        case .missing(let store): "there is no store at \(store); check the path"
        case .unsupported(let store, let what):
            "\(store) cannot \(what): its kind of store does not support that"
        case .holdsRecords(let store, let count):
            "\(store) already holds \(count) records and was not changed; pass --resume to continue an "
                + "interrupted copy, "
                + "or --replace to remove them first"
        case .notReplaced(let store):
            "there is a store at \(store), which was not changed; pass --replace to put the backup in its place and lose "
                + "what was saved since"
        case .alreadyThere(let path): "\(path) exists already and was not changed; take another name or folder"
        case .sameStore(let store): "\(store) is both source and target"
        case .otherSchema(let store, let other, let differences):
            "\(store) has a different schema from \(other): " + differences.prefix(3).joined(separator: "; ")
                + (differences.count > 3 ? "; and \(differences.count - 3) more" : "")
                + "; give a path where no store exists"
        case .notABeginning(let store, let detail):
            "\(store) does not hold the beginning of the source: \(detail); pass --replace to remove its "
                + "records first"
        case .unequalCopy(let detail): "the copy differs from its source: \(detail)"
        case .changedMeanwhile(let record):
            "another program deleted \(record) while the store was read; run the command again"
        case .historyGone(let store, let number):
            "transactions up to \(number) are gone from the history of \(store), so what began before cannot be told as one "
                + "change; begin with --from \(number), or leave out --net to see what is left"
        case .changedSinceShown(let store):
            "another program has saved to \(store) meanwhile, and the changes would now be those that were shown last; "
                + "nothing was changed: run the command again"
        case .interrupted(let what): what
        case .usage(let message): message
        case .notASchema(let source, let detail): "\(source) is not a schema: \(detail)"
        case .missingSchema(let source, let detail): "no schema was found at \(source): \(detail)"
        case .notImportable(let source, let faults):
            "\(source) cannot be taken over: " + faults.prefix(5).joined(separator: "; ")
                + (faults.count > 5 ? "; and \(faults.count - 5) more" : "")
        case .unansweredQuestions(let renames):
            "what may have been renamed has to be said: pass --rename or --drop for each, or --answers with a file; "
                + "the first: --rename \((renames.first ?? "").shown(limit: 200))"
        case .unreadableFile(let path, let reason): "cannot read \(path): \(reason)"
        case .unwritableFile(let path, let reason): "cannot write \(path): \(reason)"
        case .rejectedLines(let count, let total, let path):
            "\(FigureText.count(count)) of \(FigureText.plural(total, "record")) \(count == 1 ? "was" : "were") rejected; "
                + (count == 1 ? "it is" : "they are") + " in \(path): correct \(count == 1 ? "it" : "them") there, and "
                + "import that file"
        case .leftOutReferences(let count):
            "\(FigureText.plural(count, "reference")) \(count == 1 ? "was" : "were") left out, as the file has no record with "
                + "the number; the records were imported without"
        case .rejectedFileExists(let path):
            "\(path) exists already and was not changed; import what it holds and remove it, or name another file with "
                + "--rejected"
        case .unfinishedImport(let path):
            "an import was interrupted, as \(path) says; pass --resume to go on, or remove that file to begin anew"
        case .notResumable(let store, let detail):
            "the import into \(store) cannot go on: \(detail)"
        case .output(let code): "the output cannot be written: \(String(cString: strerror(code)))"
        case .findings: ""
        }
    }

    /// The class of the error, which decides the exit status.
    public var errorClass: StoreErrorClass {
        switch self {
        case .missing, .missingSchema, .unreadableFile: .missing
        case .notASchema: .damaged
        case .unsupported, .notImportable: .unsupported
        case .holdsRecords, .alreadyThere, .notReplaced: .alreadyExists
        case .sameStore, .usage, .unansweredQuestions: .usage
        case .otherSchema, .notABeginning, .unequalCopy, .changedMeanwhile, .interrupted, .notResumable, .historyGone,
            .changedSinceShown:
            .conflict
        case .rejectedLines, .leftOutReferences: .invalid
        case .unfinishedImport, .rejectedFileExists: .alreadyExists
        case .output, .unwritableFile: .failedInputOutput
        case .findings(let errorClass): errorClass
        }
    }
}
#endif
