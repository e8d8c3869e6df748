/*
 * store_census - lists a store's runs, partitions and datasets, how they depend on each other, and
 * the size and age of each.
 *
 * It hashes nothing, so it takes as long as listing the store. Sizes and ages come from the files
 * of the store, if it has some (STORE_HAS_PATHS); otherwise they are unknown.
 */
#ifndef PIPELINES_STORE_STORE_CENSUS_H
#define PIPELINES_STORE_STORE_CENSUS_H

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
    CENSUS_LEFTOVER, /* not a run: it has no plan, as after an interrupted removal */
    CENSUS_LOST,     /* its plan, partition or dataset cannot be read; graphmill verify says why */
    CENSUS_TRAINING,
    CENSUS_TRAINED, /* the outputs are not written yet */
    CENSUS_FINISHED
};
extern const char *const census_state_name[CENSUS_FINISHED + 1];

struct census_entry {
    enum census_kind kind;
    char id[ID_SIZE];
    char stands_on
        [ID_SIZE];      /* the partition of a run, or the dataset of a partition; "": not known */
    char base[ID_SIZE]; /* of a partition: the partition that it is a delta of, or "" */
    uint64_t bytes;     /* 0: not known */
    int64_t seconds;    /* start time, by the clock of the file system; 0: not known */
    /* The next fields are those of a run. */
    enum run_progress_state state;
    bool is_newest; /* the run that was started last */
    int64_t rounds, round_count;
    enum metric metric; /* METRIC_COUNT: none */
    double score;       /* on the test split, or on validation if there is no test split */
    char score_split[8];
};

struct store_census {           /* {0} is empty */
    struct census_entry *entry; /* [count], owned; grouped by kind, newest first in each kind */
    size_t count, capacity;
};

/* Reads the census. A damaged entry is no failure; it is CENSUS_LOST. Fails: ERROR_IO,
 * ERROR_NO_MEMORY. */
MUST_CHECK enum error_code store_census_read(struct store *store, struct store_census *out,
                                             struct error *err);
const struct census_entry *store_census_find(const struct store_census *census,
                                             enum census_kind kind, const char *id);
void store_census_release(struct store_census *census);

/* Removes an entry from the store, with the refs that name it. The record that makes it complete
 * goes first (the plan of a run, the book of a partition, the schema of a dataset): if the process
 * is killed in between, the rest is recognised as a leftover, and the next removal completes it.
 * The caller must know that nobody uses the entry. Fails: ERROR_IO. */
MUST_CHECK enum error_code store_census_remove(struct store *store,
                                               const struct census_entry *entry, struct error *err);

#endif
