#ifndef MORTISE_FILES_H
#define MORTISE_FILES_H

#include <stdint.h>

struct mortise_extent {
    uint64_t device;
    uint64_t inode;
    int64_t size;
};

/// Finds out which file is at a path, or which an open file is where `path` is null, and how long it is; times are not asked
/// for where the system allows that. A descriptor is not looked at where there is a path.
///
/// Returns 0, or the value of `errno`.
int mortise_file_extent(int descriptor, const char *path, int follows_links, struct mortise_extent *extent);

/// Has the system begin to write what was changed in a part of a file, and does not wait for it.
///
/// Returns 0, also where the system cannot; otherwise the value of `errno`, and what is on the disk is not known.
int mortise_start_writing(int descriptor, int64_t start, int64_t count);

#endif
