/*
 * environment - everything that the bits of a run depend on except its inputs and settings.
 *
 * It is a text with one fact a line, which begins with the name of the fact:
 *
 *   graphmill 0.1.0
 *   kernels 2 bf16         KERNELS_VERSION, and the level of vector instructions
 *                          (common/numbers/cpu_level.h)
 *   sums 64 16 64 512      the constants of common/nn/operators/partial_sums.h
 *   OpenBLAS 0.3.21 SkylakeX
 *   libxsmm 1.17.0
 *   glibc 2.36             exp() and log() come from it
 *   gcc 12.2.0
 *
 * A portable run pins OpenBLAS's core type and leaves the vector instructions out: our own kernels
 * give the same bits at every level (common/numbers/cpu_level.h), so unlike machines may share the
 * run. Other runs tell the levels apart, although they need not: nobody loses by it.
 *
 * The plan of a run has the text. A record's header has no room for it and has a short form: core
 * type and hash.
 */
#ifndef STAGES_PLAN_RUN_ENVIRONMENT_H
#define STAGES_PLAN_RUN_ENVIRONMENT_H

#include <stdbool.h>

/* Must be raised with every change to our own kernels, draws or orders of sums that gives other
 * bits than the release before: a run is not continued across it. */
enum { KERNELS_VERSION = 2 };

enum {
    ENVIRONMENT_TEXT_SIZE = 512,
    ENVIRONMENT_SHORT_SIZE = 41,
    ENVIRONMENT_DIFFERENCE_SIZE = 256
};

/* Writes the text of a process in which OpenBLAS multiplies for `core`. */
void environment_text(bool portable, const char *core, char text[ENVIRONMENT_TEXT_SIZE]);
/* Writes the short form of such a text: "SkylakeX 0123456789abcdef". */
void environment_short(const char *text, char out[ENVIRONMENT_SHORT_SIZE]);
/* Writes the differences for people: "OpenBLAS 0.3.21 SkylakeX, here OpenBLAS 0.3.21 Haswell; gcc
 * 12.2.0, here gcc 13.1.0". Returns false, and writes "", if both are equal. */
bool environment_difference(const char *theirs, const char *here,
                            char out[ENVIRONMENT_DIFFERENCE_SIZE]);

#endif
