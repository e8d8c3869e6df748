#include "common/graph/relation_reverse.h"

#include <string.h>

static bool is_reverse(struct relation_ends relation, struct relation_ends of)
{
    const size_t prefix = sizeof RELATION_REVERSE_PREFIX - 1;
    return relation.source_type == of.target_type && relation.target_type == of.source_type &&
           strncmp(relation.name, RELATION_REVERSE_PREFIX, prefix) == 0 &&
           strcmp(relation.name + prefix, of.name) == 0;
}

static struct relation_ends of_array(const void *context, uint32_t relation)
{
    const struct relation *own = (const struct relation *)context + relation;
    return (struct relation_ends){own->name, own->source_type, own->target_type};
}

void relation_reverses_of(const struct relation *relation, uint32_t count,
                          struct relation_reverses *out)
{
    relation_reverses_find(of_array, relation, count, out);
}

void relation_reverses_find(relation_reader read, const void *context, uint32_t count,
                            struct relation_reverses *out)
{
    *out = (struct relation_reverses){.count = count};
    for (uint32_t r = 0; r < RELATION_COUNT_MAX; r++) {
        out->forward[r] = (uint16_t)r;
        out->reverse[r] = RELATION_COUNT_MAX;
    }
    for (uint32_t r = 0; r < count; r++)
        for (uint32_t of = 0; of < count; of++) /* the reverse of a reverse is none */
            if (relation_is_forward(out, of) && is_reverse(read(context, r), read(context, of))) {
                out->forward[r] = (uint16_t)of;
                out->reverse[of] = (uint16_t)r;
            }
}

void relation_reverses_add(struct relation_reverses *reverses, uint32_t relation,
                           uint32_t back_plus)
{
    if (back_plus && back_plus <= reverses->count &&
        reverses->reverse[relation] == RELATION_COUNT_MAX)
        reverses->reverse[relation] = (uint16_t)(back_plus - 1);
}

void relation_source_degrees(const struct relation *relation, uint32_t count, uint16_t *out)
{
    struct relation_reverses reverses;
    relation_reverses_of(relation, count, &reverses);
    for (uint32_t r = 0; r < count; r++) {
        const bool is_own = relation[r].source_type == relation[r].target_type;
        const bool is_forward = relation_is_forward(&reverses, r);
        out[r] = is_own ? (uint16_t)r : is_forward ? reverses.reverse[r] : reverses.forward[r];
    }
}

uint32_t relation_forward_end(const struct relation_reverses *reverses)
{
    uint32_t end = 0;
    for (uint32_t r = 0; r < reverses->count; r++)
        end = relation_is_forward(reverses, r) ? r + 1 : end;
    return end;
}
