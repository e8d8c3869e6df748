/*
 * stage_list - all stages in flow order, for who has to do with more than one: the driver, doctor, status, replay.
 *
 * One row a stage, beside CMake's STAGES; ctest -L tree compares the two, the folders, the Kubernetes Jobs and the
 * documentation.
 */
#ifndef STAGES_ENGINE_STAGE_LIST_H
#define STAGES_ENGINE_STAGE_LIST_H

#include <stdbool.h>

enum { STAGE_ONCE_COUNT = 2, STAGE_LOOP_COUNT = 5, STAGE_COUNT = 7 };

struct stage_row {
    const char *name;
    bool is_threaded;   /* its kernels share out tiles over threads; the others do with one */
    int memory_portion; /* of the budget of a local run, beside those of the other looping stages */
};

extern const struct stage_row
    stage_list[STAGE_COUNT]; /* ingest and partition first, then the looping stages */
/* The looping stages alone: stage_list from STAGE_ONCE_COUNT on. */
extern const struct stage_row *const stage_loop; /* [STAGE_LOOP_COUNT] */
/* "ingest, partition, ... or infer", for messages. */
extern const char stage_names_text[];

#endif
