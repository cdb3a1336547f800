@_exported public import MortiseAppendLog
@_exported public import MortiseCore
@_exported public import MortiseInMemory
@_exported public import MortiseJSONFile
