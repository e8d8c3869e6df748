/*
 * partitioner - a way to give each node a part, or each edge: a file each, and a row each in stages/plan/partitioner_list.h.
 */
#ifndef STAGES_PARTITION_METHODS_PARTITIONER_H
#define STAGES_PARTITION_METHODS_PARTITIONER_H

#include "common/base/error.h"
#include "stages/partition/methods/measured_loads.h"
#include "stages/plan/pipeline_settings.h"
#include "store/objects/store.h"
#include "store/records/dataset_schema.h"

#include <stdint.h>

struct partition_request { /* all borrowed */
    struct store *store;
    const struct pipeline_settings *settings;
    const struct dataset_schema *schema;
    const uint32_t *in_degree;          /* [node_count] */
    const uint8_t *split_marks;         /* [node_count]: enum split plus 1, 0 for none */
    const struct measured_loads *loads; /* NULL: none, and of methods that cannot go by them */
    uint64_t budget_bytes;              /* beside 40 bytes a node, of which a method may take 28 */
};

struct vertex_cut;

struct partitioner {
    /* Fills part [node_count] with parts below partition.parts; each has a node.
     * Fails: ERROR_NO_MEMORY when it would exceed the budget, naming both; what the method fails with. */
    enum error_code (*assign)(const struct partition_request *request, uint32_t *part,
                              struct error *err);
    /* Of a vertex cut, in place of assign(): the part of every edge (vertex_cut.h). `cut` is {0}, and the caller's to release,
     * failure or not. Fails likewise. */
    enum error_code (*cut)(const struct partition_request *request, struct vertex_cut *cut,
                           struct error *err);
    /* What it takes of the budget, at most; NULL: nothing to speak of. */
    uint64_t (*bytes)(const struct partition_request *request);
    /* Of a row that stands for others: the method that it comes to. It has no assign(). */
    enum partition_method (*choose)(const struct partition_request *request);
};

#define PARTITIONER_ROW(number, name, help) extern const struct partitioner name##_partitioner;
PARTITIONER_LIST(PARTITIONER_ROW)
#undef PARTITIONER_ROW

#endif
