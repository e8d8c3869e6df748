/*
 * negative_list - the sources of negatives (pairs that are no edges): one row each.
 *
 * ROW(number, name, help): the number in this program, the name in sample.negative; the help becomes that of the setting.
 */
#ifndef STAGES_SAMPLING_NEGATIVE_LIST_H
#define STAGES_SAMPLING_NEGATIVE_LIST_H

/* clang-format off */
#define NEGATIVE_LIST(ROW)                                                                         \
    ROW(NEGATIVE_UNIFORM, uniform, "any node (of the right side or type)")                         \
    ROW(NEGATIVE_DEGREE, degree, "a node by its in-degree to the power of 3/4")                    \
    ROW(NEGATIVE_IN_BATCH, in_batch, "the ends of other edges of the mini-batch")                  \
    ROW(NEGATIVE_SHARED, shared,                                                                   \
        "nodes that all edges of the mini-batch share, any ones: the quickest where there "        \
        "are many, with dot and distmult, whose scores of them are products of matrices")          \
    ROW(NEGATIVE_GIVEN, given,                                                                     \
        "those of the edge in the file ingest.train_negatives, one after the other from a "        \
        "drawn one on; of an edge without a line any node")
/* clang-format on */

#define NEGATIVE_NUMBER(number, name, help) number,
enum negative_kind { NEGATIVE_LIST(NEGATIVE_NUMBER) NEGATIVE_COUNT };
#undef NEGATIVE_NUMBER

#endif
