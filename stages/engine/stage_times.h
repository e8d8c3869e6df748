/*
 * stage_times - where the wall time of a worker goes, and what it moves.
 *
 * A worker is always in one phase, and the time between two switches belongs to the phase that ends: so the
 * phases add up to the life of the process, and a switch costs one look at the clock. Sums are kept for each
 * kind of unit and written as one JSON line when that kind's epoch is over; one more line tells of the whole
 * process when it ends, by a stop signal too:
 *
 *   {"stage":"train-step","worker":"train-step-0","run":..,"unit":"train-step","epoch":2,"units":193,
 *    "first":..,"first_end":..,"last_end":..,                        seconds of this machine's steady clock
 *    "wait":..,"read":..,"compute":..,"write":..,"hand_over":..,     seconds
 *    "ahead":..,                           of "wait" and the "hand_over" before it, with work for the unit
 *    "rows":..,"row_bytes":..,"record_bytes_read":..,"record_bytes_written":..,
 *    "encoding":..,"gradient_bytes":..,"gradient_float_bytes":..,    of train-step.gradient but f32: seconds of "write", or of
 *                                        "read" where gradients are added up; what the writer encoded, as stored and as floats
 *    "part_seconds":[..],"part_amounts":[..]}    of training, a number for each part of the partition: which share of the seconds
 *                                        but "wait" falls to it (part_shares.h), by rows read, or nodes and edges drawn
 *   {"stage":"infer","worker":..,"run":..,"part":3,"layer":1,"weights":..,"begun":..,"ended":..}   a unit of inference, when it is done
 *   {"stage":..,"worker":..,"run":..,"pid":..,"started":..,"ended":..,"open":..,"idle":..,
 *    "peak_bytes":..,"user":..,"system":..,"disk_bytes_read":..,"disk_bytes_written":..}
 *
 * Epochs count from 1 as in metrics.jsonl; 0 is for what belongs to none. A process that is killed leaves out
 * the lines it had not written. This is no record, and no unit reads it: reports, `graphmill export --what parts` and --times, and
 * tests/bench/epoch do.
 */
#ifndef STAGES_ENGINE_STAGE_TIMES_H
#define STAGES_ENGINE_STAGE_TIMES_H

#include "common/base/error.h"
#include "stages/plan/schedule.h"
#include "stages/plan/unit.h"
#include "store/objects/store.h"
#include "store/records/gradient_encoding.h"
#include "store/records/partition_book.h"

#include <stdbool.h>
#include <stdint.h>

enum time_phase {
    TIME_OPEN,      /* before the first unit: topology and features are opened, arrays filled */
    TIME_WAIT,      /* for a unit; counted to the unit that comes */
    TIME_READ,      /* records and feature rows */
    TIME_COMPUTE,   /* what the stage is for */
    TIME_WRITE,     /* publishing the output */
    TIME_HAND_OVER, /* is it done already, what does it set free, telling Redis */
    TIME_PHASE_COUNT
};

struct stage_times;

struct stage_times_config { /* strings, schedule and store are borrowed until stage_times_close() */
    const char *path;       /* appended to, made when missing with the folders above it */
    const char *stage, *worker;
    const char *run_id;              /* NULL before a run, as is the next */
    const struct schedule *schedule; /* says which epoch a unit belongs to */
    const struct store *store;       /* whose traffic is counted; NULL: none */
};

/* Begins in TIME_OPEN. Fails: ERROR_IO, ERROR_NO_MEMORY. */
MUST_CHECK enum error_code stage_times_open(const struct stage_times_config *config,
                                            struct stage_times **out, struct error *err);
/* Writes what is left. NULL is fine. Fails: ERROR_IO when a line could not be written, now or before. */
MUST_CHECK enum error_code stage_times_close(struct stage_times *times, struct error *err);

/* NULL is fine for all of these: then nothing is kept.
 * Threads: what other threads do goes on beside the worker's own time, so their calls change no phase. */
void stage_times_begin_unit(struct stage_times *times, const struct unit *unit);
/* `done`: counts as one. */
void stage_times_end_unit(struct stage_times *times, bool done);
void stage_times_enter(struct stage_times *times, enum time_phase phase);
/* The unit in hand was worked on for `seconds` before the worker had it: the worker guessed it while it waited. Such work
 * begins when the record of the unit before was stored and is over by now. Only the part of `seconds` that lies before
 * the unit began counts as ahead; the rest is in the unit's own time already. */
void stage_times_add_ahead(struct stage_times *times, double seconds);
/* What encoding gradients, or reading them, came to. */
void stage_times_add_encoding(struct stage_times *times, const struct encoding_work *work);
/* Of the unit in hand, `amount` was done for a node of the partition. */
void stage_times_add_part(struct stage_times *times, const struct partition_book *book,
                          uint32_t node, uint64_t amount);
/* One for each of node [count]. */
void stage_times_add_nodes(struct stage_times *times, const struct partition_book *book,
                           const uint32_t *node, uint32_t count);
/* Rows of features that a unit uses, from whichever thread. */
void stage_times_add_rows(struct stage_times *times, uint64_t rows, uint64_t bytes);

#endif
