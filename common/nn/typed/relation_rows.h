/*
 * relation_rows - the rows of each relation that have edges.
 *
 * A block may give a relation a row for every destination. Layers process only rows with edges:
 * with many relations, most destinations have edges of only a few.
 */
#ifndef COMMON_NN_TYPED_RELATION_ROWS_H
#define COMMON_NN_TYPED_RELATION_ROWS_H

#include "common/base/arena.h"
#include "common/base/error.h"
#include "common/graph/relation_block.h"

/* Finds these rows, [relations] in the arena, each with `row` set; neighbours and values of edges
 * are those of the block. */
MUST_CHECK enum error_code relation_rows_find(const struct relation_schema *schema,
                                              const struct relation_block *block,
                                              struct arena *arena,
                                              const struct relation_edges **out, struct error *err);

/* Returns the first row whose destination is at least `destination`. */
uint32_t relation_rows_from(const struct relation_edges *edges, uint32_t destination);

#endif
