/*
 * method_table - the results of trials of partitioners, one line for each method.
 */
#ifndef PIPELINES_RUN_METHOD_TABLE_H
#define PIPELINES_RUN_METHOD_TABLE_H

#include "common/base/error.h"
#include "stages/plan/settings/partitioner_list.h"

#include <stdbool.h>
#include <stdint.h>

struct method_balance {
    double ratio, variation, efficiency; /* store/records/partition/partition_report.h */
};

struct method_trial {
    const char *name; /* of the row in partitioner_list.h, like `number` */
    int64_t number;
    char method[32]; /* the method that was used; for auto the one it chose */
    bool failed;
    struct error why; /* why it failed */
    double seconds, cut_share, replication;
    int64_t peak_bytes, batch_bytes;
    struct method_balance nodes, edges, train;
    bool by_loads;  /* the method used the read counts of a run (partition.loads) */
    bool has_loads; /* read counts were available, so the next fields are set too */
    double load_cut_share;
    struct method_balance reads;
};

/* The names in PARTITIONER_LIST, by their numbers; ends with NULL. */
extern const char *const method_table_names[PARTITION_METHOD_COUNT + 1];

/* Reads the file that graphmill-partition --trial wrote. Fails: ERROR_NOT_FOUND, ERROR_CORRUPT,
 * ERROR_NO_MEMORY. */
MUST_CHECK enum error_code method_trial_read(const char *path, struct method_trial *trial,
                                             struct error *err);
/* Prints the table on stdout, as columns for people or as JSON. */
MUST_CHECK enum error_code method_table_print(const struct method_trial *trial, int count,
                                              int64_t parts, bool as_json, struct error *err);

#endif
