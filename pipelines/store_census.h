/*
 * store_census - what lies in a store: its runs, the partitions and datasets that they stand on, how large and how old each is.
 *
 * Nothing is hashed, so it takes as long as listing the store. Sizes and ages come from the files of a store that has
 * some (STORE_HAS_PATHS); of others they are unknown.
 */
#ifndef PIPELINES_STORE_CENSUS_H
#define PIPELINES_STORE_CENSUS_H

#include "common/base/error.h"
#include "common/nn/tasks/task.h"
#include "store/objects/keys.h"
#include "store/objects/store.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum census_kind { CENSUS_DATASET, CENSUS_PARTITION, CENSUS_RUN, CENSUS_KIND_COUNT };
extern const char *const census_kind_name[CENSUS_KIND_COUNT]; /* "dataset", ..., as in keys */

enum run_progress_state {
    CENSUS_LEFTOVER, /* no run: it has no plan, as after a removal that was cut short */
    CENSUS_LOST, /* its plan, or what it stands on, cannot be read: graphmill verify says what */
    CENSUS_TRAINING,
    CENSUS_TRAINED, /* the outputs are not written yet */
    CENSUS_FINISHED
};
extern const char *const census_state_name[CENSUS_FINISHED + 1];

struct census_entry {
    enum census_kind kind;
    char id[ID_SIZE];
    char stands_on
        [ID_SIZE]; /* a run on its partition, a partition on its dataset; "": it is not known */
    char base[ID_SIZE]; /* of a partition: what it is a delta of, or "" */
    uint64_t bytes;     /* 0: not known */
    int64_t seconds;    /* when it was begun, by the clock of the file system; 0: not known */
    /* Of runs. */
    enum run_progress_state state;
    bool is_newest; /* the one that was started last */
    int64_t rounds, round_count;
    enum metric metric; /* METRIC_COUNT: none */
    double score;       /* of the test split, or of validation where there is none */
    char score_split[8];
};

struct store_census {           /* {0} is empty */
    struct census_entry *entry; /* [count], owned; kind by kind, the newest of a kind first */
    size_t count, capacity;
};

/* Fails: ERROR_IO, ERROR_NO_MEMORY; what is damaged fails nothing and is CENSUS_LOST. */
MUST_CHECK enum error_code store_census_read(struct store *store, struct store_census *out,
                                             struct error *err);
const struct census_entry *store_census_find(const struct store_census *census,
                                             enum census_kind kind, const char *id);
void store_census_release(struct store_census *census);

/* Takes an entry out of the store, with the switches that name it. What says that it is whole goes first (the plan of a run,
 * the book of a partition, the schema of a dataset): after a kill in the midst of it the rest is a piece that nobody takes for
 * whole, and the next removal ends it. For whoever knows that nobody works on it. Fails: ERROR_IO. */
MUST_CHECK enum error_code store_census_remove(struct store *store,
                                               const struct census_entry *entry, struct error *err);

#endif
