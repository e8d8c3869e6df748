#include "stages/ingest/build/edges/edges_back.h"

#include "common/base/memory.h"
#include "store/records/dataset/dataset_types.h"

/* Returns whether the split draws pairs of nodes. */
static bool draws_pairs(const struct pipeline_settings *settings)
{
    struct edge_split split;
    return task_has(settings->ingest.task, TASK_HOLDS_OUT_EDGES) &&
           pipeline_edge_split(settings, &split, NULL) == ERROR_NONE &&
           (split.kind == EDGE_SPLIT_RANDOM || split.kind == EDGE_SPLIT_LEAVE_ONE_OUT);
}

bool edges_back_asks(const struct pipeline_settings *settings)
{
    return draws_pairs(settings) && settings->ingest.hold_out_reverse != HOLD_OUT_REVERSE_NEVER;
}

static bool are_most(const struct reverse_share *share)
{
    return share->back > share->edges - share->back;
}

/* Makes each of the two relations the reverse of the other, unless it has one already. */
static void pair_up(struct dataset_schema *schema, uint32_t relation, uint32_t back)
{
    if (!schema->has_relations || relation == back)
        return;
    if (!schema->back_plus[relation])
        schema->back_plus[relation] = (uint16_t)(back + 1);
    if (!schema->back_plus[back])
        schema->back_plus[back] = (uint16_t)(relation + 1);
}

static void decide(const struct reverse_share *share, uint32_t count, struct dataset_schema *schema,
                   struct edges_back *out)
{
    for (uint32_t r = 0; r < count; r++) {
        const double own = share[r].edges ? (double)share[r].back / (double)share[r].edges : 0.0;
        if (own > out->share) {
            out->share = own;
            out->relation = (uint16_t)r;
            out->back = share[r].back_type;
        }
        if (!are_most(&share[r]))
            continue;
        schema->pairs_together = true;
        pair_up(schema, r, share[r].back_type);
    }
}

enum error_code edges_back_settle(const struct reverse_detector *detector,
                                  const struct pipeline_settings *settings,
                                  struct dataset_schema *schema, struct edges_back *out,
                                  struct error *err)
{
    const uint32_t count = dataset_relation_count(schema);
    struct reverse_share *share = NULL;
    *out = (struct edges_back){0};
    if (!edges_back_asks(settings) || schema->undirected)
        return ERROR_NONE;
    enum error_code rc = memory_new(&share, count, "shares of edges back", err);
    if (rc == ERROR_NONE)
        rc = reverse_detector_shares(detector, count, share, err);
    if (rc == ERROR_NONE) {
        decide(share, count, schema, out);
        out->is_known = true;
        schema->pairs_together |= settings->ingest.hold_out_reverse == HOLD_OUT_REVERSE_ALWAYS;
    }
    memory_free(share);
    return rc;
}
