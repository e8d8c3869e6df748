/*
 * sparse_optimizer - the rows of a learnable embedding: their first values, and the update of the
 * rows that a round touched.
 *
 * A row that no round touched is never stored. Its values are a function of seed, node type and
 * node id, drawn by Philox, so training can begin without writing all rows.
 *
 * The rules are lazy, as in dgl.optim.SparseAdam and SparseAdagrad: a round changes exactly the
 * rows that were an input of its mini-batches, even if their gradient is zero. So moments of other
 * rows do not decay. In Adam's bias correction, t counts the updates of the row itself, not the
 * steps of the run. There is no weight decay and no clipping.
 *
 *   sgd       w = w - lr g
 *   adagrad   s = s + g g            w = w - lr g / (sqrt(s) + eps)
 *             (Duchi, Hazan and Singer, 2011)
 *   adam      t = t + 1, m and v as in optimizer.h,
 *             w = w - lr / (1 - b1^t) m / (sqrt(v) / sqrt(1 - b2^t) + eps)
 *
 * All in single precision element by element, so that every machine and every thread count gives
 * the same bits.
 */
#ifndef COMMON_NN_SPARSE_OPTIMIZER_H
#define COMMON_NN_SPARSE_OPTIMIZER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The choices of aggregate.embedding_optimizer. They are stored: never renumber. */
enum sparse_rule { SPARSE_ADAM, SPARSE_ADAGRAD, SPARSE_SGD, SPARSE_RULE_COUNT };

/* Returns how many arrays of the row's width the rule keeps beside the values: 0, 1 or 2. */
int sparse_rule_moments(enum sparse_rule rule);
/* Returns whether the rule counts the updates of a row. */
bool sparse_rule_counts_updates(enum sparse_rule rule);

/* Draws the first values of the row of `node`, of type `type` (< 65536): uniform in +-1 /
 * sqrt(width). out [width] */
void sparse_first_values(uint64_t seed, uint32_t type, uint32_t node, size_t width, float *out);

/* Applies one update to one row, the `update`-th of that row (from 1). Changes in place value
 * [width] and the moments that the rule keeps, first [width] and second [width], which begin as 0.
 * May overwrite `gradient` [width]. */
void sparse_update_row(enum sparse_rule rule, double rate, uint32_t update, size_t width,
                       float *value, float *gradient, float *first, float *second);

#endif
