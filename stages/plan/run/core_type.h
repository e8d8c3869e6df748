/*
 * core_type - the processor type whose kernels the BLAS multiplies with; fixed before any product.
 *
 * OpenBLAS picks a type by the instructions that the processor has, which is not always the fastest
 * type. Zen 4 has AVX-512, but takes two cycles for each 512-bit instruction, and is 5 to 6 %
 * faster with the AVX2 kernels of the type Haswell; Zen 5 takes one cycle, and is half as fast with
 * them (tests/bench/README.md). So a rule says which type is better, where that was measured.
 *
 * The rule depends on the processor, not on a measurement at start, because bits depend on the type
 * and must be the same on the same kind of machine. OPENBLAS_CORETYPE overrides the rule; if it is
 * set but empty, OpenBLAS picks. `portable: true` overrides both.
 *
 * OpenBLAS reads the variable when it is loaded, so a program has to start itself again with it.
 * Its children inherit the variable and need not.
 */
#ifndef STAGES_PLAN_RUN_CORE_TYPE_H
#define STAGES_PLAN_RUN_CORE_TYPE_H

#include "common/numbers/cpu_level.h"

#include <stdint.h>

struct processor {
    char vendor[13];      /* "AuthenticAMD" */
    uint32_t family;      /* 25 is Zen 3 and Zen 4, 26 Zen 5 */
    enum cpu_level level; /* the highest that it has, whatever was chosen */
};

/* Returns the processor of this machine; all zero if it is not an x86. */
struct processor processor_of_host(void);
/* Returns the type to use instead of OpenBLAS's pick, or NULL to keep that pick. *why: one clause,
 * for people. */
const char *core_type_rule(const struct processor *processor, const char **why);
/* The type that `portable: true` pins: with it every processor with AVX2 gives the same bits. */
extern const char core_type_portable[];

/* Starts the program again if the rule wants another type than the one that OpenBLAS loaded, or if
 * OpenBLAS has threads of its own: a product here uses one thread, the others only spin, and where
 * memory is short they keep the program from ending. Returns when nothing is left to change. A
 * program that multiplies, or prints what a run's products depend on, calls it first. */
void core_type_settle(char **argv);
/* Does the same before libraries run code of their own. That costs less, and OpenBLAS cannot
 * fail for want of memory for its threads. `environment` is the program's own: in no order, up
 * to NULL. */
void core_type_settle_early(char **argv, char **environment);
/* Does the same for a portable run. */
void core_type_settle_portable(char **argv);

#endif
