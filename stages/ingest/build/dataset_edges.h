/*
 * dataset_edges - the edges of a dataset, from pieces of the input to stored chunks.
 *
 * Checks the pieces, counts in-degrees and writes the edges to a scratch file; then sorts them into
 * rows by the policies of the settings and stores the rows. The counts go into the schema.
 */
#ifndef STAGES_INGEST_BUILD_DATASET_EDGES_H
#define STAGES_INGEST_BUILD_DATASET_EDGES_H

#include "common/base/error.h"
#include "stages/ingest/build/edge_holdout.h"
#include "stages/ingest/build/edge_labels.h"
#include "stages/ingest/build/edges/edge_chunk_writer.h"
#include "stages/ingest/build/edges/edge_sides.h"
#include "stages/ingest/build/edges/edge_spool.h"
#include "stages/ingest/build/edges/edges_back.h"
#include "stages/ingest/build/edges/reverse_detector.h"
#include "stages/ingest/build/edges/weight_scale.h"
#include "stages/ingest/build/holdout_overlap.h"
#include "stages/ingest/build/input_lines.h"
#include "stages/plan/settings/pipeline_settings.h"
#include "store/objects/store.h"
#include "store/records/dataset/dataset_schema.h"

#include <stdbool.h>
#include <stdint.h>

struct thread_pool;

struct dataset_edges { /* {0} is closed */
    struct dataset_schema *schema;
    enum edge_policy self_loops, duplicates;
    bool reversed;
    bool adds_reverses; /* the second half of the relations are the reverses of the first */
    /* [no_type_count] zeros: the relation of edges without a type column, when each relation has a
     * reverse */
    uint16_t *no_type;
    size_t no_type_count;
    struct edge_spool spool;
    struct weight_scale scale;
    uint32_t last_source, last_target; /* the edge that was spooled last, if has_last */
    /* the columns of that edge; later those of the repeated edge that a message names */
    struct edge_columns last;
    bool has_last;
    uint64_t passed_over; /* how often that edge was repeated and skipped */
    struct input_lines lines;
    const struct pipeline_settings *settings; /* borrowed */
    bool asks_direction;                      /* direction is auto, and the input does not say it */
    struct reverse_detector reversals;        /* closed unless somebody asks for edges back */
    struct edges_back back;                   /* the result of the detector */
    struct holdout_overlap overlap;
    struct edge_sides sides; /* for link prediction on nodes of one type */
    /* [node_count / 8 + 1] one bit a node: it has an edge to another node */
    uint8_t *is_linked;
    uint32_t *in_degree;  /* [node_count]; after writing, counts the edges as stored */
    uint32_t *out_degree; /* [node_count]; NULL when nobody asks, or when it equals in_degree */
    struct edge_chunk_writer writer;
    struct edge_labels labels;
    const struct graph_members *graphs; /* borrowed; NULL: the dataset is one graph */
    struct thread_pool *pool;           /* borrowed; NULL: the calling thread alone sorts */
    bool counts_process;                /* the budget is for the whole process (memory_held.h) */
    /* set by the caller before the first edge; {0}: no edge is held out */
    struct edge_holdout holdout;
};

/* Opens the scratch file `path`. `schema` is borrowed until close; its node_count and `undirected`
 * are set. */
MUST_CHECK enum error_code dataset_edges_open(struct dataset_edges *edges,
                                              struct dataset_schema *schema,
                                              const struct pipeline_settings *settings,
                                              const char *path, struct error *err);
void dataset_edges_close(struct dataset_edges *edges);
/* Adds a piece as dataset_builder_add_edges() does (dataset_builder.h). */
MUST_CHECK enum error_code dataset_edges_add(struct dataset_edges *edges,
                                             const struct edge_piece *piece, struct error *err);
/* Checks the budget, once the nodes are known, for about `edge_count` edges that the input will
 * have. Fails: ERROR_NO_MEMORY when the budget cannot be enough for dataset_edges_write(). */
MUST_CHECK enum error_code dataset_edges_expect(const struct dataset_edges *edges,
                                                uint64_t edge_count, uint64_t memory_bytes,
                                                struct error *err);
/* Sorts and stores the edges. Fails: ERROR_INPUT for repeated edges that are refused, before
 * anything is stored; ERROR_NO_MEMORY when the budget is too small, naming the bytes it needs. */
MUST_CHECK enum error_code dataset_edges_write(struct dataset_edges *edges, struct store *store,
                                               uint64_t memory_bytes, bool with_out_degree,
                                               struct error *err);
/* Returns how many types the edges of the input may have. */
uint32_t dataset_edges_given_types(const struct dataset_edges *edges);
/* Returns the out-degrees [node_count] once the edges are written with_out_degree; borrowed. */
const uint32_t *dataset_edges_out_degree(const struct dataset_edges *edges);

/* Opens edges->reversals if somebody asks for edges back. Call it before the first edge.
 * `asks_direction`: the direction is to be found from the edges. */
MUST_CHECK enum error_code dataset_edges_watch_direction(struct dataset_edges *edges,
                                                         bool asks_direction, struct error *err);
/* Decides on the direction if asked, and on whether links are held out both ways (edges_back.h).
 * Call it before writing. *one_way: no edge was given in both directions; with `once_is_both` each
 * edge is then stored both ways. */
MUST_CHECK enum error_code dataset_edges_settle(struct dataset_edges *edges, bool once_is_both,
                                                bool *one_way, struct error *err);
/* Notes that both nodes have an edge to another node, so that they do not count as isolated, even
 * if their only edge is held out. The ids are node numbers; an edge from a node to itself does not
 * count. */
void dataset_edges_note_link(struct dataset_edges *edges, int64_t source, int64_t target);
/* Returns the number of nodes without an edge to another node. */
uint64_t dataset_edges_isolated(const struct dataset_edges *edges);

#endif
