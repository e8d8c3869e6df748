#include "stages/ingest/formats/shared/relation_words.h"

#include "common/base/text.h"

#include <inttypes.h>
#include <string.h>

void relation_words_init(struct relation_words *relations)
{
    node_id_assigner_init(&relations->words, true, 0);
}

void relation_words_release(struct relation_words *relations)
{
    node_id_assigner_release(&relations->words);
}

enum error_code relation_words_note(struct relation_words *relations, const struct field *word,
                                    const char *where, int64_t line, uint16_t *place,
                                    struct error *err)
{
    int64_t number = 0;
    if (word->size == 0 || word->size >= TYPE_NAME_SIZE)
        return error_set(err, ERROR_INPUT,
                         "%s:%" PRId64 ": expected the name of a relation of 1 to %d bytes, found "
                         "%s%.40s",
                         where, line, TYPE_NAME_SIZE - 1, word->size ? "" : "nothing",
                         word->size ? word->text : "");
    enum error_code rc =
        node_id_assigner_number_text(&relations->words, word->text, word->size, &number, err);
    if (rc == ERROR_NONE && number >= EDGE_TYPE_COUNT_MAX)
        rc = error_set(
            err, ERROR_INPUT,
            "%s:%" PRId64 ": expected at most %d different relations, found '%.*s' "
            "beside them: " ADVICE "if this column is no relation, name the columns with "
            "ingest.edge_columns and leave it out",
            where, line, EDGE_TYPE_COUNT_MAX, word->size < 40 ? (int)word->size : 40, word->text);
    *place = (uint16_t)number;
    return rc;
}

static struct field word_at(const struct relation_words *relations, uint64_t place)
{
    const struct node_ids words = node_id_assigner_view(&relations->words);
    return (struct field){words.text + words.offset[place],
                          (size_t)(words.offset[place + 1] - words.offset[place])};
}

/* Parses the word as an integer. Returns false if it is none. */
static bool integer_at(const struct relation_words *relations, uint64_t place, int64_t *out)
{
    const struct field word = word_at(relations, place);
    return text_int64(word.text, word.size, out);
}

void relation_words_finish(struct relation_words *relations)
{
    const uint64_t count = relations->words.count;
    int64_t value[EDGE_TYPE_COUNT_MAX] = {0};
    bool are_integers = true;
    must(count <= EDGE_TYPE_COUNT_MAX);
    node_id_assigner_finish(&relations->words);
    for (uint64_t i = 0; i < count; i++)
        are_integers &= integer_at(relations, i, &value[i]);
    for (uint64_t i = 0; i < count; i++) {
        uint16_t below = 0;
        for (uint64_t j = 0; are_integers && j < count; j++)
            below = (uint16_t)(below + (value[j] < value[i] || (value[j] == value[i] && j < i)));
        relations->number[i] = are_integers ? below : (uint16_t)i;
    }
}

uint32_t relation_words_types(const struct relation_words *relations, uint16_t source,
                              uint16_t target, struct edge_type type[EDGE_TYPE_COUNT_MAX])
{
    for (uint64_t i = 0; i < relations->words.count; i++) {
        const struct field word = word_at(relations, i);
        struct edge_type *one = &type[relations->number[i]];
        *one = (struct edge_type){.source_type = source, .target_type = target};
        memcpy(one->name, word.text, word.size);
        one->name[word.size] = '\0';
    }
    return (uint32_t)relations->words.count;
}
