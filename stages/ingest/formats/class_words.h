/*
 * class_words - classes that an input calls by words, as numbers.
 *
 *   "Theory", "Agents", "Theory"   1, 0, 1: words count in the order of their bytes, wherever they stand
 *   "3", "0", "3"                  3, 0, 3: where all are whole numbers from 0, they are the classes
 */
#ifndef STAGES_INGEST_FORMATS_CLASS_WORDS_H
#define STAGES_INGEST_FORMATS_CLASS_WORDS_H

#include "common/base/error.h"
#include "common/formats/delimited.h"
#include "stages/ingest/build/node_id_assigner.h"

#include <stdbool.h>
#include <stdint.h>

struct class_words { /* of class_words_init(); releasable */
    struct node_id_assigner words;
    uint32_t *rank; /* [words.count] */
    bool are_numbers;
};

void class_words_init(struct class_words *words);
void class_words_release(struct class_words *words);
MUST_CHECK enum error_code class_words_note(struct class_words *words, const struct field *word,
                                            struct error *err);
/* No word is noted behind this. Says in the log which word is which class. */
MUST_CHECK enum error_code class_words_finish(struct class_words *words, struct error *err);
/* The class of a word that was noted; -1 for another. */
int64_t class_words_class(const struct class_words *words, const struct field *word);

#endif
