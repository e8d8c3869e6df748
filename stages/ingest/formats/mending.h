/*
 * mending - what to do about an input that is wrong, behind messages that do not say it themselves.
 *
 * Where a reader knows the line that mends a mistake, it says it ("remove one of the lines"). Of most mistakes it knows what was
 * expected and found, and what is to be done is to bring the file into the form that its format has (`form` in input_format.h).
 */
#ifndef STAGES_INGEST_FORMATS_MENDING_H
#define STAGES_INGEST_FORMATS_MENDING_H

#include "common/base/error.h"

/* Returns `rc`. If it is ERROR_INPUT or ERROR_NOT_FOUND, the message now ends with what to do. `form`
 * is that of the format (input_format.h); for NULL nothing is added. */
enum error_code mending_add(const char *form, enum error_code rc, struct error *err);

#endif
