/*
 * declared_types - the node types and edge types that an input declares, in the schema of a dataset.
 *
 * With ingest.relations they are told apart from here on: an edge type is a relation from one node type to one, and
 * labels and splits are of one type, the target type. With ingest.add_reverse each relation <name> has a reverse behind
 * all others, rev_<name> as PyG's ToUndirected calls it (with merge=False: also of a relation inside one type), whose
 * edges are its edges the other way, with all their columns.
 *
 * Where each edge stands for both directions and there are no reverses, it is stored twice in its own relation, which
 * a relation inside one type alone can have.
 */
#ifndef STAGES_INGEST_BUILD_DECLARED_TYPES_H
#define STAGES_INGEST_BUILD_DECLARED_TYPES_H

#include "common/base/error.h"
#include "stages/ingest/build/node_targets.h"
#include "stages/plan/pipeline_settings.h"
#include "store/records/dataset_schema.h"

#include <stdint.h>

struct declared_types {                /* borrowed */
    const struct node_type *node_type; /* consecutive */
    const struct edge_type *edge_type;
    uint32_t node_type_count, edge_type_count;
};

/* Checks them and puts them into the schema, whose node_count, has_relations and `undirected` are set.
 * Fails: ERROR_INPUT naming the type, what was expected and found; ERROR_INVALID naming the setting and the relation
 * that do not go together. */
MUST_CHECK enum error_code declared_types_take(const struct declared_types *types,
                                               const struct pipeline_settings *settings,
                                               struct dataset_schema *schema, struct error *err);
/* Finds schema->target_type: that of all labelled nodes, and of all nodes in splits, which ingest.target_type may name.
 * Fails: ERROR_INPUT naming two nodes of different types, or one that is not of that type; ERROR_INVALID when there is no such
 * type. */
MUST_CHECK enum error_code declared_types_find_target(const struct node_targets *targets,
                                                      const struct pipeline_settings *settings,
                                                      struct dataset_schema *schema,
                                                      struct error *err);

#endif
