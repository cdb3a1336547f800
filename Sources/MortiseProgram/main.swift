#if Tool
import MortiseAppendLog
import MortiseCommands
import MortiseConfiguration
import MortiseCore
import MortiseInMemory
import MortiseJSONFile

let registry = StoreRegistry(.memory, .json, .log)
let settings = ToolSettings { name in try StoreSettings.standard(arguments: []).url(named: name, registry: registry) }
MortiseTool(registry: registry, settings: settings, version: "mortise 0.1.0-dev").run()
#else
import MissingTrait

endForMissingTrait("Tool", program: "mortise")
#endif
