/*
 * event_rows - the last layer's rows of nodes at a time, for events that are scored in the order
 * of time.
 *
 * A row at time t hears all edges of all relations that are strictly earlier than t, training or
 * held out (event_history.h). It hears all neighbours, as in the inference of the whole graph, and
 * is computed layer by layer from the rows that layer 1 reads. A layer computes the nodes of one
 * type at a time.
 *
 *   rows of layer 1 .. L, each valid or not
 *   advance to t:  an edge to v becomes visible: v becomes invalid in each layer that reads edges;
 *                  one layer higher, so do the nodes that hear from v, and so on
 *   fetch:         rows that are asked for and invalid are computed, after the rows that they read
 *
 * So an event costs only what it changes. A row and its bits depend on the earlier edges only:
 * rows are computed in tiles of one size, whichever other rows are asked for at the same time.
 *
 * Memory: the rows of all layers, five bytes per node and layer, and 32 bytes per edge. If this
 * exceeds half of the budget, it is refused. The joined topology lies in scratch.
 */
#ifndef STAGES_INFER_OUTPUTS_EVENT_ROWS_H
#define STAGES_INFER_OUTPUTS_EVENT_ROWS_H

#include "common/base/error.h"
#include "common/nn/model.h"
#include "stages/engine/stage.h"
#include "store/records/dataset/edge_splits.h"
#include "store/records/round/weights_identity.h"
#include "store/topology/topology.h"

#include <stddef.h>
#include <stdint.h>

struct event_rows;

struct event_rows_config { /* all borrowed as long as the rows exist */
    const struct stage_context *context;
    const struct model *model;
    const float *weights; /* [model->value_count] */
    const struct weights_identity *identity;
    const struct topology *training;  /* its parts are open */
    const struct edge_splits *splits; /* the held-out edges */
    uint64_t budget_bytes;            /* 0: no limit */
};

/* Creates *out, which the caller frees with event_rows_free(). Fails: ERROR_NO_MEMORY naming the
 * bytes wanted and the budget; ERROR_CORRUPT; ERROR_NO_SPACE. */
MUST_CHECK enum error_code event_rows_new(const struct event_rows_config *config,
                                          struct event_rows **out, struct error *err);
void event_rows_free(struct event_rows *rows);
/* Advances to `time`. Ascending times are cheap; after a step back all rows are computed again. */
MUST_CHECK enum error_code event_rows_advance(struct event_rows *rows, int64_t time,
                                              struct error *err);
/* Computes the rows of node [count] into out [count, output width of the last layer]. `rows` is
 * a struct event_rows. Fails: ERROR_NO_MEMORY; ERROR_CORRUPT. */
MUST_CHECK enum error_code event_rows_fetch(void *rows, const uint32_t *node, size_t count,
                                            float *out, struct error *err);

#endif
