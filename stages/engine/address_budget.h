/*
 * address_budget - how much a program may use where the addresses of a process are limited (ulimit
 * -v).
 *
 * OpenBLAS allocates a buffer of 128 MiB for each thread that computes a product, and if that is
 * refused it asks again for ever. So threads whose buffers would not fit are not started, and a
 * program with room for less than one buffer is refused. Code, queues and mapped files take
 * addresses, too, so the budget is half of what is left. Neither changes a record.
 */
#ifndef STAGES_ENGINE_ADDRESS_BUDGET_H
#define STAGES_ENGINE_ADDRESS_BUDGET_H

#include "common/base/error.h"

#include <stdbool.h>
#include <stdint.h>

/* Must be called before the program has threads: if few addresses are left, the C library would
 * take 64 MiB of them for each thread. */
void address_budget_begin(void);
/* Lowers *threads and *memory_bytes to what fits into `left` bytes of addresses (UINT64_MAX: no
 * limit). `multiplies`: the threads compute products. Fails: ERROR_NO_MEMORY naming what is
 * needed. */
MUST_CHECK enum error_code address_budget_fit(uint64_t left, bool multiplies, int *threads,
                                              uint64_t *memory_bytes, struct error *err);

#endif
