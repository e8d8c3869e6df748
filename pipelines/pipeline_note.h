/*
 * pipeline_note - the pipeline file that a run folder is of, so that the folder can be named in its place.
 *
 * The file `pipeline.json` in the folder: where the pipeline file is, and what --set said. Written by whoever starts a run in it
 * by the name of the file. train-step.initial is left out: it is of one run alone.
 */
#ifndef PIPELINES_PIPELINE_NOTE_H
#define PIPELINES_PIPELINE_NOTE_H

#include "common/base/error.h"
#include "common/base/options.h"

struct pipeline_options;
struct json_document;

/* Fails: ERROR_IO, ERROR_NO_SPACE. */
MUST_CHECK enum error_code pipeline_note_write(const char *folder, const char *file,
                                               const struct option_list *set, struct error *err);
/* Puts `word`, a pipeline file or the folder of a run, into options->file. Of a folder: also options->directory, unless there is
 * one, and before options->set what was set.
 * Owns:  what the options point to then is *out, NULL for a file; json_free() when they are not needed any more.
 * Fails: ERROR_NOT_FOUND for a folder without a note; ERROR_USAGE for too many --set. */
MUST_CHECK enum error_code pipeline_note_take(struct pipeline_options *options, const char *word,
                                              struct json_document **out, struct error *err);

#endif
