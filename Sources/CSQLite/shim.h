#include <sqlite3.h>

// Swift cannot call functions with a variable number of arguments.

/// No statement changes the schema's own table or the pages of a file directly, whatever the file holds.
static inline int mortise_sqlite_defend(sqlite3 *connection) {
    return sqlite3_db_config(connection, SQLITE_DBCONFIG_DEFENSIVE, 1, (int *)0);
}

/// Views and triggers that a file brings along call no functions that do more than calculate.
static inline int mortise_sqlite_distrust(sqlite3 *connection) {
    return sqlite3_db_config(connection, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, (int *)0);
}
