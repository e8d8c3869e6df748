/*
 * work_keeper - the second thread of a worker, which renews the lease of its unit and shows that
 * the worker lives.
 *
 * It has its own connection to Redis. Every third of a lease it renews the lease of the worker's
 * present unit and writes the heartbeat. If Redis does not answer, it tries again at the next turn.
 */
#ifndef STAGES_ENGINE_WORK_KEEPER_H
#define STAGES_ENGINE_WORK_KEEPER_H

#include "common/base/error.h"
#include "store/queue/work_queue.h"

struct work_keeper;

/* Starts the thread. `config` is borrowed until work_keeper_free(). */
MUST_CHECK enum error_code work_keeper_new(const struct work_queue_config *config,
                                           struct work_keeper **out, struct error *err);
/* Stops and joins the thread; NULL is fine. */
void work_keeper_free(struct work_keeper *keeper);

/* Makes `claim` the present unit. The lease of a copy is not renewed: it belongs to another
 * worker. */
void work_keeper_begin(struct work_keeper *keeper, const struct work_claim *claim);
/* Ends the present unit. */
void work_keeper_end(struct work_keeper *keeper, bool done);
/* Sets what keeps the worker from working, shown in its heartbeat; "" when it works again. */
void work_keeper_note(struct work_keeper *keeper, const char *note);

#endif
