/*
 * isolated_call - runs a function in a forked process of its own.
 *
 * It is for libraries that may crash, exit or hang on input that they should have refused. METIS
 * does: it traps signals, jumps out of its own calls and ends the process on some errors. The child
 * sees all memory of the parent as it was at the call, and can return one shared array. Its stdout
 * goes to stderr, because the stdout of a stage is its answer. It dies with its parent, or when the
 * program is asked to stop.
 */
#ifndef STAGES_PARTITION_RULES_ISOLATED_CALL_H
#define STAGES_PARTITION_RULES_ISOLATED_CALL_H

#include "common/base/error.h"

#include <stddef.h>

/* Returns 0, or a status that isolated_call() returns in *status. */
typedef int (*isolated_body)(void *context, void *result);

/* Runs body(context, result) in a child. `result` is `result_bytes` zeroed bytes that both
 * processes see; they are copied to `out` when the body returned 0. *status is what the body
 * returned. Fails: ERROR_INPUT naming `name` and how the child ended, if it did not return from the
 * body; ERROR_NO_MEMORY also when the kernel killed it for want of memory; ERROR_UNAVAILABLE when
 * somebody else killed it, and when asked to stop; ERROR_IO. */
MUST_CHECK enum error_code isolated_call(const char *name, isolated_body body, void *context,
                                         void *out, size_t result_bytes, int *status,
                                         struct error *err);

#endif
