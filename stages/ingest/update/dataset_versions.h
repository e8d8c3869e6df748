/*
 * dataset_versions - a dataset that lives: a further version, and versions that have to be made
 * again.
 *
 * version_chain.h says how versions follow each other. An update is stored in this order: the
 * delta, flushed; the other records of the version, the schema last; the link from its base, by
 * compare-and-set; the switch. An update that is killed at any moment has changed nothing that is
 * read, or everything. The same command goes on, since the id of the version is a hash of the base
 * and of what the files say. Given once more when it is done, it says so and changes nothing. If
 * another update sets the link first, this one is read again as an update of the new version: both
 * are applied, one behind the other, or this one is refused because its files do not fit any more.
 *
 * A version is stored as what is other in it (version_writer.h), or whole when that is much.
 * Records of one that are lost are made again from its base and its delta, as those of the root are
 * from the user's files. A delta that is lost or damaged is made again when the files of its update
 * are given once more.
 */
#ifndef STAGES_INGEST_UPDATE_DATASET_VERSIONS_H
#define STAGES_INGEST_UPDATE_DATASET_VERSIONS_H

#include "common/base/error.h"
#include "stages/plan/pipeline_settings.h"
#include "stages/plan/update_request.h"
#include "store/objects/keys.h"
#include "store/objects/store.h"

#include <stdbool.h>
#include <stdint.h>

/* What versions are made in and with; borrowed. */
struct version_place {
    struct store *store;
    const struct pipeline_settings *settings;
    uint64_t memory_bytes;
    const char *root; /* the dataset that the settings and files make */
};

/* Whether a version, or the root, can be read: it is there, and what it is merged from. Fails:
 * ERROR_CORRUPT when a delta that it needs is lost. */
MUST_CHECK enum error_code dataset_versions_has(const struct version_place *place, const char *id,
                                                bool *found, struct error *err);
/* Makes the records of a version that are not there; `anew`: all, to be compared by a replay. The
 * root has to be there, or *needs_root is set and nothing done. Fails: ERROR_CORRUPT when its delta
 * is lost, too. */
MUST_CHECK enum error_code dataset_versions_restore(const struct version_place *place,
                                                    const char *id, bool anew, bool *needs_root,
                                                    struct error *err);
/* Makes the delta of a version from the files of its update, if the stored one is lost or damaged.
 * *repaired: it was made. */
MUST_CHECK enum error_code dataset_versions_repair(const struct version_place *place,
                                                   const struct update_request *request,
                                                   const char *newest, bool *repaired,
                                                   struct error *err);
/* Call this when version_chain_newest() found two answers. Sets the link to the version that these
 * files make. *settled: they make one of the two. */
MUST_CHECK enum error_code dataset_versions_settle(const struct version_place *place,
                                                   const struct update_request *request,
                                                   bool *settled, struct error *err);
/* Applies the update to the newest version, which is there. *unchanged: that had been done, and id
 * is the newest version; with request->base also when others were made on it since. Fails: as
 * update_reader_run(), with nothing stored; ERROR_INPUT when request->base is another version than
 * the newest. */
MUST_CHECK enum error_code dataset_versions_update(const struct version_place *place,
                                                   const struct update_request *request,
                                                   char id[ID_SIZE], bool *unchanged,
                                                   struct error *err);

#endif
