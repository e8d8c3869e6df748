/*
 * unread_files - the files in the input's folder that its format does not read, and what each was likely meant
 * to be: node_feat.npy beside a format that reads node-feat.npy would otherwise be passed over in silence, and
 * features be made up.
 */
#ifndef STAGES_INGEST_FORMATS_UNREAD_FILES_H
#define STAGES_INGEST_FORMATS_UNREAD_FILES_H

#include "common/base/error.h"
#include "stages/plan/pipeline_settings.h"

/* `meant`: the file it should be, or NULL when its name is near to none. */
typedef void (*unread_visitor)(void *context, const char *name, const char *meant);

/* Calls `visit` for each file that is not read, in the order of names; only the formats folder and ogb have
 * folders. Fails: ERROR_NOT_FOUND, ERROR_IO, ERROR_INPUT. */
MUST_CHECK enum error_code unread_files_visit(const struct pipeline_settings *settings,
                                              unread_visitor visit, void *context,
                                              struct error *err);

#endif
