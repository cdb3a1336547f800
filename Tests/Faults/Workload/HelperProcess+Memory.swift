import Foundation

extension HelperProcess {
    /// Whether what a process takes can be told. A sanitizer takes several times as much for itself.
    public static let canMeasure =
        program != nil && FileManager.default.isReadableFile(atPath: "/proc/self/status") && !isSanitized
    /// Whether this run is watched by a sanitizer.
    public static let isSanitized = ProcessInfo.processInfo.environment["MORTISE_SANITIZER"] != nil
    /// Why memory is not measured, where it is not.
    public static let noMeasure =
        "no helper program, no word of memory from the system, or a sanitizer that takes some itself"

    /// What opening a file took at its peak, in bytes, and whether the file was read or refused; nil where the process did
    /// not live to say so.
    /// - Parameter command: `measure` to open it, `read` to read the text of a JSON file alone, `parse` for Foundation's
    ///   reader.
    public static func measure(
        _ path: String, _ command: String = "measure"
    ) throws -> (grown: Int, isRead: Bool, outcome: String)? {
        let helper = try HelperProcess(command, path)
        guard helper.status == 0, !helper.wasKilled, helper.lines.count >= 2,
            let grown = helper.lines.last?.split(separator: " ").last.flatMap({ Int($0) })
        else { return nil }
        return (grown, helper.lines[0] == "read", helper.lines[0])
    }
}
