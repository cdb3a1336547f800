// What models and contexts need, without any store: for an app that chooses its stores one by one.
@_exported public import MortiseCore
