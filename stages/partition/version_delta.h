/*
 * version_delta - decides whether the parts of a version are written as a delta over those of
 * another version, and finds that delta.
 *
 *   dataset      root <── v1 <── v2 <── v3 <── v4
 *   partition    whole    delta  delta  whole  delta     each delta over the nearest whole
 *                  ^───────┴──────┘       ^──────┘       partition before it
 *
 * A delta has everything that has changed since its base, so readers merge two files and no more,
 * however many updates there were. Parts are written whole, and are the base of later versions, if
 * more has changed than partition.compact of what whole parts take, or if the ids of the nodes that
 * stayed are no longer in the order of the base (nodes were moved, or all were partitioned again).
 *
 * Changes are found by comparison (version_comparison.h), so they do not depend on how the version
 * was made.
 *
 * The record partition/<id>/delta and the manifests say which form a partition has. Once they
 * exist, a partition that is made again has the same form. The ids of the nodes, and what readers
 * see, do not depend on it.
 */
#ifndef STAGES_PARTITION_VERSION_DELTA_H
#define STAGES_PARTITION_VERSION_DELTA_H

#include "common/base/error.h"
#include "stages/partition/layout/part_delta.h"
#include "stages/partition/partition_input.h"
#include "store/records/round/tensor_spec.h"

#include <stdbool.h>

/* The partition whose files the version may use as base. Without ids there is none, and the version
 * is written whole. */
struct delta_base {
    char partition_id[ID_SIZE], dataset_id[ID_SIZE];
    bool is_chosen; /* the version's files are a delta of it already */
    bool is_there;  /* its book is there, so it can be read */
};

/* Looks for the base of the partition `partition_id` of `dataset_id`. Fails: ERROR_CORRUPT if there
 * are files over a base that is none of the versions before. */
MUST_CHECK enum error_code delta_base_find(const struct stage_context *context,
                                           const char *dataset_id, const char *partition_id,
                                           struct delta_base *out, struct error *err);

/* Computes what has changed in `numbering` since `base`, which is there. *is_delta: the parts are
 * written as a delta, and its record (out->record) must be put first. `reads_all` compares all
 * rows, whatever the deltas say, with the same result. Release *out in either case. Fails:
 * ERROR_CORRUPT; ERROR_NO_MEMORY. */
MUST_CHECK enum error_code
version_delta_plan(const struct partition_input *input, const struct delta_base *base,
                   const struct numbering *numbering, enum tensor_type feature_type, bool reads_all,
                   struct part_delta *out, bool *is_delta, struct error *err);

#endif
