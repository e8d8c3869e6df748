/*
 * dataset_versions - a dataset that changes: makes a further version, and makes versions again
 * whose records are lost.
 *
 * version_chain.h says how versions follow each other. An update is stored in this order: the
 * delta, flushed; the other records of the version, the schema last; the link from its base, by
 * compare-and-set; the ref. If an update is killed at any moment, readers see either the whole
 * update or nothing of it. The same command then continues, because the id of the version is a hash
 * of the base and of the content of the files. If the command is given again when the update is
 * complete, it reports that and changes nothing. If another update sets the link first, the files
 * are read again as an update of the new version: then both are applied, one after the other, or
 * this one is refused because its files do not fit any more.
 *
 * A version is stored as its changes (version_writer.h), or whole if there are many changes. Lost
 * records of a version are made again from its base and its delta, and those of the root from the
 * user's files. A lost or damaged delta is made again when the files of its update are given once
 * more.
 */
#ifndef STAGES_INGEST_UPDATE_DATASET_VERSIONS_H
#define STAGES_INGEST_UPDATE_DATASET_VERSIONS_H

#include "common/base/error.h"
#include "stages/plan/settings/pipeline_settings.h"
#include "stages/plan/settings/update_request.h"
#include "store/objects/keys.h"
#include "store/objects/store.h"

#include <stdbool.h>
#include <stdint.h>

/* The place and the settings in which versions are made; borrowed. */
struct version_place {
    struct store *store;
    const struct pipeline_settings *settings;
    uint64_t memory_bytes;
    const char *root; /* the dataset that the settings and files make */
};

/* Sets *found to whether a version, or the root, can be read: its records exist, and those that it
 * is merged from. Fails: ERROR_CORRUPT when a delta that it needs is lost. */
MUST_CHECK enum error_code dataset_versions_has(const struct version_place *place, const char *id,
                                                bool *found, struct error *err);
/* Makes the missing records of a version; `anew`: all of them, for a replay to compare. If the root
 * does not exist, sets *needs_root and does nothing. Fails: ERROR_CORRUPT when the version's delta
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
/* Sets the link to the version that these files make. Call it when version_chain_newest() found two
 * answers. *settled: the files make one of the two. */
MUST_CHECK enum error_code dataset_versions_settle(const struct version_place *place,
                                                   const struct update_request *request,
                                                   bool *settled, struct error *err);
/* Applies the update to the newest version, which must exist. *unchanged: the update had been
 * applied before, and id is the newest version; with request->base this holds also if other
 * versions were made since. Fails: as update_reader_run(), with nothing stored; ERROR_INPUT when
 * request->base is another version than the newest. */
MUST_CHECK enum error_code dataset_versions_update(const struct version_place *place,
                                                   const struct update_request *request,
                                                   char id[ID_SIZE], bool *unchanged,
                                                   struct error *err);

#endif
