#include "store/records/batch/seed_pairs.h"

#include "common/numbers/packed_integers.h"

#include <inttypes.h>
#include <string.h>

static const char count_name[] = "pair_count", source_name[] = "pair_source",
                  target_name[] = "pair_target", corrupt_name[] = "pair_corrupt",
                  type_name[] = "pair_type", label_name[] = "pair_label";

static enum error_code add_ends(struct record *record, const char *name, const uint32_t *end,
                                uint64_t count, unsigned width, struct arena *scratch,
                                struct error *err)
{
    uint64_t *words = NULL;
    const uint64_t word_count = packed_integers_words(count, width);
    const enum error_code rc = arena_new(scratch, &words, word_count, "the pairs of a batch", err);
    if (rc != ERROR_NONE)
        return rc;
    packed_integers_pack(end, count, width, words);
    record_add(record, name, ELEMENT_U64, words, word_count);
    return ERROR_NONE;
}

enum error_code seed_pairs_add(struct record *record, struct seed_pairs_record *kept,
                               const struct seed_pairs *pairs, uint32_t seed_count,
                               struct arena *scratch, struct error *err)
{
    const unsigned width = packed_integers_width_of(seed_count - 1);
    kept->count[0] = pairs->positive_count;
    kept->count[1] = pairs->negatives_each;
    record_add(record, count_name, ELEMENT_U32, kept->count, 2);
    kept->corrupt = (uint32_t)pairs->corrupt;
    if (pairs->corrupt != CORRUPT_TARGET)
        record_add(record, corrupt_name, ELEMENT_U32, &kept->corrupt, 1);
    if (pairs->relation)
        record_add(record, type_name, ELEMENT_U16, pairs->relation, pairs->positive_count);
    if (pairs->label)
        record_add(record, label_name, ELEMENT_F32, pairs->label, pairs->positive_count);
    const enum error_code rc =
        add_ends(record, source_name, pairs->source, pairs->positive_count, width, scratch, err);
    return rc == ERROR_NONE ? add_ends(record, target_name, pairs->target, seed_pairs_count(pairs),
                                       width, scratch, err)
                            : rc;
}

static enum error_code read_ends(const struct record_view *view, const char *name, uint64_t count,
                                 uint32_t seed_count, struct arena *memory, const uint32_t **out,
                                 struct error *err)
{
    const unsigned width = packed_integers_width_of(seed_count - 1);
    const void *words = NULL;
    uint32_t *end = NULL;
    enum error_code rc = record_section_get(
        view, name, ELEMENT_U64, (int64_t)packed_integers_words(count, width), &words, NULL, err);
    if (rc == ERROR_NONE && !packed_integers_end_in_zeros(words, count, width))
        rc = error_set(err, ERROR_CORRUPT,
                       "record %s: section %s: expected zeros behind its values, found ones",
                       view->key, name);
    if (rc == ERROR_NONE)
        rc = arena_new(memory, &end, count, "the pairs of a batch", err);
    if (rc != ERROR_NONE)
        return rc;
    packed_integers_unpack(words, count, width, end);
    *out = end;
    for (uint64_t i = 0; i < count; i++)
        if (end[i] >= seed_count)
            return error_set(err, ERROR_CORRUPT,
                             "record %s: %s[%" PRIu64 "]: expected a seed below %" PRIu32
                             ", found %" PRIu32,
                             view->key, name, i, seed_count, end[i]);
    return ERROR_NONE;
}

/* Reads the optional sections. */
static enum error_code read_kinds(const struct record_view *view, struct arena *memory,
                                  struct seed_pairs *out, struct error *err)
{
    const void *data = NULL;
    uint16_t *relation = NULL;
    enum error_code rc = ERROR_NONE;
    if (record_has(view, corrupt_name)) {
        rc = record_section_get(view, corrupt_name, ELEMENT_U32, 1, &data, NULL, err);
        const uint32_t corrupt = rc == ERROR_NONE ? *(const uint32_t *)data : 0;
        if (rc == ERROR_NONE && (corrupt == CORRUPT_TARGET || corrupt >= CORRUPT_COUNT))
            return error_set(err, ERROR_CORRUPT, "record %s: %s: expected 1 to %d, found %" PRIu32,
                             view->key, corrupt_name, CORRUPT_COUNT - 1, corrupt);
        out->corrupt = (enum corrupted_end)corrupt;
    }
    if (rc != ERROR_NONE || !record_has(view, type_name))
        return rc;
    rc = record_section_get(view, type_name, ELEMENT_U16, (int64_t)out->positive_count, &data, NULL,
                            err);
    if (rc == ERROR_NONE)
        rc = arena_new(memory, &relation, out->positive_count, "the pairs of a batch", err);
    if (rc == ERROR_NONE)
        memcpy(relation, data, out->positive_count * sizeof *relation);
    out->relation = relation;
    return rc;
}

static enum error_code read_labels(const struct record_view *view, uint32_t count,
                                   struct arena *memory, const float **out, struct error *err)
{
    const void *given = NULL;
    float *label = NULL;
    enum error_code rc =
        record_section_get(view, label_name, ELEMENT_F32, count, &given, NULL, err);
    if (rc == ERROR_NONE)
        rc = arena_new(memory, &label, count, "the labels of a batch", err);
    if (rc != ERROR_NONE)
        return rc;
    memcpy(label, given, count * sizeof *label);
    *out = label;
    return ERROR_NONE;
}

enum error_code seed_pairs_read(const struct record_view *view, uint32_t seed_count,
                                struct arena *memory, struct seed_pairs *out, struct error *err)
{
    const void *data = NULL;
    *out = (struct seed_pairs){0};
    if (!record_has(view, count_name))
        return ERROR_NONE;
    enum error_code rc = record_section_get(view, count_name, ELEMENT_U32, 2, &data, NULL, err);
    if (rc != ERROR_NONE)
        return rc;
    const uint32_t *count = data;
    out->positive_count = count[0];
    out->negatives_each = count[1];
    if (count[0] == 0 || seed_pairs_count(out) > UINT32_MAX)
        return error_set(err, ERROR_CORRUPT,
                         "record %s: pair_count: expected 1 to %" PRIu32 " pairs, found %" PRIu32
                         " positives with %" PRIu32 " negatives each",
                         view->key, UINT32_MAX, count[0], count[1]);
    rc = read_kinds(view, memory, out, err);
    if (rc == ERROR_NONE && record_has(view, label_name))
        rc = read_labels(view, count[0], memory, &out->label, err);
    if (rc == ERROR_NONE)
        rc = read_ends(view, source_name, count[0], seed_count, memory, &out->source, err);
    return rc == ERROR_NONE ? read_ends(view, target_name, seed_pairs_count(out), seed_count,
                                        memory, &out->target, err)
                            : rc;
}
