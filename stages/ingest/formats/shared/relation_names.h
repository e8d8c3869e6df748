/*
 * relation_names - the relations of an input between nodes of one type, by number or by the names
 * that the input gives them.
 */
#ifndef STAGES_INGEST_FORMATS_SHARED_RELATION_NAMES_H
#define STAGES_INGEST_FORMATS_SHARED_RELATION_NAMES_H

#include "common/base/error.h"
#include "stages/ingest/build/dataset_builder.h"

#include <stdint.h>

/* Declares `count` relations among `node_count` nodes to the builder, if there are several; one
 * relation is a plain graph. `names`: the names by number, or NULL for edge-0, edge-1, ... `where`
 * is for messages. Fails: ERROR_INPUT for too many relations, or a name that is empty or too
 * long. */
MUST_CHECK enum error_code relation_names_set(const struct node_ids *names, uint64_t count,
                                              uint64_t node_count, const char *where,
                                              struct dataset_builder *builder, struct error *err);

#endif
