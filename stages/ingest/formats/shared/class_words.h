/*
 * class_words - numbers for classes that an input names by words.
 *
 *   "Theory", "Agents", "Theory"   1, 0, 1: words are numbered in the order of their bytes, in
 *                                  whatever order the lines have them
 *   "3", "0", "3"                  3, 0, 3: if all words are whole numbers from 0, they are the
 *                                  classes
 */
#ifndef STAGES_INGEST_FORMATS_SHARED_CLASS_WORDS_H
#define STAGES_INGEST_FORMATS_SHARED_CLASS_WORDS_H

#include "common/base/error.h"
#include "common/formats/text/delimited.h"
#include "stages/ingest/build/nodes/node_id_assigner.h"

#include <stdbool.h>
#include <stdint.h>

struct class_words { /* initialise with class_words_init(); releasable */
    struct node_id_assigner words;
    uint32_t *rank; /* [words.count] */
    bool are_numbers;
};

void class_words_init(struct class_words *words);
void class_words_release(struct class_words *words);
MUST_CHECK enum error_code class_words_note(struct class_words *words, const struct field *word,
                                            struct error *err);
/* Ends the noting of words and numbers them. Logs the class of each word. */
MUST_CHECK enum error_code class_words_finish(struct class_words *words, struct error *err);
/* Returns the class of a word, or -1 if the word was not noted. */
int64_t class_words_class(const struct class_words *words, const struct field *word);

#endif
