#include "common/formats/text/missing_words.h"

#include "common/files/file_pattern.h"

#include <string.h>

bool missing_words_have(const char *list, const struct field *word)
{
    const char *at = NULL, *item = NULL;
    size_t size = 0;
    if (!list || !list[0])
        return false;
    while (file_pattern_next(list, &at, &item, &size))
        if (size == word->size && memcmp(item, word->text, size) == 0)
            return true;
    return false;
}

bool missing_words_are_usual(const struct field *word)
{
    static const char *const usual[] = {"na",      "n/a",     "#n/a", "none", "null", "\\n", "nan",
                                        "unknown", "missing", "nil",  "?",    "-",    ".",   NULL};
    for (const char *const *at = usual; *at; at++)
        if (field_is(word, *at))
            return true;
    return false;
}
