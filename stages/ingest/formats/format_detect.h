/*
 * format_detect - what `ingest.format: auto` takes an input for.
 *
 *   a folder with    meta.json              folder           a file that    is a zip archive            npz
 *                    metadata.yaml          graphbolt                       begins %%MatrixMarket       matrix_market
 *                    metadata.json          distdgl                         is called *.mtx[.gz|.zst]   matrix_market
 *                    meta.yaml              dgl_csv                         is called *.graphml[.gz|.zst]   graphml
 *                    a file *.content       linqs
 *                    adj_full.npz           graphsaint
 *                    a file NAME_A.txt      tu                              is called *.graph, *.metis  metis
 *                    a folder raw           ogb                             is anything else            edge_list
 */
#ifndef STAGES_INGEST_FORMATS_FORMAT_DETECT_H
#define STAGES_INGEST_FORMATS_FORMAT_DETECT_H

#include "common/base/error.h"
#include "stages/plan/pipeline_settings.h"

enum { FORMAT_SEEN_SIZE = 320 };

/* *format of the file or folder `path`; seen: by what, in a few words. Fails: ERROR_INPUT where nothing or several things say what
 * format it is; ERROR_NOT_FOUND, ERROR_IO. */
MUST_CHECK enum error_code format_detect(const char *path, int64_t *format,
                                         char seen[FORMAT_SEEN_SIZE], struct error *err);
/* A copy of the settings in which auto is what it stands for, checked as if that had been written; without auto `seen` is "".
 * Owns: *out is the caller's, also after a failure: memory_free(). */
MUST_CHECK enum error_code format_settle(const struct pipeline_settings *settings,
                                         struct pipeline_settings **out,
                                         char seen[FORMAT_SEEN_SIZE], struct error *err);

#endif
