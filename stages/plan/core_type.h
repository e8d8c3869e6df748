/*
 * core_type - the processor type whose kernels the BLAS multiplies with, settled before any product.
 *
 * OpenBLAS picks a type by the instructions that the processor has. That is not always the fastest: Zen 4
 * has AVX-512, takes two turns for each 512-bit instruction, and is 5 to 6 % faster with the AVX2 kernels of
 * the type Haswell; Zen 5 takes one turn, and is half as fast with them (tests/bench/README.md). So a rule says
 * which type is better where that was measured.
 *
 * It is a rule about the processor, not a measurement at start, because bits depend on the type and must be
 * the same on the same kind of machine. Whoever sets OPENBLAS_CORETYPE has the last word; set but empty, it
 * leaves the pick to OpenBLAS. `portable: true` goes before both.
 *
 * OpenBLAS reads the variable when it is loaded, so a program starts itself again with it. Its children
 * inherit it and do not.
 */
#ifndef STAGES_PLAN_CORE_TYPE_H
#define STAGES_PLAN_CORE_TYPE_H

#include "common/base/cpu_level.h"

#include <stdint.h>

struct processor {
    char vendor[13];      /* "AuthenticAMD" */
    uint32_t family;      /* 25 is Zen 3 and Zen 4, 26 Zen 5 */
    enum cpu_level level; /* the highest that it has, whatever was chosen */
};

/* The processor that we run on; all zero where it is no x86. */
struct processor processor_of_host(void);
/* The type to take instead of OpenBLAS's pick, or NULL: its pick stays. *why: one clause, for people. */
const char *core_type_rule(const struct processor *processor, const char **why);
/* The type that `portable: true` pins: every processor with AVX2 gives the same bits with it. */
extern const char core_type_portable[];

/* First thing of a program that multiplies, or that says what a run's products depend on: starts it again
 * when the rule wants another type than OpenBLAS loaded, or when OpenBLAS has threads of its own: a product has one
 * here, the others only spin, and where memory is short they keep the program from ending. Returns when all is as it
 * should be. */
void core_type_settle(char **argv);
/* The same before libraries run code of their own, where it costs less and OpenBLAS has no chance to fail for want of
 * memory for its threads. `environment` is that of the program, in no order, up to NULL. */
void core_type_settle_early(char **argv, char **environment);
/* The same for a run that is portable. */
void core_type_settle_portable(char **argv);

#endif
