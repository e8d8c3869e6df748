/*
 * environment - what the bits of a run depend on beside its inputs and settings.
 *
 * One fact a line, its name first:
 *
 *   graphmill 0.1.0
 *   kernels 2 bf16         KERNELS_VERSION, and the level of vector instructions (common/base/cpu_level.h)
 *   sums 64 16 64 512      the constants of common/nn/layers/partial_sums.h
 *   OpenBLAS 0.3.21 SkylakeX
 *   libxsmm 1.17.0
 *   glibc 2.36             exp() and log() come from it
 *   gcc 12.2.0
 *
 * Of a portable run OpenBLAS's core type is pinned, and the vector instructions are left out: the forms of our own
 * kernels give the same bits (common/base/cpu_level.h), so unlike machines may share it. Other runs keep them apart
 * all the same, as nobody loses by it.
 *
 * The plan of a run has the text. A record's header has no room for it and has a short form: core type and hash.
 */
#ifndef STAGES_PLAN_ENVIRONMENT_H
#define STAGES_PLAN_ENVIRONMENT_H

#include <stdbool.h>

/* Goes up with every change to our own kernels, draws or orders of sums that gives other bits than the release
 * before: a run is not continued across it. */
enum { KERNELS_VERSION = 2 };

enum {
    ENVIRONMENT_TEXT_SIZE = 512,
    ENVIRONMENT_SHORT_SIZE = 41,
    ENVIRONMENT_DIFFERENCE_SIZE = 256
};

/* Of a process in which OpenBLAS multiplies for `core`, for a portable run or another. */
void environment_text(bool portable, const char *core, char text[ENVIRONMENT_TEXT_SIZE]);
/* "SkylakeX 0123456789abcdef" of such a text. */
void environment_short(const char *text, char out[ENVIRONMENT_SHORT_SIZE]);
/* For people: "OpenBLAS 0.3.21 SkylakeX, here OpenBLAS 0.3.21 Haswell; gcc 12.2.0, here gcc 13.1.0". False, and
 * "", when both are equal. */
bool environment_difference(const char *theirs, const char *here,
                            char out[ENVIRONMENT_DIFFERENCE_SIZE]);

#endif
