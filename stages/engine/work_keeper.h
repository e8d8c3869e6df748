/*
 * work_keeper - the second thread of a worker: keeps the lease of its unit and tells that it lives.
 *
 * It has its own connection to Redis. Every third of a lease it renews the lease of the unit that its
 * worker has in hand and writes the heartbeat. Redis may come and go: it tries again at the next turn.
 */
#ifndef STAGES_ENGINE_WORK_KEEPER_H
#define STAGES_ENGINE_WORK_KEEPER_H

#include "common/base/error.h"
#include "store/queue/work_queue.h"

struct work_keeper;

/* `config` is borrowed until work_keeper_free(). */
MUST_CHECK enum error_code work_keeper_new(const struct work_queue_config *config,
                                           struct work_keeper **out, struct error *err);
/* Stops and joins the thread; NULL is fine. */
void work_keeper_free(struct work_keeper *keeper);

/* From now on this unit is in hand. The lease of a copy is not renewed: it is another worker's. */
void work_keeper_begin(struct work_keeper *keeper, const struct work_claim *claim);
/* It is not any more. */
void work_keeper_end(struct work_keeper *keeper, bool done);
/* What keeps the worker from working, shown in its heartbeat; "" again when nothing does. */
void work_keeper_note(struct work_keeper *keeper, const char *note);

#endif
