#include "stages/ingest/build/edges/reverse_detector.h"

#include "common/base/memory.h"

#include <string.h>

enum { FORWARD = 1, BACKWARD = 2, MOST = REVERSE_DETECTOR_SLOTS / 4 * 3 };

struct pair_seen {
    uint32_t low, high; /* the pair; low < high, so that {0, 0} is an empty slot */
    uint16_t type;
    uint16_t directions; /* FORWARD: from low to high */
};

enum error_code reverse_detector_open(struct reverse_detector *detector, struct error *err)
{
    *detector = (struct reverse_detector){0};
    return memory_new(&detector->slot, REVERSE_DETECTOR_SLOTS, "a sample of the edges", err);
}

void reverse_detector_close(struct reverse_detector *detector)
{
    memory_free(detector->slot);
    *detector = (struct reverse_detector){0};
}

/* The finaliser of SplitMix64. */
static uint64_t hash_of(uint32_t low, uint32_t high)
{
    uint64_t x = (uint64_t)low << 32 | high;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
    return x ^ (x >> 31);
}

/* Returns the first slot that a pair may have, by the high bits of its hash; the low bits choose
 * the sample. */
static uint64_t home_of(uint32_t low, uint32_t high)
{
    return hash_of(low, high) >> 40 & (REVERSE_DETECTOR_SLOTS - 1);
}

/* Returns the slot of a pair in a type, or the empty one where it belongs. */
static struct pair_seen *find(const struct reverse_detector *detector, uint32_t low, uint32_t high,
                              uint16_t type)
{
    uint64_t at = home_of(low, high);
    while (detector->slot[at].high &&
           (detector->slot[at].low != low || detector->slot[at].high != high ||
            detector->slot[at].type != type))
        at = (at + 1) & (REVERSE_DETECTOR_SLOTS - 1);
    return &detector->slot[at];
}

/* Removes a pair, and moves the pairs after it that the slot had displaced (Knuth, TAOCP 3, 6.4,
 * algorithm R). */
static void remove_at(struct reverse_detector *detector, uint64_t hole)
{
    const uint64_t last = REVERSE_DETECTOR_SLOTS - 1;
    for (uint64_t at = (hole + 1) & last; detector->slot[at].high; at = (at + 1) & last) {
        const uint64_t home = home_of(detector->slot[at].low, detector->slot[at].high);
        if (((at - home) & last) < ((at - hole) & last))
            continue;
        detector->slot[hole] = detector->slot[at];
        hole = at;
    }
    detector->slot[hole] = (struct pair_seen){0};
    detector->count--;
}

/* Halves the sample of pairs, to make room in the table. */
static void thin_out(struct reverse_detector *detector)
{
    detector->mask = detector->mask << 1 | 1;
    for (uint64_t at = 0; at < REVERSE_DETECTOR_SLOTS;) {
        const struct pair_seen *pair = &detector->slot[at];
        if (!pair->high || !(hash_of(pair->low, pair->high) & detector->mask)) {
            at++;
            continue;
        }
        detector->both_ways -= pair->directions == (FORWARD | BACKWARD);
        remove_at(detector, at);
    }
}

void reverse_detector_add(struct reverse_detector *detector, uint32_t source, uint32_t target,
                          uint16_t type)
{
    const uint32_t low = source < target ? source : target,
                   high = source < target ? target : source;
    if (!detector->slot || low == high || (hash_of(low, high) & detector->mask))
        return;
    struct pair_seen *pair = find(detector, low, high, type);
    const uint16_t before = pair->directions;
    detector->count += pair->high == 0;
    pair->low = low;
    pair->high = high;
    pair->type = type;
    pair->directions |= (uint16_t)(source < target ? FORWARD : BACKWARD);
    detector->both_ways += pair->directions == (FORWARD | BACKWARD) && before != pair->directions;
    if (detector->count > MOST)
        thin_out(detector);
}

bool reverse_detector_is_one_way(const struct reverse_detector *detector)
{
    return detector->count > 0 && detector->both_ways == 0;
}

/* Counts the types of the edges back of the edges in slot `at`: back [type_count] belongs to the
 * slot's type. */
static void count_back(const struct reverse_detector *detector, const struct pair_seen *pair,
                       uint32_t type_count, uint32_t *back)
{
    for (uint64_t at = home_of(pair->low, pair->high); detector->slot[at].high;
         at = (at + 1) & (REVERSE_DETECTOR_SLOTS - 1)) {
        const struct pair_seen *other = &detector->slot[at];
        if (other->low != pair->low || other->high != pair->high || other->type >= type_count)
            continue;
        back[other->type] += (pair->directions & FORWARD) && (other->directions & BACKWARD);
        back[other->type] += (pair->directions & BACKWARD) && (other->directions & FORWARD);
    }
}

enum error_code reverse_detector_shares(const struct reverse_detector *detector,
                                        uint32_t type_count, struct reverse_share *share,
                                        struct error *err)
{
    uint32_t *back = NULL; /* [type_count, type_count] */
    const enum error_code rc =
        memory_new(&back, (size_t)type_count * type_count, "counts of the edges back", err);
    if (rc != ERROR_NONE)
        return rc;
    memset(share, 0, type_count * sizeof *share);
    for (uint64_t at = 0; detector->slot && at < REVERSE_DETECTOR_SLOTS; at++) {
        const struct pair_seen *pair = &detector->slot[at];
        if (!pair->high || pair->type >= type_count)
            continue;
        share[pair->type].edges += pair->directions == (FORWARD | BACKWARD) ? 2 : 1;
        count_back(detector, pair, type_count, back + (size_t)pair->type * type_count);
    }
    for (uint32_t t = 0; t < type_count; t++)
        for (uint32_t other = 0; other < type_count; other++)
            if (back[(size_t)t * type_count + other] > share[t].back) {
                share[t].back = back[(size_t)t * type_count + other];
                share[t].back_type = (uint16_t)other;
            }
    memory_free(back);
    return ERROR_NONE;
}
