/*
 * format_detect - what `ingest.format: auto` takes an input for.
 *
 *   a folder with    meta.json              folder           a file that    is a zip archive of arrays           npz
 *                    metadata.yaml          graphbolt                       begins %%MatrixMarket               matrix_market
 *                    metadata.json          distdgl                         is called *.mtx[.gz|.zst]           matrix_market
 *                    meta.yaml              dgl_csv                         has <graphml at its beginning       graphml
 *                    a file *.content       linqs                           is called *.graphml[.gz|.zst]       graphml
 *                    adj_full.npz           graphsaint                      begins with a triple of RDF         ntriples
 *                    a file NAME_A.txt      tu                              is called *.nt[.gz|.zst]            ntriples
 *                    node.dat               hgb                             is called *.sif[.gz|.zst]           sif
 *                    train2id.txt           openke                          is called *.graph, *.metis          metis
 *                    a folder raw           ogb                             is of a kind that nothing reads     refused (file_kind.h)
 *                                                                           is anything else                    edge_list
 */
#ifndef STAGES_PLAN_FORMAT_DETECT_H
#define STAGES_PLAN_FORMAT_DETECT_H

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
