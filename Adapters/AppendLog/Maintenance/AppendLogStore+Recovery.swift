import MortiseCore

extension AppendLogStore {
    /// What opening had to repair, in words; nil if nothing.
    public var recoveryDescription: String? {
        guard let recovery else { return nil }
        var parts: [String] = []
        if let offset = recovery.tornAt {
            parts.append("\(recovery.droppedBytes) bytes from offset \(offset) were never acknowledged")
            if let path = recovery.keptAside { parts.append("they are kept in \(path)") }
        }
        if let fault = recovery.ignoredCheckpoint { parts.append("the checkpoint was ignored: \(fault)") }
        return parts.isEmpty ? nil : parts.joined(separator: "; ")
    }
}
