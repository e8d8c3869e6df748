/*
 * pipeline_note - records the pipeline file of a run folder, so that commands accept the folder in
 * place of the file.
 *
 * The note is the file `pipeline.json` in the folder. It has the path of the pipeline file and the
 * --set options. Every command that starts a run from a pipeline file writes it. train-step.initial
 * is left out, because it belongs to one run alone.
 */
#ifndef PIPELINES_RUN_PIPELINE_NOTE_H
#define PIPELINES_RUN_PIPELINE_NOTE_H

#include "common/base/error.h"
#include "common/base/options.h"

struct pipeline_options;
struct json_document;

/* Writes the note. Fails: ERROR_IO, ERROR_NO_SPACE. */
MUST_CHECK enum error_code pipeline_note_write(const char *folder, const char *file,
                                               const struct option_list *set, struct error *err);
/* Sets options->file from `word`, which is a pipeline file or the folder of a run. For a folder it
 * also sets options->directory, unless that is set, and puts the settings of the note before those
 * of options->set.
 * Owns:  *out has the memory that the options then point to, NULL for a file; the caller frees it
 * with json_free() after the last use of the options.
 * Fails: ERROR_NOT_FOUND for a folder without a note; ERROR_USAGE for too many --set. */
MUST_CHECK enum error_code pipeline_note_take(struct pipeline_options *options, const char *word,
                                              struct json_document **out, struct error *err);

#endif
