/*
 * queue_fill - the driver's side of the queue of a run: it opens, fills and watches the queue.
 *
 * Any worker that finds the queue lost fills it with the work that is left according to storage.
 * The driver does so first, so that no worker has to.
 *
 * The keys of a queue contain the identity of the store, so two stores on one Redis do not
 * conflict. A copy of a store (cp -a) has the same identity as its original. Therefore a driver
 * leaves its mark on the queue: a driver that holds the lock of its own folder and finds the mark
 * of another driver knows that its folder is a copy, and gives its store a new identity. Safety
 * does not depend on this; two runs on one queue would only be slow.
 */
#ifndef PIPELINES_RUN_QUEUE_FILL_H
#define PIPELINES_RUN_QUEUE_FILL_H

#include "pipelines/shared/run_folder.h"
#include "stages/engine/queue_watch.h"
#include "store/queue/work_queue.h"

/* Opens the queue of the folder's run. Owns: *out; close with work_queue_close(). */
MUST_CHECK enum error_code queue_open(const struct run_folder *folder, const char *url,
                                      const char *password_file, const char *name,
                                      struct work_queue **out, struct error *err);
/* Does the same for a driver, which holds the folder's lock, and makes sure that no other driver
 * works on that queue. */
MUST_CHECK enum error_code queue_open_own(const struct run_folder *folder, const char *url,
                                          const char *password_file, const char *name,
                                          struct work_queue **out, struct error *err);
MUST_CHECK enum error_code queue_fill(const struct run_folder *folder, struct work_queue *queue,
                                      struct error *err);

/* The state of a driver's watch over its queue while the workers work. */
struct queue_guard { /* {.folder, .queue} */
    const struct run_folder *folder;
    struct work_queue *queue;
    struct queue_watch watch;
    int64_t look_ms;   /* the next look is not before this time */
    int64_t failed_ms; /* time since which Redis does not answer; 0: it answers */
    int64_t tell_ms;
};

/* Renews the driver's mark and checks once a second that the run makes progress. Call it often.
 * Problems are only logged, because the workers deal with them as well. */
void queue_guard_turn(struct queue_guard *guard);

#endif
