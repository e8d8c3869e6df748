/*
 * named_entries - parses settings that have an entry, by name, for some types or relations of a
 * graph.
 *
 *     cites: 15,10; rev_writes: 5,0
 *
 * The last colon of an entry ends the name, so names may have colons. A name in single quotes ends
 * at the second quote, and may have semicolons, too: `':LABEL'`, `'a;b': log`. Blanks around names
 * and values do not count.
 */
#ifndef STAGES_PLAN_SETTINGS_NAMED_ENTRIES_H
#define STAGES_PLAN_SETTINGS_NAMED_ENTRIES_H

#include <stdbool.h>
#include <stddef.h>

struct named_entry { /* borrows from the setting's text */
    const char *text;
    /* Size of the whole entry, for messages: print at most NAMED_ENTRY_SHOWN bytes. */
    size_t size;
    const char *name;
    size_t name_size; /* 0: the entry has no name */
    const char *value;
    size_t value_size;
};

enum { NAMED_ENTRY_SHOWN = 80 };

/* Takes the next entry off `*text`. Returns false at the end. */
bool named_entry_next(const char **text, struct named_entry *out);
/* Returns whether `name` is the name of the entry. */
bool named_entry_is(const struct named_entry *entry, const char *name);
/* Takes the next word of `*text` [*size], up to `separator`, without the blanks around it. Returns
 * false at the end. */
bool named_entry_word(const char **text, size_t *size, char separator, const char **word,
                      size_t *word_size);
/* Returns the precision with which %.*s prints at most NAMED_ENTRY_SHOWN bytes. */
int named_entry_shown(size_t size);

#endif
