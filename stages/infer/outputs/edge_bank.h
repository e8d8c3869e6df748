/*
 * edge_bank - EdgeBank (Poursafaei et al. 2022, "Towards better evaluation for dynamic link
 * prediction"): a pair scores 1 if it was seen before, otherwise 0.
 *
 * EdgeBank is the baseline that learns nothing, for links that are split by time. It is measured
 * on the positives and negatives of the model, and sees the same history (infer.history): all
 * edges that are strictly earlier, or the training edges only.
 *
 *   unlimited   a pair is seen if it has an edge in the history
 *   window      a pair is seen if it has an edge in [t - d, t), for an edge at time t of a
 *               split that lasts d
 *
 * If edges have types or relations, the type or relation is part of the pair. In an undirected
 * graph, both directions are one pair.
 */
#ifndef STAGES_INFER_OUTPUTS_EDGE_BANK_H
#define STAGES_INFER_OUTPUTS_EDGE_BANK_H

#include "common/base/error.h"
#include "common/base/json.h"
#include "common/nn/tasks/metrics.h"
#include "stages/plan/settings/pipeline_settings.h"
#include "stages/sampling/pairs/pair_drawer.h"
#include "store/records/dataset/edge_splits.h"
#include "store/topology/topology.h"

#include <stdint.h>

enum edge_bank_memory { EDGE_BANK_UNLIMITED, EDGE_BANK_WINDOW, EDGE_BANK_COUNT };

struct edge_bank {                  /* {0}: not measured */
    uint64_t edges[HELD_OUT_COUNT]; /* number of edges measured */
    struct column_metrics of[HELD_OUT_COUNT][EDGE_BANK_COUNT];
};

struct edge_bank_config {             /* all borrowed */
    const struct topology *topology;  /* training edges, with times; its parts are open */
    const struct edge_splits *splits; /* with times */
    enum history_choice history;
    const struct pair_request *request[HELD_OUT_COUNT]; /* the pairs of each split */
    uint64_t budget_bytes;                              /* 0: no limit */
};

/* Returns whether the settings ask for EdgeBank: links are split by time. */
bool edge_bank_is_wanted(const struct pipeline_settings *settings);
/* Measures EdgeBank on both splits. Fails: ERROR_NO_MEMORY. */
MUST_CHECK enum error_code edge_bank_measure(const struct edge_bank_config *config,
                                             struct edge_bank *out, struct error *err);
/* Writes "edgebank_roc_auc", "edgebank_average_precision" and their "edgebank_window" forms as
 * members of a split, or nothing if EdgeBank was not measured. */
void edge_bank_put_members(const struct edge_bank *bank, enum held_out split,
                           struct json_writer *json);

#endif
