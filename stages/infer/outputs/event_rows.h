/*
 * event_rows - what the last layer gives of nodes as they are at a time, for events that are scored
 * in time order.
 *
 * The messages of a row at time t are all edges of all relations that are strictly earlier, of
 * training or held out (event_history.h): with all neighbours, as inference computes rows of the
 * whole graph, and layer by layer from the rows that layer 1 reads. A layer computes the nodes of
 * one type at a time.
 *
 *   rows of layer 1 .. L, each valid or not
 *   advance to t:  an edge to v is earlier now: v is not valid in any layer that reads edges, nor
 *                  are, a layer higher, the nodes that hear of v, and so on
 *   fetch:         rows that are asked for and are not valid are computed, and before them those
 *                  that they read
 *
 * So each event costs what it changes, and not the whole graph. A row and its bits depend on the
 * edges that are earlier and on nothing else: rows are computed in tiles of one size, whichever
 * others are asked for beside them.
 *
 * Memory: the rows of all layers, five bytes a node and layer, and 32 bytes an edge; what does not
 * fit half of the budget is refused. The joined topology lies in scratch.
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

struct event_rows_config { /* all borrowed as long as the rows */
    const struct stage_context *context;
    const struct model *model;
    const float *weights; /* [model->value_count] */
    const struct weights_identity *identity;
    const struct topology *training;  /* its parts are open */
    const struct edge_splits *splits; /* the other edges */
    uint64_t budget_bytes;            /* 0: any */
};

/* Owns:  *out; event_rows_free(). Fails: ERROR_NO_MEMORY naming what it wants and the budget;
 * ERROR_CORRUPT; ERROR_NO_SPACE. */
MUST_CHECK enum error_code event_rows_new(const struct event_rows_config *config,
                                          struct event_rows **out, struct error *err);
void event_rows_free(struct event_rows *rows);
/* Moves on to `time`. Ascending times are cheap; after a step back all rows are computed again. */
MUST_CHECK enum error_code event_rows_advance(struct event_rows *rows, int64_t time,
                                              struct error *err);
/* Computes the rows of node [count] into out [count, output width of the last layer]. `rows` is a
 * struct event_rows.
 * Fails: ERROR_NO_MEMORY; ERROR_CORRUPT. */
MUST_CHECK enum error_code event_rows_fetch(void *rows, const uint32_t *node, size_t count,
                                            float *out, struct error *err);

#endif
