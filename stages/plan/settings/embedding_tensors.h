/*
 * embedding_tensors - the learnable tensors of a run: one for each node type that has learnable
 * rows; in a graph without relations one for all nodes.
 */
#ifndef STAGES_PLAN_SETTINGS_EMBEDDING_TENSORS_H
#define STAGES_PLAN_SETTINGS_EMBEDDING_TENSORS_H

#include "common/base/error.h"
#include "common/graph/relation_block.h"
#include "stages/plan/settings/pipeline_settings.h"

#include <stdbool.h>
#include <stdint.h>

/* ROW(number, name, help) lists the choices of aggregate.embedding_policy. */
/* clang-format off */
#define EMBEDDING_POLICY_LIST(ROW)                                                          \
    ROW(EMBEDDING_WITH_NODES, nodes, "a shard has the nodes of a part of the partition")           \
    ROW(EMBEDDING_BY_RANGE, range,                                                                 \
        "a shard has the same number of nodes, in the order of partition ids; there are "          \
        "embedding_shards of them")                                                                \
    ROW(EMBEDDING_BY_HASH, hash,                                                                   \
        "a shard has the nodes whose ids are equal modulo embedding_shards")                       \
    ROW(EMBEDDING_WHOLE, whole, "one shard has all nodes, for small tables")
#define EMBEDDING_POLICY_NUMBER(number, name, help) number,
enum embedding_policy { EMBEDDING_POLICY_LIST(EMBEDDING_POLICY_NUMBER) EMBEDDING_POLICY_COUNT };
#undef EMBEDDING_POLICY_NUMBER
extern const char *const embedding_policy_names[EMBEDDING_POLICY_COUNT + 1]; /* ends with NULL */
/* clang-format on */

struct embedding_tensor {
    uint32_t type, width;
    double rate; /* the learning rate of its rows in the first epoch */
    enum embedding_policy policy;
    int32_t first_shard, shard_count;
};

struct embedding_tensors { /* {0}: no node has learnable rows */
    int count;
    int32_t shard_count;                                     /* of all tensors */
    struct embedding_tensor tensor[RELATION_TYPE_COUNT_MAX]; /* [count], types ascending */
};

/* Returns the tensors of a run on a graph without relations. */
struct embedding_tensors embedding_tensors_plain(const struct pipeline_settings *settings,
                                                 int32_t part_count);
/* Sets *out for any graph. feature_dim [type_count]: columns of features of each type. Types
 * without features that the model reads have train-step.embedding columns.
 * train-step.type_embedding gives the types that it names other widths, also beside features;
 * aggregate.type_embedding_policy and aggregate.type_embedding_rate give their policies and rates.
 * Fails: ERROR_INVALID naming setting, entry, expected and found. */
MUST_CHECK enum error_code embedding_tensors_of_types(const struct pipeline_settings *settings,
                                                      const char (*type_name)[RELATION_NAME_SIZE],
                                                      const uint32_t *feature_dim,
                                                      uint32_t type_count, int32_t part_count,
                                                      struct embedding_tensors *out,
                                                      struct error *err);
/* Checks what can be checked without a graph. Fails: ERROR_INVALID. */
MUST_CHECK enum error_code embedding_tensors_check(const struct pipeline_settings *settings,
                                                   struct error *err);
/* Returns whether the settings give some nodes learnable rows. */
bool embedding_is_wanted(const struct pipeline_settings *settings);
/* Returns the tensor of a type; NULL if it has none. */
const struct embedding_tensor *embedding_tensor_of(const struct embedding_tensors *tensors,
                                                   uint32_t type);

#endif
