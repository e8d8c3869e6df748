/*
 * relation_rows - the rows of each relation that have edges.
 *
 * A block may give a relation a row for every destination. Layers work on those with edges alone: where there are many
 * relations, most destinations have edges of few.
 */
#ifndef COMMON_NN_TYPED_RELATION_ROWS_H
#define COMMON_NN_TYPED_RELATION_ROWS_H

#include "common/base/arena.h"
#include "common/base/error.h"
#include "common/graph/relation_block.h"

/* [relations] in the arena, `row` there in each; neighbours and values of edges are those of the block. */
MUST_CHECK enum error_code relation_rows_find(const struct relation_schema *schema,
                                              const struct relation_block *block,
                                              struct arena *arena,
                                              const struct relation_edges **out, struct error *err);

/* The first of the rows whose destination is at least `destination`. */
uint32_t relation_rows_from(const struct relation_edges *edges, uint32_t destination);

#endif
