/*
 * missing_words - the words that mean a missing value (ingest.missing_words).
 *
 * An empty cell is missing in every table of nodes. A word is missing only if the setting lists it,
 * in the same case. Words that people often write for missing values are known, so that a run can
 * report that it read them as values.
 */
#ifndef COMMON_FORMATS_TEXT_MISSING_WORDS_H
#define COMMON_FORMATS_TEXT_MISSING_WORDS_H

#include "common/formats/text/delimited.h"

#include <stdbool.h>

/* Returns whether `list` (NULL: none) has the word. `list` is one word, or a list in the form of
 * file_pattern.h. */
bool missing_words_have(const char *list, const struct field *word);
/* Returns whether people often write this word for missing values: NA, none, null, nan, unknown,
 * ... */
bool missing_words_are_usual(const struct field *word);

#endif
