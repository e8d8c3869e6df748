/*
 * version_delta - whether the parts of a version are written as what has changed since other ones that are there, and what that is.
 *
 *   dataset      root <── v1 <── v2 <── v3 <── v4
 *   partition    whole    delta  delta  whole  delta       each delta over the nearest whole one before it
 *                  ^───────┴──────┘       ^──────┘
 *
 * A delta has all that has changed since its base, so readers put two files together and no more, however many updates there were. When
 * what has changed comes to more than partition.compact of what a whole one would take, or the ids of the nodes that stayed are not in
 * the order of the base any more (moved, or all partitioned again), parts are written whole, and are the base of those that follow.
 *
 * What has changed is found by comparing (version_comparison.h), and so it does not matter how the version came about.
 *
 * The form is in the record partition/<id>/delta and in the seals. Once there are any, a partition that is made again has the same one. The ids
 * of the nodes, and what readers see, do not depend on it.
 */
#ifndef STAGES_PARTITION_VERSION_DELTA_H
#define STAGES_PARTITION_VERSION_DELTA_H

#include "common/base/error.h"
#include "stages/partition/layout/part_delta.h"
#include "stages/partition/partition_input.h"
#include "store/records/tensor_spec.h"

#include <stdbool.h>

/* The partition whose files a version's may use; no ids: none, it is written whole. */
struct delta_base {
    char partition_id[ID_SIZE], dataset_id[ID_SIZE];
    bool is_chosen; /* the version's files are a delta of it already */
    bool is_there;  /* its book is: it can be read */
};

/* Looks for it, from the partition `partition_id` of `dataset_id`. Fails: ERROR_CORRUPT when there are files over a base that is none of the
 * versions before. */
MUST_CHECK enum error_code delta_base_find(const struct stage_context *context,
                                           const char *dataset_id, const char *partition_id,
                                           struct delta_base *out, struct error *err);

/* What is new or other in `numbering` since `base`, which is there. *is_delta: the parts are to be written so, and the record of it
 * (out->record) is to be put first. `reads_all`: compares all rows,
 * whatever deltas say; the same comes out. Release *out in either case. Fails: ERROR_CORRUPT; ERROR_NO_MEMORY. */
MUST_CHECK enum error_code
version_delta_plan(const struct partition_input *input, const struct delta_base *base,
                   const struct numbering *numbering, enum tensor_type feature_type, bool reads_all,
                   struct part_delta *out, bool *is_delta, struct error *err);

#endif
