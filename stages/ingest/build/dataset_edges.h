/*
 * dataset_edges - the edges of a dataset, from pieces of the input to stored chunks.
 *
 * Takes pieces, checks them, counts in-degrees and puts the edges aside; then sorts them into rows
 * by the policies of the settings and stores the rows. What is counted goes into the schema.
 */
#ifndef STAGES_INGEST_BUILD_DATASET_EDGES_H
#define STAGES_INGEST_BUILD_DATASET_EDGES_H

#include "common/base/error.h"
#include "stages/ingest/build/edge_chunk_writer.h"
#include "stages/ingest/build/edge_holdout.h"
#include "stages/ingest/build/edge_labels.h"
#include "stages/ingest/build/edge_sides.h"
#include "stages/ingest/build/edge_spool.h"
#include "stages/ingest/build/edges_back.h"
#include "stages/ingest/build/holdout_overlap.h"
#include "stages/ingest/build/input_lines.h"
#include "stages/ingest/build/reverse_detector.h"
#include "stages/ingest/build/weight_scale.h"
#include "stages/plan/pipeline_settings.h"
#include "store/objects/store.h"
#include "store/records/dataset_schema.h"

#include <stdbool.h>
#include <stdint.h>

struct thread_pool;

struct dataset_edges { /* {0} is closed */
    struct dataset_schema *schema;
    enum edge_policy self_loops, duplicates;
    bool reversed;
    bool adds_reverses; /* the second half of the relations are the reverses of the first */
    /* [no_type_count] zeros: the relation of edges that come without, when each has a reverse */
    uint16_t *no_type;
    size_t no_type_count;
    struct edge_spool spool;
    struct weight_scale scale;
    uint32_t last_source, last_target; /* put aside last; `has_last`: there is one */
    struct edge_columns last;          /* of that edge; then of the repeated edge that is named */
    bool has_last;
    uint64_t passed_over; /* repeats of it */
    struct input_lines lines;
    const struct pipeline_settings *settings; /* borrowed */
    bool asks_direction;                      /* auto, and the input does not say it */
    struct reverse_detector reversals;        /* closed: nobody asks for edges back */
    struct edges_back back;                   /* what it found */
    struct holdout_overlap overlap;
    struct edge_sides sides; /* of link prediction on nodes of one type */
    uint8_t *is_linked;      /* [node_count / 8 + 1] a bit a node: it has an edge to another */
    uint32_t *in_degree;     /* [node_count]; once written, of the edges as stored */
    uint32_t *out_degree;    /* [node_count], or NULL when nobody asks or it is in_degree */
    struct edge_chunk_writer writer;
    struct edge_labels labels;
    const struct graph_members *graphs; /* borrowed; NULL: the dataset is one */
    struct thread_pool *pool;           /* borrowed; NULL: the calling thread alone sorts */
    bool counts_process;                /* the budget is of the whole process (memory_held.h) */
    /* set by the caller, before the first edge; {0}: none is held out */
    struct edge_holdout holdout;
};

/* `schema` is borrowed until close; its node_count and `undirected` are set. `path`: of the scratch
 * file. */
MUST_CHECK enum error_code dataset_edges_open(struct dataset_edges *edges,
                                              struct dataset_schema *schema,
                                              const struct pipeline_settings *settings,
                                              const char *path, struct error *err);
void dataset_edges_close(struct dataset_edges *edges);
/* See dataset_builder.h. */
MUST_CHECK enum error_code dataset_edges_add(struct dataset_edges *edges,
                                             const struct edge_piece *piece, struct error *err);
/* When the nodes are known: about `edge_count` edges of the input will come. Fails: ERROR_NO_MEMORY
 * when the budget cannot be enough for dataset_edges_write(). */
MUST_CHECK enum error_code dataset_edges_expect(const struct dataset_edges *edges,
                                                uint64_t edge_count, uint64_t memory_bytes,
                                                struct error *err);
/* Fails: ERROR_INPUT for repeated edges that are refused, before anything is stored;
 * ERROR_NO_MEMORY when the budget is too small, saying what is needed. */
MUST_CHECK enum error_code dataset_edges_write(struct dataset_edges *edges, struct store *store,
                                               uint64_t memory_bytes, bool with_out_degree,
                                               struct error *err);
/* Edge types that edges of the input may have. */
uint32_t dataset_edges_given_types(const struct dataset_edges *edges);
/* [node_count] once written with_out_degree; borrowed. */
const uint32_t *dataset_edges_out_degree(const struct dataset_edges *edges);

/* Call this before the first edge. Opens edges->reversals if somebody asks for edges back.
 * `asks_direction`: the direction is to be found. */
MUST_CHECK enum error_code dataset_edges_watch_direction(struct dataset_edges *edges,
                                                         bool asks_direction, struct error *err);
/* Call this before writing. Decides on the direction if it is asked for, and whether links are held
 * out both ways (edges_back.h). *one_way: no edge was given in both directions; with `once_is_both`
 * each is then stored both ways. */
MUST_CHECK enum error_code dataset_edges_settle(struct dataset_edges *edges, bool once_is_both,
                                                bool *one_way, struct error *err);
/* A node that has an edge to another, if only one that is held out, is not isolated. Ids are those
 * of nodes; an edge from a node to itself is none. */
void dataset_edges_note_link(struct dataset_edges *edges, int64_t source, int64_t target);
/* Nodes without an edge to another node. */
uint64_t dataset_edges_isolated(const struct dataset_edges *edges);

#endif
