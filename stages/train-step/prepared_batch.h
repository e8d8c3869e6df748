/*
 * prepared_batch - a mini-batch, read and checked, with its blocks and the rows that the first
 * layer needs of its nodes.
 *
 * Rows of a resident type are found in its array by the number of the node in the type, and nothing
 * is prepared. For a type that is not resident, one ordered pass over the shards brings the rows.
 * Where every node is a destination with edges of the one relation, each row is added to the
 * destinations that hear from it and forgotten (common/nn/source_aggregation.h); what is held is
 * the batch's aggregated rows, which backward needs anyway. A first layer that projects before it
 * aggregates (and it does for rows that are mostly zero), a batch that lists its rows, or one whose
 * neighbours do not ascend, has its rows copied side by side instead. All three give the same bits.
 * Rows of edge features are read from the topology (store/topology/edge_rows.h) and lie with the
 * batch.
 *
 * There may be no rows of a type without features: whoever has others, a learnable embedding for
 * instance, puts them in place of `rows`, or beside them (step_batch.h).
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

/* Memory for the rows of one batch at a time; kept for the next. */
struct batch_area { /* {0} is empty */
    float *data;
    uint64_t bytes;
};

struct prepared_batch { /* {0} holds nothing; prepared_batch_release() */
    bool has_record, has_rows;
    struct key key;
    struct mini_batch batch;
    /* The next two are in the memory of the batch. */
    struct relation_block *block; /* [hops], from the input side */
    const uint32_t
        *number[RELATION_TYPE_COUNT_MAX]; /* [nodes of the type]: among all nodes of the type */
    struct batch_area area;
    struct input_rows rows[RELATION_TYPE_COUNT_MAX]; /* of each type: either these */
    void *aggregated; /* or this, as struct model_input has it; in the area */
};

/* What preparing takes. Threads: one preparation that fills rows at a time. */
struct batch_preparer {
    const struct stage_context *context; /* borrowed, as are model, features and topology */
    const struct model *model;
    struct edge_use edge_use;
    struct node_features *features;
    const struct topology
        *topology;         /* rows of edge features come from there; NULL: none are read */
    bool wants_rows;       /* of every node, for what is put beside them */
    uint64_t budget_bytes; /* out of the budget: of features, areas and scratch altogether */
    uint64_t area_bytes;   /* of all areas */
    struct arena scratch;  /* edges and weights while rows are aggregated */
    uint64_t scratch_bytes;
    bool brought_rows; /* once at least */
    bool from_disk; /* the rows brought last came from there, not out of the page cache; never the
                       first */
};

void batch_preparer_release(struct batch_preparer *preparer);

/* Reads the record `key`; what `out` held is forgotten, but for its memory.
 * Fails: ERROR_NOT_FOUND; ERROR_CORRUPT when the batch does not suit model or partition. */
MUST_CHECK enum error_code prepared_batch_read(const struct batch_preparer *preparer,
                                               struct prepared_batch *out, const struct key *key,
                                               struct error *err);
/* Brings the rows; on all threads of the stage when `stop` is NULL. `stop` as in
 * feature_source_visit(), ERROR_BUSY.
 * Fails: ERROR_NO_MEMORY naming wanted and budget; ERROR_CORRUPT naming the shard. */
MUST_CHECK enum error_code prepared_batch_fill(struct batch_preparer *preparer,
                                               struct prepared_batch *out, const atomic_bool *stop,
                                               struct error *err);
/* Returns how many nodes of a type the batch has. */
static inline uint32_t prepared_batch_count(const struct prepared_batch *batch, uint32_t type)
{
    return mini_batch_node_begin(&batch->batch, type + 1) -
           mini_batch_node_begin(&batch->batch, type);
}
void prepared_batch_forget(struct prepared_batch *batch);
/* `from` has no rows any more, and its area is `to`'s, which has none. */
void prepared_batch_lend(struct prepared_batch *from, struct prepared_batch *to);
void prepared_batch_release(struct batch_preparer *preparer, struct prepared_batch *batch);

#endif
