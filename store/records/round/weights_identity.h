/*
 * weights_identity - which weights something was computed with, in the seals of what infer makes.
 *
 * Layers and outputs of one run may be made with the best weights or with the last ones. A version
 * alone would do while all is well; the hash tells weights apart that should be the same and are
 * not.
 *
 *   sections  "weights"     I64 [2]  version of the weights, version of the snapshot they were read
 *                                    from
 *             "weights_sum" U8 [16]  XXH3-128 of their values
 */
#ifndef STORE_RECORDS_ROUND_WEIGHTS_IDENTITY_H
#define STORE_RECORDS_ROUND_WEIGHTS_IDENTITY_H

#include "common/base/error.h"
#include "common/files/checksum.h"
#include "store/objects/record.h"
#include "store/objects/store.h"
#include "store/records/round/snapshot.h"

#include <stdbool.h>
#include <stdint.h>

struct weights_identity {
    int64_t version;
    /* The snapshot that ended the run; it may be later than the best weights. */
    int64_t snapshot_version;
    struct checksum sum;
};

/* Adds both sections, which borrow from `identity` until the record is put. */
void weights_identity_add(struct record *record, const struct weights_identity *identity);
/* Fails: ERROR_CORRUPT naming the record. */
MUST_CHECK enum error_code weights_identity_get(const struct record_view *view,
                                                struct weights_identity *out, struct error *err);
/* The check alone, of sections that were read. Fails: ERROR_CORRUPT naming the record. */
MUST_CHECK enum error_code weights_identity_check_order(const struct record_view *view,
                                                        const struct weights_identity *identity,
                                                        struct error *err);
/* Fails: ERROR_CORRUPT with both, as what `what` was computed with. */
MUST_CHECK enum error_code weights_identity_check(const struct weights_identity *expected,
                                                  const struct weights_identity *found,
                                                  const char *what, struct error *err);

/* Returns the identity of a snapshot's weights, the best so far or its own; *value points to
 * them. */
struct weights_identity weights_identity_of(const struct snapshot *snapshot, bool best,
                                            const float **value);
/* Compares the identity with the snapshot that it names, unless that is gone or damaged. Fails:
 * ERROR_CORRUPT as weights_identity_check(); ERROR_IO. */
MUST_CHECK enum error_code weights_identity_verify(struct store *store, const char *run_id,
                                                   const struct weights_identity *identity,
                                                   const char *what, struct error *err);

#endif
