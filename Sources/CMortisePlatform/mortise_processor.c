#include "mortise_processor.h"

#include <string.h>

#if defined(__x86_64__) && (defined(__clang__) || defined(__GNUC__))

#include <nmmintrin.h>
#define MORTISE_TARGET __attribute__((target("sse4.2")))
#define MORTISE_STEP8(state, word) ((uint32_t)_mm_crc32_u64((state), (word)))
#define MORTISE_STEP1(state, byte) (_mm_crc32_u8((state), (byte)))
static int has_instructions(void) { return __builtin_cpu_supports("sse4.2") ? 1 : 0; }

#elif defined(__aarch64__) && defined(__ARM_FEATURE_CRC32)

// The compiler may use them anywhere, so every processor that the program is for has them.
#include <arm_acle.h>
#define MORTISE_TARGET
#define MORTISE_STEP8(state, word) (__crc32cd((state), (word)))
#define MORTISE_STEP1(state, byte) (__crc32cb((state), (byte)))
static int has_instructions(void) { return 1; }

#elif defined(__aarch64__) && defined(__clang__) && defined(__linux__)

#include <sys/auxv.h>
#define MORTISE_TARGET __attribute__((target("crc")))
#define MORTISE_STEP8(state, word) (__builtin_arm_crc32cd((state), (word)))
#define MORTISE_STEP1(state, byte) (__builtin_arm_crc32cb((state), (byte)))
static int has_instructions(void) { return (getauxval(AT_HWCAP) & (1UL << 7)) != 0; }

#endif

#ifdef MORTISE_TARGET

// One instruction takes three cycles and one can begin in each, so three runs of bytes are summed side by side. The
// first two sums are then moved on over the bytes behind them, as if zeros had followed.
enum { run = 512 };

// What a run of zeros makes of each byte of a state.
static uint32_t moved[4][256];

static uint32_t move_on(uint32_t state) {
    return moved[0][state & 0xFF] ^ moved[1][state >> 8 & 0xFF] ^ moved[2][state >> 16 & 0xFF] ^ moved[3][state >> 24];
}

static uint64_t load(const unsigned char *bytes) {
    uint64_t word;
    memcpy(&word, bytes, sizeof word);
    return word;
}

MORTISE_TARGET
static uint32_t zeros(uint32_t state) {
    for (int step = 0; step < run / 8; step++) state = MORTISE_STEP8(state, 0);
    return state;
}

int mortise_crc32c_prepare(void) {
    if (!has_instructions()) return 0;
    for (uint32_t place = 0; place < 4; place++)
        for (uint32_t byte = 0; byte < 256; byte++) moved[place][byte] = zeros(byte << (8 * place));
    return 1;
}

MORTISE_TARGET
uint32_t mortise_crc32c(uint32_t state, const void *start, size_t count) {
    const unsigned char *bytes = start;
    while (count >= 3 * run) {
        uint32_t second = 0, third = 0;
        for (size_t offset = 0; offset < run; offset += 8) {
            state = MORTISE_STEP8(state, load(bytes + offset));
            second = MORTISE_STEP8(second, load(bytes + run + offset));
            third = MORTISE_STEP8(third, load(bytes + 2 * run + offset));
        }
        state = move_on(move_on(state) ^ second) ^ third;
        bytes += 3 * run;
        count -= 3 * run;
    }
    while (count >= 8) {
        state = MORTISE_STEP8(state, load(bytes));
        bytes += 8;
        count -= 8;
    }
    while (count > 0) {
        state = MORTISE_STEP1(state, *bytes);
        bytes++;
        count--;
    }
    return state;
}

#else

int mortise_crc32c_prepare(void) { return 0; }

uint32_t mortise_crc32c(uint32_t state, const void *bytes, size_t count) {
    (void)bytes;
    (void)count;
    return state;
}

#endif

void mortise_prefetch(const void *start, size_t count) {
    const char *bytes = start;
    for (size_t offset = 0; offset < count; offset += 64) __builtin_prefetch(bytes + offset);
}
