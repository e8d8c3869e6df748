/*
 * keyed_features - feature rows that name their node by an id: a text file `id,x1,x2,...`, or an
 * array whose rows belong to the ids of another file, or to the integer ids 0 .. rows - 1.
 *
 * Rows come in any order. Each is written to its node's place on disk; none stays in memory.
 */
#ifndef STAGES_INGEST_FORMATS_COLUMNS_KEYED_FEATURES_H
#define STAGES_INGEST_FORMATS_COLUMNS_KEYED_FEATURES_H

#include "common/base/error.h"
#include "stages/ingest/build/dataset_builder.h"
#include "stages/ingest/build/nodes/named_nodes.h"
#include "stages/ingest/formats/columns/keyed_file.h"

/* Notes the ids 0 .. rows - 1 for an .npy without a file of ids. Fails: ERROR_INPUT when ids are
 * strings, because then nothing shows which node a row belongs to. */
MUST_CHECK enum error_code keyed_features_note_rows(const char *path, struct named_nodes *nodes,
                                                    struct error *err);
/* Pushes a row for each node. `ids` belongs to an .npy; its path may be NULL. Fails: ERROR_INPUT
 * naming file and line or row, also for a node without a row or with two. */
MUST_CHECK enum error_code keyed_features_push(struct keyed_file *features, struct keyed_file *ids,
                                               const struct column_encoding *encoding,
                                               const struct named_nodes *nodes,
                                               struct dataset_builder *builder, struct error *err);

#endif
