import MortiseAppendLog
import MortiseCommands
import MortiseCore
import MortiseInMemory
import MortiseJSONFile

MortiseTool(registry: StoreRegistry(.memory, .json, .log)).run()
