/*
 * batch_form - what each layer of a mini-batch computes, and the checks that edges stay within
 * that.
 *
 *   form       hop_end                     rows, and the sources that they may have
 *   NESTED     ascending                   one for each node below hop_end[hops - 1]; one that is
 *                                          below hop_end[h] has its sources below hop_end[h + 1]
 *   LAYERED    ascending                   for each hop h, from the seeds on, hop_end[h] rows of
 *                                          its own, with sources below hop_end[h + 1]
 *   SUBGRAPH   seeds, then all nodes       one for each node, with any sources (none with no hops)
 *
 * Layer l of L computes the rows of hop L - 1 - l. In a SUBGRAPH each layer computes all nodes,
 * except the last, which computes the seeds.
 *
 * With several relations this holds for each type: the rows of a relation belong to its target
 * type, their sources to its source type, and rows without edges are left out (mini_batch.row).
 */
#ifndef STORE_RECORDS_BATCH_BATCH_FORM_H
#define STORE_RECORDS_BATCH_BATCH_FORM_H

#include "common/base/error.h"
#include "store/records/batch/mini_batch.h"

/* Returns the rows of a batch that does not list them; form, hops and hop_end must be set. Above
 * 2^32 - 1 there are too many. */
uint64_t batch_form_rows(const struct mini_batch *batch);
/* Returns the node of row `row` of the relation, as an index among the nodes of the target type. */
uint32_t batch_form_node_of_row(const struct mini_batch *batch, uint32_t relation, uint32_t row);
/* Checks hop_end. Fails: ERROR_CORRUPT naming the element of hop_end. */
MUST_CHECK enum error_code batch_form_check_hops(const struct mini_batch *batch, struct error *err);
/* Checks a batch that lists its rows. Fails: ERROR_CORRUPT naming the element of row. */
MUST_CHECK enum error_code batch_form_check_rows(const struct mini_batch *batch, struct error *err);
/* Checks the neighbours of all rows. Fails: ERROR_CORRUPT naming the element of neighbor, or of
 * degree if rows are listed. */
MUST_CHECK enum error_code batch_form_check_neighbors(const struct mini_batch *batch,
                                                      struct error *err);
/* For a batch with seed_of, checks that every node belongs to a seed, that the seeds belong to
 * themselves, and that no edge joins nodes of two seeds. Fails: ERROR_CORRUPT naming the
 * element. */
MUST_CHECK enum error_code batch_form_check_disjoint(const struct mini_batch *batch,
                                                     struct error *err);

#endif
