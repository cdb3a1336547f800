#ifndef MORTISE_PROCESSOR_H
#define MORTISE_PROCESSOR_H

#include <stddef.h>
#include <stdint.h>

/// Makes `mortise_crc32c` ready. Call it once, before any other thread may call either.
///
/// Returns 1 where this processor has instructions for CRC32C; otherwise 0, and `mortise_crc32c` must not be called.
int mortise_crc32c_prepare(void);

/// Takes bytes into the state of a CRC32C: the complement of the checksum of what came before.
uint32_t mortise_crc32c(uint32_t state, const void *bytes, size_t count);

/// Asks the processor to fetch memory that will be read soon. Any address will do, also one that nothing is at.
void mortise_prefetch(const void *start, size_t count);

#endif
