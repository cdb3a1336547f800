#if defined(__linux__) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE
#endif

#include "mortise_files.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

static int extent_with_times(int descriptor, const char *path, int follows_links, struct mortise_extent *extent) {
    struct stat status;
    int result = path == 0 ? fstat(descriptor, &status) : follows_links ? stat(path, &status) : lstat(path, &status);
    if (result != 0) return errno;
    extent->device = (uint64_t)status.st_dev;
    extent->inode = (uint64_t)status.st_ino;
    extent->size = (int64_t)status.st_size;
    return 0;
}

int mortise_file_extent(int descriptor, const char *path, int follows_links, struct mortise_extent *extent) {
#if defined(__linux__) && defined(STATX_SIZE)
    struct statx status;
    int flags = path == 0 ? AT_EMPTY_PATH : follows_links ? 0 : AT_SYMLINK_NOFOLLOW;
    if (statx(path == 0 ? descriptor : AT_FDCWD, path == 0 ? "" : path, flags, STATX_INO | STATX_SIZE, &status) == 0) {
        if ((status.stx_mask & (STATX_INO | STATX_SIZE)) == (STATX_INO | STATX_SIZE)) {
            // As glibc's makedev, so that it equals what stat says.
            uint64_t major = status.stx_dev_major, minor = status.stx_dev_minor;
            extent->device = (minor & 0xff) | (major & 0xfff) << 8 | (minor & ~0xffULL) << 12 | (major & ~0xfffULL) << 32;
            extent->inode = status.stx_ino;
            extent->size = (int64_t)status.stx_size;
            return 0;
        }
    } else if (errno != ENOSYS && errno != EPERM && errno != EINVAL) {
        return errno;
    }
    // An old kernel, or one that is kept from it.
#endif
    return extent_with_times(descriptor, path, follows_links, extent);
}

int mortise_start_writing(int descriptor, int64_t start, int64_t count) {
#if defined(__linux__) && defined(SYNC_FILE_RANGE_WRITE)
    if (sync_file_range(descriptor, start, count, SYNC_FILE_RANGE_WRITE) != 0) {
        switch (errno) {
        // Not done: the system cannot or may not, or had no memory, and everything is as it was.
        case ENOSYS:
        case EPERM:
        case EINVAL:
        case ESPIPE:
        case EOPNOTSUPP:
        case ENOMEM:
            return 0;
        // Some file systems report here, and nowhere else, that they have given up what was written.
        default:
            return errno;
        }
    }
#endif
    return 0;
}
