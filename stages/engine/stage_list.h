/*
 * stage_list - all stages in flow order, for code that deals with more than one: the driver,
 * doctor, status, replay.
 *
 * There is one row for each stage, beside CMake's STAGES. ctest -L tree compares the two, the
 * folders, the Kubernetes Jobs, the units and the documentation. Counts and the text of the names
 * are made from the rows.
 */
#ifndef STAGES_ENGINE_STAGE_LIST_H
#define STAGES_ENGINE_STAGE_LIST_H

/* The threads of a worker of a local run. */
enum stage_threads {
    THREADS_ONE,
    THREADS_FEW,   /* a unit on each; the other stages need more time for a unit */
    THREADS_SHARED /* as many as the stage's workers have; kernels split their work into tiles */
};

/* clang-format off */

/* ROW(name, threads, memory): `memory` is its portion of the budget of a local run, relative to
 * those of the other looping stages. First come the stages of one unit, then those that loop. */
#define STAGE_ONCE_LIST(ROW)              \
    ROW("ingest", THREADS_SHARED, 0)      \
    ROW("partition", THREADS_SHARED, 0)
#define STAGE_LOOP_LIST(ROW)              \
    ROW("sample", THREADS_FEW, 1)         \
    ROW("train-step", THREADS_SHARED, 2)  \
    ROW("aggregate", THREADS_ONE, 0)      \
    ROW("checkpoint", THREADS_ONE, 0)     \
    ROW("infer", THREADS_SHARED, 2)

#define STAGE_MARK(name, threads, memory) "x"
enum {
    STAGE_ONCE_COUNT = sizeof("" STAGE_ONCE_LIST(STAGE_MARK)) - 1,
    STAGE_LOOP_COUNT = sizeof("" STAGE_LOOP_LIST(STAGE_MARK)) - 1,
    STAGE_COUNT = STAGE_ONCE_COUNT + STAGE_LOOP_COUNT,
    STAGE_NAMES_SIZE = 256
};
#undef STAGE_MARK
/* clang-format on */

struct stage_row {
    const char *name;
    enum stage_threads threads;
    int memory_portion;
};

extern const struct stage_row stage_list[STAGE_COUNT];
/* The looping stages: stage_list from STAGE_ONCE_COUNT on. */
extern const struct stage_row *const stage_loop; /* [STAGE_LOOP_COUNT] */
/* Writes "ingest, partition, ... or infer", for messages. */
void stage_list_names(char text[STAGE_NAMES_SIZE]);

#endif
