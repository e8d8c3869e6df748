/*
 * run_times - what the workers of a run wrote of themselves into times/ (stages/engine/stage_times.h).
 *
 * A worker that was killed left out the lines it had not written, and one that was started again goes on in the same file: so
 * a name may have several lives, and the figures are those that are known.
 */
#ifndef PIPELINES_REPORT_RUN_TIMES_H
#define PIPELINES_REPORT_RUN_TIMES_H

#include "common/base/error.h"

#include <stddef.h>
#include <stdint.h>

enum { TIMES_NAME_SIZE = 64 };

/* Units of one kind in one epoch, done by one worker. */
struct time_span {
    char stage[TIMES_NAME_SIZE], worker[TIMES_NAME_SIZE], unit[TIMES_NAME_SIZE];
    int64_t epoch, units;
    double first, last_end;                            /* seconds of the machine's steady clock */
    double wait, read, compute, write, hand_over;      /* seconds */
    double rows, row_bytes, bytes_read, bytes_written; /* of features; of records */
    double encoding, gradient_bytes, gradient_float_bytes; /* seconds; as encoded, and as floats */
};

/* One life of a worker. */
struct time_life {
    char stage[TIMES_NAME_SIZE], worker[TIMES_NAME_SIZE];
    double started, ended, open, idle, peak_bytes, user, system;
    double disk_bytes_read, disk_bytes_written;
};

/* What units of training came to for one part: shares of their seconds, and the rows that steps read of it. */
struct time_share {
    double sample, step; /* seconds */
    double rows;
};

/* A layer of a part that was inferred. */
struct time_layer {
    int64_t weights;
    int layer, part;
    double begun, ended;
};

struct run_times {          /* {0} is empty */
    struct time_span *span; /* [span_count], owned */
    size_t span_count, span_capacity;
    struct time_life *life; /* [life_count], owned */
    size_t life_count, life_capacity;
    struct time_share *share; /* [share_count] by part, owned; those behind have none */
    size_t share_count, share_capacity;
    struct time_layer *layer; /* [layer_count], owned */
    size_t layer_count, layer_capacity;
};

/* All lines in `folder` of run `run_id`, and of ingest and partition, which belong to none. A missing folder is an empty one,
 * and a line that a kill cut off is passed over. Fails: ERROR_IO, ERROR_NO_MEMORY. */
MUST_CHECK enum error_code run_times_read(const char *folder, const char *run_id,
                                          struct run_times *out, struct error *err);
/* The lines of one file; `text` [size]. Fails: ERROR_NO_MEMORY. */
MUST_CHECK enum error_code run_times_add(struct run_times *times, const char *text, size_t size,
                                         const char *run_id, struct error *err);
void run_times_release(struct run_times *times);

/* Of one stage, all workers together. */
struct stage_figures {
    char stage[TIMES_NAME_SIZE];
    int workers, lives;
    int64_t units;
    double wait, read, compute, write, hand_over, open, cpu, peak_bytes;
    double row_bytes, bytes_read, bytes_written, disk_bytes_read, disk_bytes_written;
    double encoding, gradient_bytes, gradient_float_bytes;
    double busy_variation; /* of the time its workers did not wait: standard deviation / mean */
};
enum { STAGE_FIGURES_MAX = 16 };
/* In the order of the flow; returns how many. */
size_t run_times_by_stage(const struct run_times *times,
                          struct stage_figures out[STAGE_FIGURES_MAX]);

#endif
