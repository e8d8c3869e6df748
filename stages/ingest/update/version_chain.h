/*
 * version_chain - which versions of a dataset follow each other, and the step from one to the next.
 *
 *   ref current/next/<digits of a version> = the version that was made of it     set once, by
 *                                                                                compare-and-set
 *   ref current/version/<digits of the root> = the newest version                follows the links
 *
 * The link decides. Two updates that are made of the same version at the same time both store their
 * version, but only one of them sets the link. The other one is not part of the chain: it is
 * discarded and made again from the version that won.
 *
 * The newest version is found from the ref of the root, then along the links. So an older ref that
 * was put back, a lost ref and a lost link are each harmless. If both are lost, the deltas in the
 * store show which version was made of which. If they allow two answers, the search fails and names
 * both: a guess could lose the newer one.
 */
#ifndef STAGES_INGEST_UPDATE_VERSION_CHAIN_H
#define STAGES_INGEST_UPDATE_VERSION_CHAIN_H

#include "common/base/error.h"
#include "stages/ingest/update/dataset_versions.h"

#include <stdbool.h>
#include <stdint.h>

/* Finds the newest version; the root itself if there is no version. Fails: ERROR_CORRUPT when two
 * versions could be the newest; ERROR_IO. */
MUST_CHECK enum error_code version_chain_newest(const struct version_place *place, char id[ID_SIZE],
                                                struct error *err);
/* Sets *leads to whether the links lead from one version to the other, or the two are the same. */
MUST_CHECK enum error_code version_chain_leads(struct store *store, const char *from,
                                               const char *to, bool *leads, struct error *err);
/* Finds the version where the links end: the newest one unless links are lost. */
MUST_CHECK enum error_code version_chain_last(const struct version_place *place, char id[ID_SIZE],
                                              struct error *err);
/* Finds the version that `id` was made of, and its depth in the chain (1: made of the root). The
 * delta of `id` tells both; if it cannot be read, the links do. *has_delta: the delta was read. If
 * the links are lost, too, *depth is 0, and `base` is the only version that is possible; the caller
 * must then confirm it by the id that the update's files make. */
MUST_CHECK enum error_code version_chain_base(const struct version_place *place, const char *id,
                                              char base[ID_SIZE], uint64_t *depth, bool *has_delta,
                                              struct error *err);
/* Makes `id`, a whole version made of `base`, part of the chain. *lost: another version, `other`,
 * was faster, and nothing has changed. */
MUST_CHECK enum error_code version_chain_claim(const struct version_place *place, const char *base,
                                               const char *id, bool *lost, char other[ID_SIZE],
                                               struct error *err);
/* Sets the links and the ref that lead to `newest`, if they are lost or damaged, or if an older
 * program never set them. */
MUST_CHECK enum error_code version_chain_mend(const struct version_place *place, const char *newest,
                                              struct error *err);

#endif
