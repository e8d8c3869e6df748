/*
 * stage_times - measures how a worker spends its wall time, and how much data it moves.
 *
 * A worker is always in one phase, and the time between two switches belongs to the phase that
 * ends. So the phases add up to the life of the process, and a switch costs one look at the clock.
 * Sums are kept for each kind of unit and written as one JSON line when that kind's epoch is over.
 * One more line describes the whole process when it ends, also by a stop signal:
 *
 *   {"stage":"train-step","worker":"train-step-0","run":..,"unit":"train-step",
 *    "epoch":2,"units":193,
 *    "first":..,"first_end":..,"last_end":..,   seconds of this machine's steady clock
 *    "wait":..,"read":..,"compute":..,"write":..,"hand_over":..,  seconds
 *    "ahead":..,        of "wait" and the "hand_over" before it, with work for the unit
 *    "rows":..,"row_bytes":..,"record_bytes_read":..,"record_bytes_written":..,
 *    "encoding":..,"gradient_bytes":..,"gradient_float_bytes":..,
 *                       with train-step.gradient other than f32: seconds of "write", or of "read"
 *                       where gradients are added up; bytes that the writer encoded, as stored and
 *                       as floats
 *    "part_seconds":[..],"part_amounts":[..]}
 *                       for training, a number for each part of the partition: its share of the
 *                       seconds but "wait" (part_shares.h), by rows read, or nodes and edges drawn
 *   a unit of inference, when it is done:
 *   {"stage":"infer","worker":..,"run":..,"part":3,"layer":1,"weights":..,"begun":..,"ended":..}
 *   {"stage":..,"worker":..,"run":..,"pid":..,"started":..,"ended":..,"open":..,"idle":..,
 *    "peak_bytes":..,"user":..,"system":..,"disk_bytes_read":..,"disk_bytes_written":..}
 *
 * Epochs count from 1 as in metrics.jsonl; 0 is for units that belong to none. A process that is
 * killed does not write its last lines. The file is no record, and no unit reads it: reports,
 * `graphmill export --what parts` and --times, and tests/bench/epoch do.
 */
#ifndef STAGES_ENGINE_STAGE_TIMES_H
#define STAGES_ENGINE_STAGE_TIMES_H

#include "common/base/error.h"
#include "stages/plan/chain/schedule.h"
#include "stages/plan/chain/unit.h"
#include "store/objects/store.h"
#include "store/records/partition/partition_book.h"
#include "store/records/round/gradient_encoding.h"

#include <stdbool.h>
#include <stdint.h>

enum time_phase {
    /* Before the first unit: topology and features are opened, arrays are filled. */
    TIME_OPEN,
    /* Waiting for a unit; counted for the unit that comes. */
    TIME_WAIT,
    TIME_READ,    /* reading records and feature rows */
    TIME_COMPUTE, /* the computation of the stage */
    TIME_WRITE,   /* publishing the output */
    /* Finding whether the unit is done already and what it sets free, and telling Redis. */
    TIME_HAND_OVER,
    TIME_PHASE_COUNT
};

struct stage_times;

struct stage_times_config { /* strings, schedule and store are borrowed until stage_times_close() */
    /* Lines are appended to it; it is made if missing, with the folders above it. */
    const char *path;
    const char *stage, *worker;
    const char *run_id;              /* NULL before a run, and so is the next */
    const struct schedule *schedule; /* says which epoch a unit belongs to */
    const struct store *store;       /* the store whose traffic is counted; NULL: none */
};

/* Opens the file and begins in TIME_OPEN. Fails: ERROR_IO, ERROR_NO_MEMORY. */
MUST_CHECK enum error_code stage_times_open(const struct stage_times_config *config,
                                            struct stage_times **out, struct error *err);
/* Writes the remaining lines. NULL is fine. Fails: ERROR_IO when a line could not be written, now
 * or before. */
MUST_CHECK enum error_code stage_times_close(struct stage_times *times, struct error *err);

/* All functions below accept NULL, and then keep nothing. Threads: other threads work beside the
 * worker, whose time is already counted, so their calls change no phase. */
void stage_times_begin_unit(struct stage_times *times, const struct unit *unit);
/* Ends the present unit. `done`: it counts as one. */
void stage_times_end_unit(struct stage_times *times, bool done);
void stage_times_enter(struct stage_times *times, enum time_phase phase);
/* Notes that the present unit was worked on for `seconds` before the worker got it: the worker
 * guessed the unit while it waited. Such work begins when the record of the unit before was stored,
 * and is over by now. Only the part of `seconds` before the unit began counts as ahead; the rest is
 * in the unit's own time already. */
void stage_times_add_ahead(struct stage_times *times, double seconds);
/* Adds the work of encoding gradients, or of reading encoded ones. */
void stage_times_add_encoding(struct stage_times *times, const struct encoding_work *work);
/* Adds `amount` for a node of the partition, in the present unit. */
void stage_times_add_part(struct stage_times *times, const struct partition_book *book,
                          uint32_t node, uint64_t amount);
/* Adds one for each node of node [count]. */
void stage_times_add_nodes(struct stage_times *times, const struct partition_book *book,
                           const uint32_t *node, uint32_t count);
/* Adds rows of features that a unit reads. Threads: any. */
void stage_times_add_rows(struct stage_times *times, uint64_t rows, uint64_t bytes);

#endif
