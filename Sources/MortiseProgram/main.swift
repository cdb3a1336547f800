#if Tool
import MortiseAppendLog
import MortiseCommands
import MortiseConfiguration
import MortiseCore
import MortiseInMemory
#if Inspector
import MortiseInspector
#endif
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
#if Inspector
let server: ToolServer? = .inspector
#else
let server: ToolServer? = nil
#endif
MortiseTool(registry: stores, settings: settings, version: "mortise 1.0.0-rc.1", server: server).run()
#else
import MissingTrait

endForMissingTrait("Tool", program: "mortise")
#endif
