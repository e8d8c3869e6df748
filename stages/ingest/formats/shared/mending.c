#include "stages/ingest/formats/shared/mending.h"

enum error_code mending_add(const char *form, enum error_code rc, struct error *err)
{
    if ((rc != ERROR_INPUT && rc != ERROR_NOT_FOUND) || !err || !form || *error_advice(err))
        return rc;
    return error_add(err, rc, ": " ADVICE "%s", form);
}
