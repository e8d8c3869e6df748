/*
 * typed_graph - a graph that comes as one table of nodes for each type and one table of edges for
 * each relation. The tables number nodes within their type. GraphBolt, DistDGL and OGB store graphs
 * this way.
 *
 *   order of calls   new; add_type for all types, add_relation for all relations; declare; then
 *                    edges and the others
 *   types            follow each other in the order of add_type: node 3 of the second type is node
 *                    3 + the number of nodes of the first type
 *   one type, one relation    is a plain graph, the same dataset as from any other format; its
 *                             names are not kept
 *
 * Without ingest.relations features of all types have one width, and nodes of types without
 * features get zeros.
 */
#ifndef STAGES_INGEST_FORMATS_FOLDERS_TYPED_GRAPH_H
#define STAGES_INGEST_FORMATS_FOLDERS_TYPED_GRAPH_H

#include "common/base/error.h"
#include "common/formats/text/delimited.h"
#include "stages/ingest/build/dataset_builder.h"
#include "stages/ingest/formats/columns/integer_column.h"

#include <stdbool.h>
#include <stdint.h>

struct typed_graph;

/* A file whose rows are nodes [first, first + count) of a type: the whole type, or a chunk. */
struct typed_rows {
    uint32_t type;
    uint64_t first, count;
    const char *path; /* borrowed */
};

/* Makes an empty graph. Borrows its arguments until typed_graph_free(). `where` is for messages
 * about types. */
MUST_CHECK enum error_code typed_graph_new(const struct pipeline_settings *settings,
                                           struct dataset_builder *builder, const char *where,
                                           struct typed_graph **out, struct error *err);
void typed_graph_free(struct typed_graph *graph); /* NULL is allowed */

/* Adds a type, or a relation. `relation`: source:name:target, or a name between nodes of the one
 * type; NULL: "edge". Fails: ERROR_INPUT naming `where` and `line` (0: none) for a name that comes
 * twice or is too long, too many names, and a relation whose ends are no types. */
MUST_CHECK enum error_code typed_graph_add_type(struct typed_graph *graph, int64_t line,
                                                const char *name, uint64_t count,
                                                struct error *err);
MUST_CHECK enum error_code typed_graph_add_relation(struct typed_graph *graph, int64_t line,
                                                    const char *relation, struct error *err);
/* Declares the nodes to the builder. */
MUST_CHECK enum error_code typed_graph_declare(struct typed_graph *graph,
                                               enum stated_direction stated, struct error *err);

/* Finds the number of a type; NULL or "" is the only one. Fails: ERROR_INPUT naming `where`, `line`
 * and the existing types. */
MUST_CHECK enum error_code typed_graph_type(const struct typed_graph *graph, int64_t line,
                                            const char *name, uint32_t *type, struct error *err);
uint64_t typed_graph_type_size(const struct typed_graph *graph, uint32_t type);
/* Returns the first node of a type. */
uint64_t typed_graph_type_first(const struct typed_graph *graph, uint32_t type);
/* Returns whether edges have types: there are several types of nodes or of edges. */
bool typed_graph_has_types(const struct typed_graph *graph);
/* Sets the node types of both ends of a relation. */
void typed_graph_relation_ends(const struct typed_graph *graph, uint32_t relation, uint32_t *source,
                               uint32_t *target);

/* Pushes the edges of relation number `relation`: an .npy of [2, edges] or [edges, 2], or text
 * without a header, whose fields `delimiter` separates. */
MUST_CHECK enum error_code typed_graph_push_edges(struct typed_graph *graph, uint32_t relation,
                                                  const char *path, enum delimiter delimiter,
                                                  uint64_t *row_count, struct error *err);
/* Pushes the features in .npy or text files [count], which cover the types that they belong to. */
MUST_CHECK enum error_code typed_graph_push_features(const struct typed_graph *graph,
                                                     const struct typed_rows *files, uint32_t count,
                                                     struct error *err);
/* Takes labels: row i of an .npy belongs to node `node[i]` of the type; with `node` NULL to node
 * rows->first + i, and the file may be text. typed_graph_push_targets() pushes them. */
MUST_CHECK enum error_code typed_graph_take_labels(struct typed_graph *graph,
                                                   const struct typed_rows *rows,
                                                   const struct integer_column *node,
                                                   struct error *err);
/* Takes the label of node `row` of a type, in the text `label`: a number, or several separated by
 * commas. */
MUST_CHECK enum error_code typed_graph_take_label(struct typed_graph *graph, uint32_t type,
                                                  uint64_t row, const struct field *label,
                                                  const char *where, int64_t line,
                                                  struct error *err);
/* Takes nodes of a split, `node` [count] of `type`; `where` and first_line are for messages. */
MUST_CHECK enum error_code typed_graph_take_split(struct typed_graph *graph, uint32_t type,
                                                  enum split split, const char *where,
                                                  int64_t first_line, const int64_t *node,
                                                  uint64_t count, struct error *err);
/* Does the same for a file of 0 and 1 (or false and true), a row a node. */
MUST_CHECK enum error_code typed_graph_take_mask(struct typed_graph *graph,
                                                 const struct typed_rows *rows, enum split split,
                                                 struct error *err);
/* Pushes the labels and splits taken before, and held-out edges that settings name. */
MUST_CHECK enum error_code typed_graph_push_targets(struct typed_graph *graph, struct error *err);

#endif
