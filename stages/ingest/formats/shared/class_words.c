#include "stages/ingest/formats/shared/class_words.h"

#include "common/base/log.h"
#include "common/base/memory.h"
#include "common/base/text.h"

#include <inttypes.h>
#include <string.h>

enum { CLASSES_SAID = 64 };

void class_words_init(struct class_words *words)
{
    *words = (struct class_words){.are_numbers = true};
    node_id_assigner_init(&words->words, true, 0);
}

void class_words_release(struct class_words *words)
{
    node_id_assigner_release(&words->words);
    memory_free(words->rank);
    words->rank = NULL;
}

enum error_code class_words_note(struct class_words *words, const struct field *word,
                                 struct error *err)
{
    int64_t number = -1;
    words->are_numbers &= text_int64(word->text, word->size, &number) && number >= 0;
    return node_id_assigner_add_text(&words->words, word->text, word->size, err);
}

static struct field word_of(const struct node_ids *ids, uint32_t i)
{
    return (struct field){ids->text + ids->offset[i],
                          (size_t)(ids->offset[i + 1] - ids->offset[i])};
}

static bool is_before(const struct field *a, const struct field *b)
{
    const int order = memcmp(a->text, b->text, a->size < b->size ? a->size : b->size);
    return order < 0 || (order == 0 && a->size < b->size);
}

enum error_code class_words_finish(struct class_words *words, struct error *err)
{
    node_id_assigner_finish(&words->words);
    const struct node_ids ids = node_id_assigner_view(&words->words);
    if (ids.node_count > UINT16_MAX)
        return error_set(err, ERROR_INPUT, "expected at most %d classes, found %" PRIu32 " words",
                         UINT16_MAX, ids.node_count);
    const enum error_code rc = memory_new(&words->rank, (size_t)ids.node_count + 1, "classes", err);
    for (uint32_t i = 0; rc == ERROR_NONE && i < ids.node_count; i++) {
        const struct field own = word_of(&ids, i);
        for (uint32_t k = 0; k < ids.node_count; k++) {
            const struct field other = word_of(&ids, k);
            words->rank[i] += is_before(&other, &own);
        }
        if (!words->are_numbers && ids.node_count <= CLASSES_SAID)
            log_info("class %" PRIu32 " is %.*s", words->rank[i],
                     own.size < 80 ? (int)own.size : 80, own.text);
    }
    return rc;
}

int64_t class_words_class(const struct class_words *words, const struct field *word)
{
    int64_t number = -1;
    if (words->are_numbers)
        return text_int64(word->text, word->size, &number) ? number : -1;
    number = node_id_assigner_find_text(&words->words, word->text, word->size);
    return number < 0 ? -1 : (int64_t)words->rank[number];
}
