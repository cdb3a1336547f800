import Foundation
import MortiseCore
import MortiseEngine

/// All that is wrong with the files of a store.
public struct AppendLogVerification: Sendable {
    public var problems: [AppendLogError] = []
    /// Transactions that can be read.
    public var transactions = 0
    /// Records after the last of them.
    public var records = 0
    /// Bytes behind the last whole frame that were never acknowledged.
    public var tornBytes: Int64 = 0

    public var isSound: Bool { problems.isEmpty }
}

extension AppendLogStore {
    /// Reads every byte of a log and its checkpoint, and lists what is wrong. Changes nothing and takes no lock.
    ///
    /// Of a sound store it holds what opening it holds, and the checkpoint. Where it finds damage it holds the records row
    /// by row besides, which takes more.
    /// - Throws: `FileError` where the log cannot be read at all.
    public static func verify(
        _ path: String, in fileSystem: any FileSystem = POSIXFileSystem()
    ) throws -> AppendLogVerification {
        let fault: any Error
        do {
            let sound = try SoundReading(path, in: fileSystem)
            return AppendLogVerification(
                transactions: sound.transactions, records: sound.records, tornBytes: sound.tornBytes)
        } catch {
            fault = error
        }
        var survey = LogSurvey(path: path, fileSystem: fileSystem)
        try survey.run()
        // What makes opening fail is a problem, also where everything can be read nevertheless.
        if survey.problems.isEmpty { survey.note(fault) }
        return AppendLogVerification(
            problems: survey.problems, transactions: survey.transactions, records: survey.tables?.count ?? 0,
            tornBytes: survey.tornBytes)
    }
}
