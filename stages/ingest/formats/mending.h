/*
 * mending - what to do about an input that is wrong, behind messages that do not say it themselves.
 *
 * Where a reader knows the line that mends a mistake, it says it ("remove one of the lines"). Of most mistakes it knows what was
 * expected and found, and what is to be done is to bring the file into the form that its format has, which is said here.
 */
#ifndef STAGES_INGEST_FORMATS_MENDING_H
#define STAGES_INGEST_FORMATS_MENDING_H

#include "common/base/error.h"
#include "stages/plan/pipeline_settings.h"

/* `rc`; of ERROR_INPUT and ERROR_NOT_FOUND the message ends with what to do from now on. */
enum error_code mending_add(enum ingest_format format, enum error_code rc, struct error *err);

#endif
