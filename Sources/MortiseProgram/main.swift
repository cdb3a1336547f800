#if Tool
import MortiseAppendLog
import MortiseCommands
import MortiseConfiguration
import MortiseCore
import MortiseInMemory
import MortiseJSONFile
#if PostgreSQL
import MortisePostgreSQL
#endif
#if SQLite
import MortiseSQLite
#endif

var registry = StoreRegistry(.memory, .json, .log)
#if SQLite
registry.register(.sqlite)
#endif
#if PostgreSQL
registry.register(.postgres)
#endif
let stores = registry
let settings = ToolSettings { name in try StoreSettings.standard(arguments: []).url(named: name, registry: stores) }
MortiseTool(registry: stores, settings: settings, version: "mortise 1.0.0-rc.1").run()
#else
import MissingTrait

endForMissingTrait("Tool", program: "mortise")
#endif
