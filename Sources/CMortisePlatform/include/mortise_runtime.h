#ifndef MORTISE_RUNTIME_H
#define MORTISE_RUNTIME_H

/// Adds a reference to an object of Swift's whose memory is still there.
///
/// Returns the object, or null where its last release has begun; nothing was added then.
void *mortise_retain_if_alive(void *object);

#endif
