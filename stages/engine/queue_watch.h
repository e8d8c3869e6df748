/*
 * queue_watch - checks whether the queue of a run moves, and repairs it if it does not.
 *
 * A server may lose any part of a queue: all of it, one stream, one entry, one member of a set; it
 * may be rolled back or evict keys. None of that shows in the queue itself. So when no unit was
 * completed for two seconds, queue and storage are compared: every unit that is next by storage and
 * that no worker has or can get is queued. Of all watchers one does it, at most once in that time.
 * While units take long, the comparisons become rarer, up to one in half a minute.
 *
 * When nothing moves for longer, the log says why in one line, and again each minute.
 */
#ifndef STAGES_ENGINE_QUEUE_WATCH_H
#define STAGES_ENGINE_QUEUE_WATCH_H

#include "common/base/error.h"
#include "stages/plan/chain/schedule.h"
#include "store/objects/store.h"
#include "store/queue/work_queue.h"

#include <stdint.h>

struct queue_watch {
    const struct schedule *schedule; /* borrowed, like the next two */
    struct store *store;
    const char *run_id;
    int64_t done;       /* number of completed units at the last look */
    int64_t moved_ms;   /* time when that number was new; 0: never looked */
    int64_t compare_ms; /* no comparison before this time */
    int64_t pause_ms;   /* between two comparisons */
    int64_t tell_ms;    /* no log line before this time */
};

/* Looks at the queue once, and does what follows from it. Called by a worker without work. */
MUST_CHECK enum error_code queue_watch_turn(struct queue_watch *watch, struct work_queue *queue,
                                            struct error *err);

/* Retires the queue of a finished run: Redis removes it after some minutes, in which status still
 * shows it. A failure here is no failure of the run. */
void queue_watch_retire(struct work_queue *queue);

#endif
