#include "mortise_runtime.h"

// A function of the run-time's stable binary interface, which Swift code cannot name.
extern void *swift_tryRetain(void *object);

void *mortise_retain_if_alive(void *object) { return swift_tryRetain(object); }
