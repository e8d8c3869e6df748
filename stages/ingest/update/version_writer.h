/*
 * version_writer - stores a version of a dataset, as its changes or whole.
 *
 *   base (whole) <── delta <── delta = version
 *        ──> merged: dataset/<id>/merge, dataset/<id>/schema
 *        ──> whole:  dataset/<id>/edges/..., features/..., labels, ..., schema
 *
 * A version equals what ingest makes of the whole graph if it reads the nodes (of each type) and
 * edges in this order: those of the base that stay, then the added ones. Chunks of edges, labels,
 * splits and ids have the same bytes. Features have the same bytes, too, with one exception: if
 * they are scaled (normalise_rows, standardise), a version keeps the statistics of its root,
 * because a model that was trained on the root needs them, whereas ingest would compute new ones.
 * Held-out links stay held out; they are those that ingest would draw as long as no node was
 * removed.
 *
 * A merged version has two small records beside the delta, which has all changes, so an update
 * writes as much as it changes. Readers compute the version's other records
 * (store/versions/merged_records.h). Features that ingest makes (degrees, random numbers) may
 * change for every node, so both forms store them.
 */
#ifndef STAGES_INGEST_UPDATE_VERSION_WRITER_H
#define STAGES_INGEST_UPDATE_VERSION_WRITER_H

#include "common/base/error.h"
#include "stages/ingest/update/living_nodes.h"
#include "stages/ingest/update/update_paths.h"
#include "stages/plan/settings/pipeline_settings.h"
#include "store/objects/store.h"
#include "store/records/dataset/dataset_delta.h"

#include <stdint.h>

/* The largest number of deltas between a version and the whole one that it is merged from. Each
 * delta is a record to be read. */
enum { MERGED_DEPTH_MAX = 256 };

enum version_form {
    /* merged, unless its deltas have more than partition.compact of the bytes of its dataset, or
     * there are more than MERGED_DEPTH_MAX of them; a version that is merged already stays so */
    VERSION_AS_FITS,
    VERSION_MERGED,
    VERSION_WHOLE
};

/* The files that an update was read from, for messages about lines that were accepted before. */
struct update_places {
    const struct update_paths *paths;
    const int64_t *edge_place; /* [edges of the delta] in `paths` */
    const struct living_nodes *nodes;
    const char *removal; /* the file of removals; NULL: nothing is removed */
};

/* Stores a version. `settings` are those that the root was made with. A chunk that is written whole
 * and needs more than `memory_bytes` is refused. `delta` is stored already. The schema is stored
 * last, because a version with a schema is complete. Existing records are not replaced. `places`
 * belongs to a delta that was read just now; it is NULL for one that was accepted before. Fails:
 * ERROR_INPUT if ingest.duplicates refuses an added edge, or no edge is left to train on, naming
 * the place; ERROR_CORRUPT; ERROR_NO_MEMORY, ERROR_IO, ERROR_UNAVAILABLE. */
MUST_CHECK enum error_code
version_writer_run(struct store *store, const struct pipeline_settings *settings,
                   const char *dataset_id, const struct dataset_delta *delta,
                   const struct update_places *places, enum version_form form,
                   uint64_t memory_bytes, struct error *err);

#endif
