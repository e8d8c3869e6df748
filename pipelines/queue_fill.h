/*
 * queue_fill - the queue of a run as the driver sees it: opened, filled, watched.
 *
 * Any worker that finds the queue lost fills it with what storage says is left to do. The driver does it first, so
 * that no worker has to find out.
 *
 * Keys of a queue carry the identity of the store, so two stores on one Redis do not touch each other. A copy of a
 * store (cp -a) has the identity of its original: a driver leaves its mark on the queue, and one that finds the
 * mark of another, while it holds the lock of its own folder, knows that it works on a copy. It then gives its
 * store an identity of its own. Safety does not depend on it; two runs on one queue would only be slow.
 */
#ifndef PIPELINES_QUEUE_FILL_H
#define PIPELINES_QUEUE_FILL_H

#include "pipelines/run_folder.h"
#include "stages/engine/queue_watch.h"
#include "store/queue/work_queue.h"

/* The queue of the folder's run. Owns: *out; close with work_queue_close(). */
MUST_CHECK enum error_code queue_open(const struct run_folder *folder, const char *url,
                                      const char *password_file, const char *name,
                                      struct work_queue **out, struct error *err);
/* The same for a driver, which holds the folder's lock: sees to it that no other driver works on that queue. */
MUST_CHECK enum error_code queue_open_own(const struct run_folder *folder, const char *url,
                                          const char *password_file, const char *name,
                                          struct work_queue **out, struct error *err);
MUST_CHECK enum error_code queue_fill(const struct run_folder *folder, struct work_queue *queue,
                                      struct error *err);

/* What a driver does about its queue while the workers work. */
struct queue_guard { /* {.folder, .queue} */
    const struct run_folder *folder;
    struct work_queue *queue;
    struct queue_watch watch;
    int64_t look_ms;   /* not before then */
    int64_t failed_ms; /* since when Redis does not answer; 0: it does */
    int64_t tell_ms;
};

/* Call it often: once a second it renews the driver's mark and looks whether anything moves. What is wrong is said in
 * the log; the workers deal with it as well, so that nothing here is an error. */
void queue_guard_turn(struct queue_guard *guard);

#endif
