/*
 * declared_types - the node types and edge types that an input declares, in the schema of a
 * dataset.
 *
 * With ingest.relations the types stay apart from here on: an edge type is a relation from one node
 * type to one node type, and labels and splits belong to one type, the target type. With
 * ingest.add_reverse each relation <name> has a reverse, which stands after all given relations and
 * is called rev_<name>, the name that PyG's ToUndirected gives it (with merge=False: a relation
 * inside one type gets a reverse, too). The edges of the reverse are the edges of the relation
 * turned round, with all their columns.
 *
 * If each edge stands for both directions and there are no reverses, the edge is stored twice in
 * its own relation. Only a relation inside one node type can do that.
 */
#ifndef STAGES_INGEST_BUILD_NODES_DECLARED_TYPES_H
#define STAGES_INGEST_BUILD_NODES_DECLARED_TYPES_H

#include "common/base/error.h"
#include "stages/ingest/build/nodes/node_targets.h"
#include "stages/plan/settings/pipeline_settings.h"
#include "store/records/dataset/dataset_schema.h"

#include <stdint.h>

struct declared_types {                /* borrowed */
    const struct node_type *node_type; /* consecutive ranges */
    const struct edge_type *edge_type;
    uint32_t node_type_count, edge_type_count;
};

/* Checks the types and puts them into the schema, whose node_count, has_relations and `undirected`
 * are set. Fails: ERROR_INPUT naming the type, what was expected and found; ERROR_INVALID naming
 * the setting and the relation that exclude each other. */
MUST_CHECK enum error_code declared_types_take(const struct declared_types *types,
                                               const struct pipeline_settings *settings,
                                               struct dataset_schema *schema, struct error *err);
/* Finds schema->target_type: the type of all labelled nodes and of all nodes in splits.
 * ingest.target_type may name it. Fails: ERROR_INPUT naming two nodes of different types, or one
 * that is not of the named type; ERROR_INVALID when there is no such type. */
MUST_CHECK enum error_code declared_types_find_target(const struct node_targets *targets,
                                                      const struct pipeline_settings *settings,
                                                      struct dataset_schema *schema,
                                                      struct error *err);

#endif
