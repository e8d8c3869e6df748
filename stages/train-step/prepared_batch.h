/*
 * prepared_batch - a mini-batch that was read and checked, with its blocks and the rows that the
 * first layer needs.
 *
 * Rows of a resident type are read in place, by the number of the node in its type. For a type
 * that is not resident, one ordered pass over the shards reads the rows. There are three ways to
 * keep them, which give the same bits:
 *
 *   in place      resident types
 *   aggregated    each row is added to the destinations that hear from it, and then discarded
 *                 (common/nn/source_aggregation.h); backward needs the aggregated rows anyway
 *   copied        the rows lie side by side in the area
 *
 * Aggregating needs a batch of one relation in which every node is a destination with edges. Rows
 * are copied instead if the first layer projects before it aggregates (as it does for rows that
 * are mostly zero), if the batch lists its rows, or if its neighbours do not ascend.
 *
 * Rows of edge features are read from the topology (store/topology/edge_rows.h) and lie with the
 * batch. A type without features may have no rows here: the caller puts other rows, such as a
 * learnable embedding, in place of `rows` or beside them (step_batch.h).
 */
#ifndef STAGES_TRAIN_STEP_PREPARED_BATCH_H
#define STAGES_TRAIN_STEP_PREPARED_BATCH_H

#include "common/base/arena.h"
#include "common/base/error.h"
#include "common/nn/model.h"
#include "stages/engine/stage.h"
#include "stages/plan/model/edge_use.h"
#include "stages/train-step/rows/node_features.h"
#include "store/objects/keys.h"
#include "store/records/batch/mini_batch.h"
#include "store/topology/topology.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Memory for the rows of one batch, which the next batch reuses. */
struct batch_area { /* {0} is empty */
    float *data;
    uint64_t bytes;
};

struct prepared_batch { /* {0} holds nothing; prepared_batch_release() */
    bool has_record, has_rows;
    struct key key;
    struct mini_batch batch;
    /* The next two lie in the memory of the batch. */
    struct relation_block *block; /* [hops], from the input side */
    /* [nodes of the type]: the number of each node among all nodes of the type */
    const uint32_t *number[RELATION_TYPE_COUNT_MAX];
    struct batch_area area;
    /* of each type; otherwise `aggregated` is set */
    struct input_rows rows[RELATION_TYPE_COUNT_MAX];
    void *aggregated; /* the aggregated rows, as in struct model_input; in the area */
};

/* The inputs and the memory of a preparation. Threads: only one preparation may fill rows at a
 * time. */
struct batch_preparer {
    const struct stage_context *context; /* borrowed, as are model, features and topology */
    const struct model *model;
    struct edge_use edge_use;
    struct node_features *features;
    const struct topology *topology; /* source of the edge features; NULL: the model reads none */
    bool wants_rows; /* rows of every node are needed, because other rows are put beside them */
    /* if features exceed the budget: limit of features, areas and scratch together */
    uint64_t budget_bytes;
    uint64_t area_bytes;  /* sum of all areas */
    struct arena scratch; /* holds edges and weights while rows are aggregated */
    uint64_t scratch_bytes;
    bool brought_rows; /* whether rows were read at least once */
    /* whether the last rows came from a disk and not from the page cache; never set by the first
     * read */
    bool from_disk;
};

void batch_preparer_release(struct batch_preparer *preparer);

/* Reads the record `key` into `out`. The old content of `out` is discarded; its memory is
 * reused. Fails: ERROR_NOT_FOUND; ERROR_CORRUPT if the batch does not fit the model or the
 * partition. */
MUST_CHECK enum error_code prepared_batch_read(const struct batch_preparer *preparer,
                                               struct prepared_batch *out, const struct key *key,
                                               struct error *err);
/* Reads the rows, on all threads of the stage if `stop` is NULL. Otherwise it ends with
 * ERROR_BUSY when `stop` is set, as feature_source_visit(). Fails: ERROR_NO_MEMORY naming the
 * bytes wanted and the budget; ERROR_CORRUPT naming the shard. */
MUST_CHECK enum error_code prepared_batch_fill(struct batch_preparer *preparer,
                                               struct prepared_batch *out, const atomic_bool *stop,
                                               struct error *err);
/* Returns the number of nodes of a type in the batch. */
static inline uint32_t prepared_batch_count(const struct prepared_batch *batch, uint32_t type)
{
    return mini_batch_node_begin(&batch->batch, type + 1) -
           mini_batch_node_begin(&batch->batch, type);
}
void prepared_batch_forget(struct prepared_batch *batch);
/* Moves the area of `from` to `to`, which must have none. `from` loses its rows. */
void prepared_batch_lend(struct prepared_batch *from, struct prepared_batch *to);
void prepared_batch_release(struct batch_preparer *preparer, struct prepared_batch *batch);

#endif
