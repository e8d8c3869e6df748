#include "stages/plan/settings/named_entries.h"

#include <string.h>

static void trim(const char **text, size_t *size)
{
    while (*size > 0 && **text == ' ') {
        ++*text;
        --*size;
    }
    while (*size > 0 && (*text)[*size - 1] == ' ')
        --*size;
}

bool named_entry_word(const char **text, size_t *size, char separator, const char **word,
                      size_t *word_size)
{
    if (*size == 0)
        return false;
    const char *end = memchr(*text, separator, *size);
    const size_t taken = end ? (size_t)(end - *text) + 1 : *size;
    *word = *text;
    *word_size = end ? taken - 1 : taken;
    trim(word, word_size);
    *text += taken;
    *size -= taken;
    return true;
}

/* Reads 'name' or 'name': value. Returns false if the entry has no such name. */
static bool take_quoted(const char **text, struct named_entry *out)
{
    const char *begin = *text + strspn(*text, " ");
    const char *end = begin[0] == '\'' ? strchr(begin + 1, '\'') : NULL;
    if (!end)
        return false;
    const char *rest = end + 1 + strspn(end + 1, " ");
    if (rest[0] != '\0' && rest[0] != ';' && rest[0] != ':')
        return false;
    const char *value = rest + (rest[0] == ':');
    size_t left = strcspn(value, ";");
    *out = (struct named_entry){.text = begin,
                                .size = (size_t)(value - begin) + left,
                                .name = begin + 1,
                                .name_size = (size_t)(end - begin) - 1,
                                .value = value,
                                .value_size = left};
    *text = value + left + (value[left] == ';');
    trim(&out->text, &out->size);
    trim(&out->value, &out->value_size);
    return true;
}

bool named_entry_next(const char **text, struct named_entry *out)
{
    size_t left = strlen(*text), colon = 0;
    *out = (struct named_entry){0};
    if (take_quoted(text, out))
        return true;
    if (!named_entry_word(text, &left, ';', &out->text, &out->size))
        return false;
    colon = out->size;
    while (colon > 0 && out->text[colon - 1] != ':')
        colon--;
    out->name = out->text;
    out->name_size = colon > 0 ? colon - 1 : 0;
    trim(&out->name, &out->name_size);
    out->value = out->text + colon;
    out->value_size = out->size - colon;
    trim(&out->value, &out->value_size);
    return true;
}

bool named_entry_is(const struct named_entry *entry, const char *name)
{
    return strlen(name) == entry->name_size && memcmp(name, entry->name, entry->name_size) == 0;
}

int named_entry_shown(size_t size)
{
    return (int)(size < NAMED_ENTRY_SHOWN ? size : NAMED_ENTRY_SHOWN);
}
