@_exported public import MortiseCore
