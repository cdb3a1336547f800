public import MortiseCore
import MortiseEngine

extension AppendLogConfiguration: SelfDescribingConfiguration {
    /// Looks through the whole log for the schema that was written last.
    /// - Throws: `FileError`; `AppendLogError` for damage on the way.
    public func storedSchema() throws -> StoredSchema? {
        guard try fileSystem.infoIfPresent(path, followingLinks: true) != nil else {
            if try fileSystem.infoIfPresent(path + LogOpening.checkpointSuffix, followingLinks: true) != nil {
                throw AppendLogError(path: path, fault: .logMissing)
            }
            return nil
        }
        let file = try fileSystem.open(path, mode: .read)
        defer { try? file.close() }
        let size = try file.info().size
        return try AppendLogError.naming(path) {
            let header = try FileHeader(
                try file.readAll(count: Int(min(size, Int64(FileHeader.size))), at: 0), expecting: .log)
            var schema: StoredSchema?
            let reader = FrameReader(file, size: size, seed: header.seed)
            let scan = try reader.scan(from: .first, allowingGapsTo: header.base) { frame in
                if frame.header.kind == .schema { schema = try frame.reading { try $0.schema() } }
                return true
            }
            guard let schema else {
                throw LogFault.damagedFrame(
                    offset: scan.position.offset, sequence: 1, reason: "the schema is not there")
            }
            return schema
        }
    }

    public func readOnly() -> AppendLogConfiguration {
        var copy = AppendLogConfiguration(
            name, schema: schema, path: path, allowsSave: false, durability: durability, history: history,
            newFilePermissions: newFilePermissions, in: givenFileSystem)
        copy.allocationStep = allocationStep
        return copy
    }

    public var location: String { path }

    public var durabilityGrade: DurabilityGrade {
        switch durability {
        case .full: .full
        case .batched(let interval): .interval(interval)
        case .none: .system
        }
    }

    public func storeFiles() throws -> [StoreFile] {
        try [(path, "log"), (path + LogOpening.checkpointSuffix, "checkpoint")].compactMap { path, role in
            try fileSystem.infoIfPresent(path, followingLinks: true).map {
                StoreFile(path: path, role: role, bytes: $0.size)
            }
        }
    }

    /// Of the log alone: a checkpoint changes no record.
    public func changeMark() throws -> String {
        try fileSystem.infoIfPresent(path, followingLinks: true).map { "\($0.identity)" } ?? ""
    }
}

extension AppendLogError: ClassifiedStoreError {
    public var errorClass: StoreErrorClass {
        switch fault {
        case .unwritableValue: .conflict
        case .unstable: .locked
        default: .damaged
        }
    }
}
