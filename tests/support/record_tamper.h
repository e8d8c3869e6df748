/* record_tamper - writes a stored record again with one section changed, like a faulty writer. */
#ifndef TESTS_SUPPORT_RECORD_TAMPER_H
#define TESTS_SUPPORT_RECORD_TAMPER_H

#include "store/objects/store.h"

/* The change of one section. */
struct tamper {
    const char *section;
    enum element_type type; /* ELEMENT_UNKNOWN: the section is left out */
    const void *data;
    uint64_t count;
};

/* Replaces record `key` by a copy in which one section is changed, or added if there is none of
 * that name. Header and hashes of the copy are right, so only the reader's own checks can refuse
 * it. Aborts the program when the store fails, because a test cannot continue. */
void record_tamper(struct store *store, const char *key, const char *owner_id,
                   const struct tamper *change);

#endif
