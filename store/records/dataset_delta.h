/*
 * dataset_delta - what an update changes of a dataset: the one thing about a version that its base does not say.
 *
 * A dataset that lives is a chain of versions. The first, the root, is what ingest read from the user's files; each
 * further one is a dataset of its own, with an id of its own, whose delta names the version before it:
 *
 *   root <── delta ── version 1 <── delta ── version 2        current/version/<digits of the root> = version 2
 *
 * Written by ingest (stages/ingest/update), flushed, before anything else of the version; read by whoever reads a version that is merged
 * (dataset_merge.h), and by ingest, when the records of one that is whole are made, or made again. The user's files of an update are not needed after that.
 *
 *   key       dataset/<id>/delta; the digits of <id> are a hash of those of the base and of what stands here
 *   sections  "base", "root"  text: ids of datasets
 *             "facts"         U64 [5]: depth (1: of the root), nodes of the base, nodes added, label width, feature columns
 *             "gone_node"     U32, ascending: nodes of the base that are removed, with all their edges
 *             "gone_source", "gone_target" U32: edges of the base that are removed, all of the same ends; ascending by target, then source
 *             "source", "target" U32, and edge columns (edge_sections.h): edges that are added, in the order of the input
 *             "new_held" U8 [edges added], of a dataset that learns links where some are: 0 for training, else 1 + enum held_out: the edge
 *                           is held out, and in no row
 *             "negative_weight" text: where the first added edge of a weight below 0 stands, if there is one: no part of the content, for it
 *                           says what the files were called
 *             "new_id" I64 [added], or "new_id_offset" U64 [added + 1] and "new_id_text" U8: what the user calls added nodes
 *             "new_label" U32 [added, label width]: as in node_labels.h; "new_split" U8 [added]: 0 none, else 1 + enum split
 *             "row_node" U32, "row" F32 [rows, columns]: features of added nodes, and new ones of others, in the measure of the dataset
 *   valid     nodes of the base are below their number, and added ones follow them (base_nodes + i); what is removed has no new edge or row;
 *             ids ascend in "new_id_offset"; the base is no version of itself
 *   version   1; 2 with "new_held"; 3 of a graph with several types of nodes or edges: "facts" has a sixth, the relations, 0 where
 *             edges have one type (or no column says theirs, and all are of relation 0). Where nodes have several types, also
 *             "node_types" U32 [3, types]: nodes of each in the base; added ones, which stand type by type; its feature columns, as many as
 *                           rows of its nodes have in "row"
 *             and where there are relations, which the column EDGE_TYPE of added edges then says,
 *             "gone_relation" U16 [edges that go]: all edges of the same ends in this relation go; they ascend by target, source, relation
 *             4 of a dataset of many graphs (graph_index.h): "facts" and, where there are several types, sections as in 3, and
 *             "graphs"       U64 [2]: graphs of the base, and graphs added
 *             "gone_graph"   U32, ascending: graphs of the base whose last node goes
 *             "new_graph_id" I64 [graphs added]: what the user calls them
 *             "new_graph_of" U32 [nodes added]: the graph of each: of the base, where it does not go, below their number, and behind
 *                            them those that are added, each of which has one
 *             "new_label" and "new_split" are of added graphs in place of nodes
 *
 * NUMBERS OF A VERSION. Datasets number nodes type by type, in the order of the schema. In a version the nodes of each type are those of the
 * base of that type that stay, in their order, then those that are added of it, in theirs; so with one type what is added stands behind all.
 * store/versions/delta_numbers.h turns one into the other.
 *
 * Graphs are numbered likewise: those of the base that stay, in their order, then those that are added.
 *
 * Of relations that have reverses (ingest.add_reverse) both ways are there, added and gone: first all edges of the input, then their
 * reverses. A reader needs to know nothing of it, but that a reverse in "new_held" is in no row, and in no list of held-out edges either.
 */
#ifndef STORE_RECORDS_DATASET_DELTA_H
#define STORE_RECORDS_DATASET_DELTA_H

#include "common/base/checksum.h"
#include "common/base/error.h"
#include "common/graph/edge_column.h"
#include "store/objects/store.h"
#include "store/records/node_ids.h"

#include <stdint.h>

/* For writing, fill what there is and leave `view` zero. */
struct dataset_delta {
    char base[ID_SIZE], root[ID_SIZE];
    uint64_t depth;
    uint32_t base_nodes, added_nodes, label_width, feature_dim;
    uint64_t node_limit; /* base_nodes + added_nodes; set by reading */
    uint64_t gone_nodes, gone_edges, added_edges, rows;
    const uint32_t *gone_node;                 /* [gone_nodes] */
    const uint32_t *gone_source, *gone_target; /* [gone_edges] */
    const uint32_t *source, *target;           /* [added_edges] */
    struct edge_columns_view columns;          /* [added_edges] */
    char negative_weight
        [128]; /* where the first added edge of a weight below 0 stands, "edges.csv:17" or its end; "": there is none */
    const uint8_t *new_held;         /* [added_edges]; NULL: none is held out */
    struct node_ids new_ids;         /* of added_nodes; its own view is not used */
    const uint32_t *new_label;       /* [dataset_delta_targets(), label_width] */
    const uint8_t *new_split;        /* [dataset_delta_targets()] */
    const uint32_t *row_node;        /* [rows] */
    const float *row;                /* [rows, feature_dim], or as wide as columns_of_type says */
    uint32_t type_count;             /* of nodes; 0: one, and the next three are NULL */
    const uint32_t *base_of_type;    /* [type_count] nodes of the base of each */
    const uint32_t *added_of_type;   /* [type_count] */
    const uint32_t *columns_of_type; /* [type_count] */
    uint32_t relation_count;         /* 0: one, and gone_relation is NULL */
    const uint16_t *gone_relation;   /* [gone_edges] */
    uint32_t
        base_graphs; /* of a dataset of many graphs; 0: of any other, and the next five are 0 */
    uint32_t gone_graphs, added_graphs;
    const uint32_t *gone_graph;   /* [gone_graphs] */
    const uint32_t *new_graph_of; /* [added_nodes] */
    const int64_t *new_graph_id;  /* [added_graphs] */
    struct record_view view;      /* release with store_release_record() */
};

/* What is added and has labels and splits: nodes, or of many graphs these. */
static inline uint32_t dataset_delta_targets(const struct dataset_delta *delta)
{
    return delta->base_graphs ? delta->added_graphs : delta->added_nodes;
}
/* How wide the rows of a node are, one in the delta's own numbers. */
uint32_t dataset_delta_columns(const struct dataset_delta *delta, uint32_t node);
/* The hash of all that the delta says, as text: what the id of its version is made of. */
void dataset_delta_content(const struct dataset_delta *delta, char text[CHECKSUM_TEXT_SIZE]);

MUST_CHECK enum error_code dataset_delta_put(struct store *store, const char *dataset_id,
                                             const struct dataset_delta *delta, struct error *err);
/* Fails: ERROR_NOT_FOUND: the dataset is no version of another; ERROR_CORRUPT naming record, section, expected and found. */
MUST_CHECK enum error_code dataset_delta_get(struct store *store, const char *dataset_id,
                                             struct dataset_delta *out, struct error *err);
/* The checks alone, of a record of any origin. out->view is a copy of `view`, so only one of the two is to be released. */
MUST_CHECK enum error_code dataset_delta_decode(const struct record_view *view,
                                                struct dataset_delta *out, struct error *err);

#endif
