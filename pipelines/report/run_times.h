/*
 * run_times - the times that the workers of a run recorded in times/ (stages/engine/stage_times.h).
 *
 * A killed worker did not write its last lines, and a restarted worker continues in the same file.
 * So one name may have several lives, and the figures cover only what was written.
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
    /* seconds of the machine's monotonic clock */
    double first, last_end;
    double wait, read, compute, write, hand_over; /* seconds */
    /* rows of features; bytes of features; bytes of records */
    double rows, row_bytes, bytes_read, bytes_written;
    /* seconds; bytes as encoded; bytes as floats */
    double encoding, gradient_bytes, gradient_float_bytes;
};

/* One life of a worker. */
struct time_life {
    char stage[TIMES_NAME_SIZE], worker[TIMES_NAME_SIZE];
    double started, ended, open, idle, peak_bytes, user, system;
    double disk_bytes_read, disk_bytes_written;
};

/* The work of training units on one part: its share of their seconds, and the rows of it that steps
 * read. */
struct time_share {
    double sample, step; /* seconds */
    double rows;
};

/* One layer of one part in inference. */
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
    struct time_share *share; /* [share_count] by part, owned; parts after the last have no share */
    size_t share_count, share_capacity;
    struct time_layer *layer; /* [layer_count], owned */
    size_t layer_count, layer_capacity;
};

/* Reads all lines in `folder` that belong to run `run_id`, and those of ingest and partition, which
 * belong to no run. A missing folder counts as empty, and a line that was cut off by a kill is
 * skipped. Fails: ERROR_IO, ERROR_NO_MEMORY. */
MUST_CHECK enum error_code run_times_read(const char *folder, const char *run_id,
                                          struct run_times *out, struct error *err);
/* Adds the lines of one file, `text` [size]. Fails: ERROR_NO_MEMORY. */
MUST_CHECK enum error_code run_times_add(struct run_times *times, const char *text, size_t size,
                                         const char *run_id, struct error *err);
void run_times_release(struct run_times *times);

/* The sums of one stage over all its workers. */
struct stage_figures {
    char stage[TIMES_NAME_SIZE];
    int workers, lives;
    int64_t units;
    double wait, read, compute, write, hand_over, open, cpu, peak_bytes;
    double row_bytes, bytes_read, bytes_written, disk_bytes_read, disk_bytes_written;
    double encoding, gradient_bytes, gradient_float_bytes;
    double busy_variation; /* standard deviation / mean of the time that its workers did not wait */
};
enum { STAGE_FIGURES_MAX = 16 };
/* Sums up the stages, in the order of the flow. Returns their number. */
size_t run_times_by_stage(const struct run_times *times,
                          struct stage_figures out[STAGE_FIGURES_MAX]);

#endif
