/*
 * batch_reader - a thread that prepares the mini-batch of the next unit while this one is computed.
 *
 * The schedule says which mini-batches there are, and the stage guesses which one its next unit has. A
 * guess that is wrong, a record that is not there yet, a failure of any kind: all cost time alone, since
 * a batch that was not read ahead is prepared when its unit comes, and fails then if it must. What is
 * read ahead is read, checked and aggregated by the same code, and nothing is written.
 */
#ifndef STAGES_TRAIN_STEP_BATCH_READER_H
#define STAGES_TRAIN_STEP_BATCH_READER_H

#include "common/base/error.h"
#include "stages/train-step/prepared_batch.h"

#include <stdbool.h>

struct batch_reader;

/* `preparer` is borrowed, and is the thread's own while it reads: see batch_reader_settle(). */
MUST_CHECK enum error_code batch_reader_new(struct batch_preparer *preparer,
                                            struct batch_reader **out, struct error *err);
/* Stops and joins the thread; NULL is fine. */
void batch_reader_free(struct batch_reader *reader);

/* Begins to prepare the batch `key`, its record alone unless `with_rows`; what was read ahead and not
 * taken is forgotten. */
void batch_reader_begin(struct batch_reader *reader, const struct key *key, bool with_rows);
/* Waits for the batch `key` when that is the one being prepared, and puts it into *out, with rows or
 * without; what was there is forgotten, and its area is used for the next one. False: it was not read ahead; when `key` is
 * another batch than the one being prepared, that one is given up. The thread is at rest afterwards. */
bool batch_reader_take(struct batch_reader *reader, const struct key *key,
                       struct prepared_batch *out);
/* Whether that batch is the one being prepared, or prepared and not taken. */
bool batch_reader_has(const struct batch_reader *reader, const struct key *key);
/* Waits until the thread is at rest. What it read ahead may be taken later; its area, from here: */
struct prepared_batch *batch_reader_settle(struct batch_reader *reader);

#endif
