/*
 * sparse_optimizer - the rows of a learnable embedding: their first values, and the update of those that a round touched.
 *
 * A row that no round touched is never stored: its values are a function of seed, node type and node id, drawn by Philox,
 * so that nobody goes over all rows before training begins.
 *
 * The rules are lazy, as in dgl.optim.SparseAdam and SparseAdagrad: a round changes the rows that were an input of its
 * mini-batches, also where the gradient is zero, and no others; so moments of the others do not decay. t of Adam's
 * bias correction counts the updates of the row itself, not the steps of the run. There is no weight decay and no
 * clipping.
 *
 *   sgd       w = w - lr g
 *   adagrad   s = s + g g            w = w - lr g / (sqrt(s) + eps)                  (Duchi, Hazan and Singer, 2011)
 *   adam      t = t + 1, m and v as in optimizer.h, w = w - lr / (1 - b1^t) m / (sqrt(v) / sqrt(1 - b2^t) + eps)
 *
 * In single precision element by element, so that any machine and any thread count gives the same bits.
 */
#ifndef COMMON_NN_SPARSE_OPTIMIZER_H
#define COMMON_NN_SPARSE_OPTIMIZER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Choices of aggregate.embedding_optimizer: never renumber. */
enum sparse_rule { SPARSE_ADAM, SPARSE_ADAGRAD, SPARSE_SGD, SPARSE_RULE_COUNT };

/* Arrays of the row's width that the rule keeps beside the values: 0, 1 or 2. */
int sparse_rule_moments(enum sparse_rule rule);
/* Whether it counts the updates of a row. */
bool sparse_rule_counts_updates(enum sparse_rule rule);

/* First values of the row of `node`, of nodes of type `type` (< 65536): uniform in +-1 / sqrt(width). out [width] */
void sparse_first_values(uint64_t seed, uint32_t type, uint32_t node, size_t width, float *out);

/* One update of one row, the `update`-th that it gets (from 1). value [width] and, as far as the rule keeps them, first
 * [width] and second [width] are changed in place; they begin as 0. `gradient` [width] may be written over. */
void sparse_update_row(enum sparse_rule rule, double rate, uint32_t update, size_t width,
                       float *value, float *gradient, float *first, float *second);

#endif
