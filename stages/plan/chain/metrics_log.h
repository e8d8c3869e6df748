/*
 * metrics_log - the lines of metrics.jsonl, and the file that has all of them.
 *
 *   one line for each round:
 *     {"round":7,"epoch":2,"loss":..,"accuracy":..,"learning_rate":..,"gradient_norm":..,
 *      "gradient_error":..}
 *   then one for the snapshot of weights 8:
 *     {"snapshot":8,"epoch":2,"train_loss":..,"train_accuracy":..,"valid_loss":..,
 *      "valid_accuracy":..,"valid_<metric>":..,"best":8,"stop":false,"warning":".."}
 *
 * Rounds count from 0 as in the names of units, epochs from 1. A number that does not exist is
 * null. The lines have no time of day: they are part of the snapshot's record, and equal work gives
 * equal bytes.
 *
 * The file is a note of the store, <run>/metrics.jsonl, with the lines of all snapshots. Snapshots
 * are pruned and the note is not, so a new version of the note is the old one and the lines of the
 * newest snapshots. It ends with a snapshot's line, which says how far it goes: after a kill the
 * next update adds what is missing, and an update that is done twice changes nothing. The note is
 * not flushed: a power cut may lose lines of it, and nothing else depends on them.
 */
#ifndef STAGES_PLAN_CHAIN_METRICS_LOG_H
#define STAGES_PLAN_CHAIN_METRICS_LOG_H

#include "common/base/error.h"
#include "common/base/json.h"
#include "stages/plan/chain/schedule.h"
#include "store/objects/keys.h"
#include "store/objects/store.h"
#include "store/records/round/parameters.h"
#include "store/records/round/snapshot.h"

#include <stdint.h>

/* Adds the line of a round. `progress` comes from the weights that the round made. `has_accuracy`:
 * the task has an accuracy. */
void metrics_log_add_round(struct json_writer *log, const struct schedule *schedule,
                           bool has_accuracy, int64_t round, const double progress[PROGRESS_COUNT]);
/* Adds the line of a snapshot. `metric` is the one of valid_metric. `warning` is about the loss, or
 * "". */
void metrics_log_add_snapshot(struct json_writer *log, const struct snapshot *snapshot,
                              bool has_accuracy, enum metric metric, const char *warning);

/* Returns the offset of the end of that snapshot's line in the text of a file, or 0. */
size_t metrics_log_end_of_snapshot(const char *text, int64_t version);

/* Returns the key of the note. */
struct key metrics_log_note(const char *run_id);

/* The lines of consecutive snapshots that are in memory and need not be read again. */
struct metrics_lines {      /* {0} is empty */
    int64_t after, version; /* the lines are those of the snapshots (after, version] */
    char *text;             /* owned */
    size_t size, capacity;
};

/* Adds the lines of the next snapshot. For any other snapshot it forgets the lines that it has
 * first. */
MUST_CHECK enum error_code metrics_lines_add(struct metrics_lines *lines,
                                             const struct snapshot *snapshot, struct error *err);
void metrics_lines_reset(struct metrics_lines *lines);
void metrics_lines_release(struct metrics_lines *lines);

/* Brings the note up to snapshot `version`, which is stored. `known` may be NULL. Fails: ERROR_IO,
 * ERROR_CORRUPT, ERROR_NO_MEMORY. */
MUST_CHECK enum error_code metrics_log_update(struct store *store, const char *run_id,
                                              int64_t version, const struct metrics_lines *known,
                                              struct error *err);

#endif
