/*
 * version_writer - a version of a dataset, stored as what is other in it or whole.
 *
 *   base (whole) <── delta <── delta = version ──> dataset/<id>/merge, dataset/<id>/schema                      merged
 *                                              ──> dataset/<id>/edges/..., features/..., labels, ..., schema    whole
 *
 * It is what ingest makes of the whole graph, read from nothing with the nodes (of each type) and edges in this order: those of the base that
 * stay, then those that are added. Chunks of edges, labels, splits and ids have the same bytes. So have features; where they
 * are scaled (normalise_rows, standardise), a version keeps the measure of its root, as a model that was trained on it needs,
 * where ingest would measure anew. Links that are held out stay so, and are what ingest would draw while no node was removed.
 *
 * Merged, two small records stand beside the delta, which says all that changes: so an update writes as much as it changes. What the
 * version's other records would hold is made by whoever reads them (store/versions/merged_records.h). Features that ingest makes (degrees,
 * random numbers) may be other for every node: they are written in both forms.
 */
#ifndef STAGES_INGEST_UPDATE_VERSION_WRITER_H
#define STAGES_INGEST_UPDATE_VERSION_WRITER_H

#include "common/base/error.h"
#include "stages/ingest/update/living_nodes.h"
#include "stages/ingest/update/update_paths.h"
#include "stages/plan/pipeline_settings.h"
#include "store/objects/store.h"
#include "store/records/dataset_delta.h"

#include <stdint.h>

/* Deltas between a version and what it is merged from, at most: each is a record to be read. */
enum { MERGED_DEPTH_MAX = 256 };

enum version_form {
    VERSION_AS_FITS, /* merged, unless its deltas come to more than partition.compact of the bytes of its dataset, or there are more than
                        MERGED_DEPTH_MAX of them; one that is merged already stays so */
    VERSION_MERGED,
    VERSION_WHOLE
};

/* Where an update was read from, for messages about what was accepted line by line. */
struct update_places {
    const struct update_paths *paths;
    const int64_t *edge_place; /* [edges of the delta] in `paths` */
    const struct living_nodes *nodes;
    const char *removal; /* a file of what goes; NULL: nothing does */
};

/* `settings`: those that the root was made with. Above `memory_bytes` a chunk that is written whole is refused. `delta` is stored. The schema is stored last. Replaces nothing that is there. `places` of a delta that was read just now; NULL of
 * one that was accepted before. Fails: ERROR_INPUT where ingest.duplicates refuses an edge that is added, or no edge is left to train on, naming where
 * it stands; ERROR_CORRUPT; ERROR_NO_MEMORY, ERROR_IO, ERROR_UNAVAILABLE. */
MUST_CHECK enum error_code
version_writer_run(struct store *store, const struct pipeline_settings *settings,
                   const char *dataset_id, const struct dataset_delta *delta,
                   const struct update_places *places, enum version_form form,
                   uint64_t memory_bytes, struct error *err);

#endif
