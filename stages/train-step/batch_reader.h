/*
 * batch_reader - a thread that prepares the mini-batch of the next unit while the step computes
 * the current one.
 *
 * The stage guesses from the schedule which mini-batch its next unit has. A wrong guess, a record
 * that does not exist yet, or any other failure costs time only: the step then prepares the batch
 * itself, and reports the failure if it happens again. The thread reads, checks and aggregates
 * with the same code as the step, and writes nothing.
 */
#ifndef STAGES_TRAIN_STEP_BATCH_READER_H
#define STAGES_TRAIN_STEP_BATCH_READER_H

#include "common/base/error.h"
#include "stages/train-step/prepared_batch.h"

#include <stdbool.h>

struct batch_reader;

/* Starts the thread. `preparer` is borrowed, and only the thread uses it while it reads: see
 * batch_reader_settle(). */
MUST_CHECK enum error_code batch_reader_new(struct batch_preparer *preparer,
                                            struct batch_reader **out, struct error *err);
/* Stops and joins the thread; NULL is fine. */
void batch_reader_free(struct batch_reader *reader);

/* Begins to prepare the batch `key`. Without `with_rows` the thread reads the record only. A
 * batch that was read ahead and not taken is discarded. */
void batch_reader_begin(struct batch_reader *reader, const struct key *key, bool with_rows);
/* Waits for the batch `key` if the thread prepares it, and moves it into *out, with or without
 * rows. The old content of *out is discarded, and its area is reused for the next batch. Returns
 * false if the batch was not read ahead; if the thread prepares another batch, it gives that one
 * up. The thread is at rest afterwards. */
bool batch_reader_take(struct batch_reader *reader, const struct key *key,
                       struct prepared_batch *out);
/* Returns whether the thread prepares that batch, or has prepared it and nobody has taken it. */
bool batch_reader_has(const struct batch_reader *reader, const struct key *key);
/* Waits until the thread is at rest. Returns what it has read ahead, which may still be taken
 * later; the caller may use its area. */
struct prepared_batch *batch_reader_settle(struct batch_reader *reader);

#endif
