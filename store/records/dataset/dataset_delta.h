/*
 * dataset_delta - what an update changes of a dataset: all facts about a version that its base does
 * not have.
 *
 * A dataset that is updated is a chain of versions. The first, the root, was read from the user's
 * files by ingest. Each later version is a dataset with an id of its own, whose delta names the
 * version before it:
 *
 *   root <── delta ── version 1 <── delta ── version 2
 *
 * The switch current/version/<digits of the root> names the last of them.
 *
 * ingest (stages/ingest/update) writes and flushes it before any other record of the version.
 * Readers of a merged version read it (dataset_merge.h), and so does ingest when it makes the
 * records of a whole version, or makes them again. The user's files of the update are not needed
 * after that.
 *
 *   key       dataset/<id>/delta; the digits of <id> are a hash of those of the base and of this
 *             content
 *   sections  "base", "root"  text: ids of datasets
 *             "facts"         U64 [5]: depth (1 after the root), nodes of the base, nodes added,
 *                             label width, feature columns
 *             "gone_node"     U32, ascending: nodes of the base that are removed, with all their
 *                             edges
 *             "gone_source", "gone_target" U32: edges of the base that are removed: all edges with
 *                             these ends; ascending by target, then source
 *             "source", "target" U32, and edge columns (edge_sections.h): edges that are added, in
 *                             the order of the input
 *             "new_held"      U8 [edges added], in a task of links if some are held out: 0 for
 *                             training, else 1 + enum held_out; such an edge is in no row
 *             "negative_weight" text: the place in the input of the first added edge with a weight
 *                             below 0, if there is one. It is not hashed into the id, because it
 *                             has the name of a file
 *             "new_id" I64 [added], or "new_id_offset" U64 [added + 1] and "new_id_text" U8: the
 *                             user's ids of added nodes
 *             "new_label"     U32 [added, label width]: as in node_labels.h
 *             "new_split"     U8 [added]: 0 for none, else 1 + enum split
 *             "row_node" U32, "row" F32 [rows, columns]: features of added nodes, and new features
 *                             of others, measured as in the dataset
 *   valid     nodes of the base are below their number, and added ones follow them (base_nodes +
 *             i); no new edge or row belongs to a removed node; "new_id_offset" ascends; the base
 *             is not the version itself
 *   version   1; 2 with "new_held"; 3 with several types of nodes or edges: "facts" has a sixth
 *             number, the relations, which is 0 if edges have one type (or no column has their
 *             type, so that all are of relation 0). With several node types there is also
 *             "node_types" U32 [3, types]: for each type the nodes of the base; the added nodes,
 *                             which are sorted by type; the feature columns, which are the width of
 *                             its rows
 *             and with relations, which the column EDGE_TYPE of added edges then has,
 *             "gone_relation" U16 [removed edges]: all edges of this relation with the same ends
 *                             are removed; ascending by target, source, relation
 *             4 in a dataset of many graphs (graph_index.h): "facts" and, with several types, the
 *             sections of version 3, and
 *             "graphs"       U64 [2]: graphs of the base, and graphs added
 *             "gone_graph"   U32, ascending: graphs of the base whose last node is removed
 *             "new_graph_id" I64 [graphs added]: the user's ids
 *             "new_graph_of" U32 [nodes added]: the graph of each node: a graph of the base that
 *                            stays, or behind those an added graph; each added graph has a node
 *             "new_label" and "new_split" then belong to added graphs instead of nodes
 *
 * NUMBERS OF A VERSION. Datasets number nodes type by type, in the order of the schema. In a
 * version the nodes of each type are the remaining nodes of the base in their order, and then the
 * added ones in theirs. So with one type all added nodes come last. store/versions/delta_numbers.h
 * converts between the two numberings. Graphs are numbered in the same way.
 *
 * With ingest.add_reverse, added and removed edges of relations with reverses include both
 * directions: first all edges of the input, then their reverses. A reader need only know that a
 * reverse in "new_held" is in no row, and in no list of held-out edges either.
 */
#ifndef STORE_RECORDS_DATASET_DATASET_DELTA_H
#define STORE_RECORDS_DATASET_DATASET_DELTA_H

#include "common/base/error.h"
#include "common/files/checksum.h"
#include "common/graph/edge_column.h"
#include "store/objects/store.h"
#include "store/records/dataset/node_ids.h"

#include <stdint.h>

/* A writer fills the fields that apply and leaves `view` zero. */
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
    char negative_weight[128]; /* "edges.csv:17", or the end of a longer place; "": there is none */
    const uint8_t *new_held;   /* [added_edges]; NULL: none is held out */
    struct node_ids new_ids;   /* of added nodes; its own view is not used */
    const uint32_t *new_label; /* [dataset_delta_targets(), label_width] */
    const uint8_t *new_split;  /* [dataset_delta_targets()] */
    const uint32_t *row_node;  /* [rows] */
    const float *row;          /* [rows, feature_dim], or as wide as columns_of_type says */
    uint32_t type_count;       /* of nodes; 0: one, and the next three are NULL */
    const uint32_t *base_of_type;    /* [type_count] nodes of the base of each */
    const uint32_t *added_of_type;   /* [type_count] */
    const uint32_t *columns_of_type; /* [type_count] */
    uint32_t relation_count;         /* 0: one, and gone_relation is NULL */
    const uint16_t *gone_relation;   /* [gone_edges] */
    uint32_t base_graphs;            /* in a dataset of many graphs; else 0, as the next five */
    uint32_t gone_graphs, added_graphs;
    const uint32_t *gone_graph;   /* [gone_graphs] */
    const uint32_t *new_graph_of; /* [added_nodes] */
    const int64_t *new_graph_id;  /* [added_graphs] */
    struct record_view view;      /* release with store_release_record() */
};

/* Returns the number of added nodes, or in a dataset of many graphs of added graphs: these have
 * labels and splits. */
static inline uint32_t dataset_delta_targets(const struct dataset_delta *delta)
{
    return delta->base_graphs ? delta->added_graphs : delta->added_nodes;
}
/* Returns the width of the rows of a node, which has its number in the delta. */
uint32_t dataset_delta_columns(const struct dataset_delta *delta, uint32_t node);
/* Writes the hash of the content as text. The id of the version is computed from it. */
void dataset_delta_content(const struct dataset_delta *delta, char text[CHECKSUM_TEXT_SIZE]);

MUST_CHECK enum error_code dataset_delta_put(struct store *store, const char *dataset_id,
                                             const struct dataset_delta *delta, struct error *err);
/* Fails: ERROR_NOT_FOUND if the dataset is no version of another; ERROR_CORRUPT naming record,
 * section, expected and found. */
MUST_CHECK enum error_code dataset_delta_get(struct store *store, const char *dataset_id,
                                             struct dataset_delta *out, struct error *err);
/* Checks and reads a record that is in memory. out->view is a copy of `view`, so only one of the
 * two is to be released. */
MUST_CHECK enum error_code dataset_delta_decode(const struct record_view *view,
                                                struct dataset_delta *out, struct error *err);

#endif
