/*
 * missing_words - the words that say that a value is missing (ingest.missing_words).
 *
 * An empty cell is missing in every table of nodes. A word is missing only if the setting lists it,
 * in the same case. Words that people often write for missing values are known, so that a run can
 * say that it took them for values.
 */
#ifndef COMMON_FORMATS_MISSING_WORDS_H
#define COMMON_FORMATS_MISSING_WORDS_H

#include "common/formats/delimited.h"

#include <stdbool.h>

/* Whether `list` (NULL: none) has the word. It is a word, or a list as file_pattern.h has it. */
bool missing_words_have(const char *list, const struct field *word);
/* Whether people write this word for values that are missing: NA, none, null, nan, unknown, ... */
bool missing_words_are_usual(const struct field *word);

#endif
