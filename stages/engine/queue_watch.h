/*
 * queue_watch - whether anything moves in the queue of a run, and what is done when nothing does.
 *
 * A server may lose any part of a queue: all of it, one stream, one entry, one member of a set; it may be rolled back or
 * throw keys away. None of that shows in the queue itself. So when no unit was completed for two seconds, queue
 * and storage are compared: every unit that storage says is next and that no worker can get or has is queued. Of all
 * who watch one does it, at most once in that time. While units are in hand that take long, the comparisons
 * become rarer, up to half a minute.
 *
 * When nothing moves for longer the log says why, in one line, and again each minute.
 */
#ifndef STAGES_ENGINE_QUEUE_WATCH_H
#define STAGES_ENGINE_QUEUE_WATCH_H

#include "common/base/error.h"
#include "stages/plan/schedule.h"
#include "store/objects/store.h"
#include "store/queue/work_queue.h"

#include <stdint.h>

struct queue_watch {
    const struct schedule *schedule; /* borrowed, like the next two */
    struct store *store;
    const char *run_id;
    int64_t done;       /* units completed, when it was looked at last */
    int64_t moved_ms;   /* when that number was new; 0: never looked */
    int64_t compare_ms; /* not before then */
    int64_t pause_ms;   /* between two comparisons */
    int64_t tell_ms;    /* not before then */
};

/* For whoever has nothing else to do: one look at the queue, and what follows from it. */
MUST_CHECK enum error_code queue_watch_turn(struct queue_watch *watch, struct work_queue *queue,
                                            struct error *err);

/* The run is finished: what Redis holds of it goes within minutes, in which status still shows it. Failing is no failure
 * of the run. */
void queue_watch_retire(struct work_queue *queue);

#endif
