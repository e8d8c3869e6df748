/*
 * usual_advice - advice about mistakes that several readers report.
 *
 * Each is put at the end of a format of error_set() (common/base/error.h).
 */
#ifndef COMMON_FORMATS_BYTES_USUAL_ADVICE_H
#define COMMON_FORMATS_BYTES_USUAL_ADVICE_H

#include "common/base/error.h"

#define ADVISE_COLUMNS                                                                             \
    ": " ADVICE                                                                                    \
    "give each line as many columns as the first has, with quotes around a field that "            \
    "has a separator"
#define ADVISE_COPY   ": " ADVICE "copy the file again, or add what lacks"
#define ADVISE_NUMBER ": " ADVICE "write a number there"
#define ADVISE_NODE                                                                                \
    ": " ADVICE "write the id of an existing node, or correct the number of nodes in the input"
#define ADVISE_ONE_FILE ": " ADVICE "remove one of them"

#endif
