/*
 * mending - adds advice to errors in the input that have none of their own.
 *
 * A reader that knows how to correct a mistake gives the advice itself ("remove one of the lines").
 * For other mistakes a reader knows only what it expected and found; the advice is then the form of
 * its format (`form` in input_format.h).
 */
#ifndef STAGES_INGEST_FORMATS_SHARED_MENDING_H
#define STAGES_INGEST_FORMATS_SHARED_MENDING_H

#include "common/base/error.h"

/* Adds `form`, which belongs to the format (input_format.h; NULL: none), as advice to an error of
 * ERROR_INPUT or ERROR_NOT_FOUND that has no advice. Returns `rc`. */
enum error_code mending_add(const char *form, enum error_code rc, struct error *err);

#endif
