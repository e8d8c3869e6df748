/*
 * node_id_assigner - gives the user's node ids the numbers 0 .. N-1.
 *
 * Integers are numbered in ascending order, so that the numbers do not depend on the order of the
 * lines and ids that already are 0 .. N-1 stay what they are. Strings are numbered in the order of
 * first appearance, which needs no sorting and is the same for the same file.
 *
 * Each id is stored once, packed, and a hash table of 32-bit positions finds it (open addressing,
 * at most three quarters full). Memory: 14 bytes for an integer (and one bit for each slot of the
 * table), 14 bytes and the length for a string.
 */
#ifndef STAGES_INGEST_BUILD_NODES_NODE_ID_ASSIGNER_H
#define STAGES_INGEST_BUILD_NODES_NODE_ID_ASSIGNER_H

#include "common/base/error.h"
#include "store/records/dataset/node_ids.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct node_id_assigner { /* {0} is releasable */
    bool of_strings;
    bool is_finished;
    uint64_t memory_bytes; /* 0: no budget */
    uint64_t used_bytes;
    uint64_t count, capacity; /* number of ids, and room for ids */
    int64_t *integer;         /* [capacity] or NULL */
    uint64_t *offset;         /* [capacity + 1] or NULL */
    char *text;               /* [text_capacity]; id i is text[offset[i]] .. text[offset[i + 1]] */
    uint64_t text_capacity;
    uint32_t *slot; /* [slot_count] position + 1 of an id, 0: empty */
    uint64_t slot_count;
    /* One bit for each integer below slot_count: it was noted. Most ids of most files are small and
     * come many times, so this bit saves most look-ups in the table. */
    uint64_t *is_there; /* [slot_count / 64] */
};

void node_id_assigner_init(struct node_id_assigner *ids, bool of_strings, uint64_t memory_bytes);
void node_id_assigner_release(struct node_id_assigner *ids);

/* Returns whether the integer is known to be noted. May return false for an integer that was
 * noted. */
static inline bool node_id_assigner_knows(const struct node_id_assigner *ids, int64_t id)
{
    return id >= 0 && (uint64_t)id < ids->slot_count && ids->is_there &&
           (ids->is_there[id / 64] >> id % 64 & 1);
}
/* Notes an id. Fails: ERROR_NO_MEMORY above the budget; ERROR_INPUT above 2^32 - 2 distinct ids. */
MUST_CHECK enum error_code node_id_assigner_add_integer(struct node_id_assigner *ids, int64_t id,
                                                        struct error *err);
MUST_CHECK enum error_code node_id_assigner_add_text(struct node_id_assigner *ids, const char *text,
                                                     size_t size, struct error *err);
/* Does the same for a string; sets *number to its number. */
MUST_CHECK enum error_code node_id_assigner_number_text(struct node_id_assigner *ids,
                                                        const char *text, size_t size,
                                                        int64_t *number, struct error *err);
/* Ends the adding of ids; integers get their final numbers. */
void node_id_assigner_finish(struct node_id_assigner *ids);

/* Returns the number of an id, or -1 for one that was never added. The numbers of integers are
 * final after finish. */
int64_t node_id_assigner_find_integer(const struct node_id_assigner *ids, int64_t id);
int64_t node_id_assigner_find_text(const struct node_id_assigner *ids, const char *text,
                                   size_t size);
/* Returns whether the ids are 0 .. N-1 themselves. Call it after finish. */
bool node_id_assigner_is_consecutive(const struct node_id_assigner *ids);
/* Returns the ids by number, borrowed. Call it after finish. */
struct node_ids node_id_assigner_view(const struct node_id_assigner *ids);

#endif
