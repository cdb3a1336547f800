extension HelperProcess {
    /// What opening a file took at its peak, in bytes, and whether the file was read or refused; nil where the process did
    /// not live to say so.
    public static func measure(_ path: String) throws -> (grown: Int, isRead: Bool, outcome: String)? {
        let helper = try HelperProcess("measure", path)
        guard helper.status == 0, !helper.wasKilled, helper.lines.count >= 2,
            let grown = helper.lines.last?.split(separator: " ").last.flatMap({ Int($0) })
        else { return nil }
        return (grown, helper.lines[0] == "read", helper.lines[0])
    }
}
