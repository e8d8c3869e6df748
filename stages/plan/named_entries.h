/*
 * named_entries - settings that say something of some types or relations of a graph, each by its
 * name.
 *
 *     cites: 15,10; rev_writes: 5,0
 *
 * The last colon of an entry ends the name, so names may have colons. A name in single quotes ends
 * at the second of them, and may have semicolons, too: `':LABEL'`, `'a;b': log`. Blanks around
 * names and values do not count.
 */
#ifndef STAGES_PLAN_NAMED_ENTRIES_H
#define STAGES_PLAN_NAMED_ENTRIES_H

#include <stdbool.h>
#include <stddef.h>

struct named_entry { /* borrows from the setting's text */
    const char *text;
    size_t size; /* of all of it, for messages: print at most NAMED_ENTRY_SHOWN */
    const char *name;
    size_t name_size; /* 0: the entry has no name */
    const char *value;
    size_t value_size;
};

enum { NAMED_ENTRY_SHOWN = 80 };

/* Takes the next entry off `*text`; false at the end. */
bool named_entry_next(const char **text, struct named_entry *out);
/* Whether that is its name. */
bool named_entry_is(const struct named_entry *entry, const char *name);
/* The next word of `*text` [*size], up to `separator`, without blanks; false at the end. */
bool named_entry_word(const char **text, size_t *size, char separator, const char **word,
                      size_t *word_size);
/* As the precision of a %.*s. */
int named_entry_shown(size_t size);

#endif
