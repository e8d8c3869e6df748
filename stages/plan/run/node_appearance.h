/*
 * node_appearance - when the nodes of a partition appear, for whoever draws or infers by times.
 */
#ifndef STAGES_PLAN_RUN_NODE_APPEARANCE_H
#define STAGES_PLAN_RUN_NODE_APPEARANCE_H

#include "stages/plan/settings/pipeline_settings.h"
#include "store/objects/store.h"
#include "store/records/partition/partition_book.h"
#include "store/topology/topology.h"

/* Gives the topology the times of its nodes (topology->node_time), if the settings name some.
 * Takes 8 bytes a node, and as much again meanwhile. Owns: *times [book->node_count], or NULL;
 * memory_free(). Fails: ERROR_NOT_FOUND; ERROR_CORRUPT; ERROR_NO_MEMORY. */
MUST_CHECK enum error_code node_appearance_open(const struct pipeline_settings *settings,
                                                struct store *store,
                                                const struct partition_book *book,
                                                struct topology *topology, int64_t **times,
                                                struct error *err);

#endif
