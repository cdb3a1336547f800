@_exported public import MortiseAppendLog
@_exported public import MortiseCore
// What fetching, saving, opening and closing the stores can throw; not the engine itself.
@_exported public import enum MortiseEngine.EngineError
@_exported public import struct MortiseEngine.ExternalValueError
@_exported public import struct MortiseEngine.FileError
@_exported public import enum MortiseEngine.StoredSchemaFault
@_exported public import MortiseInMemory
@_exported public import MortiseJSONFile
@_exported public import MortiseModels
#if PostgreSQL
@_exported public import struct MortisePostgreSQL.PostgreSQLError
#endif
#if SQLite
@_exported public import struct MortiseSQLite.SQLiteError
#endif
