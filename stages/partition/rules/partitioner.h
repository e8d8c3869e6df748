/*
 * partitioner - a method that assigns each node, or each edge, to a part. Each method has a file
 * here and a row in stages/plan/settings/partitioner_list.h.
 */
#ifndef STAGES_PARTITION_RULES_PARTITIONER_H
#define STAGES_PARTITION_RULES_PARTITIONER_H

#include "common/base/error.h"
#include "stages/partition/rules/measured_loads.h"
#include "stages/plan/settings/pipeline_settings.h"
#include "store/objects/store.h"
#include "store/records/dataset/dataset_schema.h"

#include <stdint.h>

struct partition_request { /* all borrowed */
    struct store *store;
    const struct pipeline_settings *settings;
    const struct dataset_schema *schema;
    const uint32_t *in_degree;  /* [node_count] */
    const uint8_t *split_marks; /* [node_count]: enum split plus 1, 0 for none */
    /* NULL: there are none, or the method cannot use them. */
    const struct measured_loads *loads;
    /* Beside 40 bytes a node, of which a method may take 28. */
    uint64_t budget_bytes;
};

struct vertex_cut;

struct partitioner {
    /* Fills part [node_count] with parts below partition.parts; each has a node. Fails:
     * ERROR_NO_MEMORY when it would exceed the budget, naming both; what the method fails with. */
    enum error_code (*assign)(const struct partition_request *request, uint32_t *part,
                              struct error *err);
    /* For a vertex cut, instead of assign(): assigns every edge (vertex_cut.h). `cut` is {0}, and
     * the caller's to release, failure or not. Fails as assign(). */
    enum error_code (*cut)(const struct partition_request *request, struct vertex_cut *cut,
                           struct error *err);
    /* Returns the most bytes that it takes of the budget; NULL: hardly any. */
    uint64_t (*bytes)(const struct partition_request *request);
    /* For a row that stands for others, which has no assign(): returns the method to use. */
    enum partition_method (*choose)(const struct partition_request *request);
};

#define PARTITIONER_ROW(number, name, help) extern const struct partitioner name##_partitioner;
PARTITIONER_LIST(PARTITIONER_ROW)
#undef PARTITIONER_ROW

#endif
