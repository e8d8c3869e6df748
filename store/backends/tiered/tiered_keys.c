#include "store/backends/tiered/tiered_keys.h"

#include <stddef.h>
#include <string.h>

static const char run_front[] = "run/";

/* The tiers of keys run/<id>/FAMILY/..., by their last name that is not a number
 * (store/objects/keys.h). */
static const struct kept_key {
    const char *family, *name;
    enum tier tier;
} kept_keys[] = {
    {"round", "mini_batch", TIER_FAST},
    {"round", "gradient", TIER_FAST},
    {"round", "gradient_range", TIER_FAST},
    {"round", "gradient_sum", TIER_FAST},
    {"round", "base", TIER_BOTH},
    {"round", "pass_output", TIER_FAST},
    {"round", "pass_gradient", TIER_FAST},
    {"round", "residual", TIER_BOTH}, /* rounds after a snapshot may need it */
    {"evaluation", "mini_batch", TIER_FAST},
    {"evaluation", "result", TIER_FAST},
    {"optimizer", "optimizer", TIER_FAST}, /* a snapshot contains it */
    {"weights", "weights", TIER_BOTH},
    {"snapshot", "snapshot", TIER_BOTH},
    {"embedding", "shard", TIER_BOTH},
};

static const size_t kept_key_count = sizeof kept_keys / sizeof *kept_keys;

static bool is_name(const char *text, size_t size, const char *name)
{
    return strlen(name) == size && strncmp(text, name, size) == 0;
}

/* Returns the part of the key after run/<id>/; "" if there is none. */
static const char *behind_run(const char *key)
{
    if (strncmp(key, run_front, sizeof run_front - 1) != 0)
        return "";
    const char *slash = strchr(key + sizeof run_front - 1, '/');
    return slash ? slash + 1 : "";
}

static const char *last_word(const char *names, size_t *size)
{
    const char *word = names;
    *size = 0;
    while (*names) {
        const size_t length = strcspn(names, "/");
        if (strspn(names, "0123456789") < length) {
            word = names;
            *size = length;
        }
        names += length + (names[length] == '/');
    }
    return word;
}

enum tier tier_of_key(const char *key)
{
    const char *family = behind_run(key);
    const size_t family_size = strcspn(family, "/");
    size_t size = 0;
    const char *word = last_word(family, &size);
    for (size_t i = 0; i < kept_key_count; i++)
        if (is_name(family, family_size, kept_keys[i].family) &&
            is_name(word, size, kept_keys[i].name))
            return kept_keys[i].tier;
    return TIER_DURABLE;
}

bool tier_of_prefix_is_fast(const char *prefix)
{
    const char *family = behind_run(prefix);
    const size_t size = strcspn(family, "/");
    bool found = !*prefix || strcmp(prefix, "run") == 0;
    if (strncmp(prefix, run_front, sizeof run_front - 1) == 0 && !*family)
        found = true; /* the prefix covers a whole run */
    for (size_t i = 0; i < kept_key_count && !found; i++)
        found = is_name(family, size, kept_keys[i].family);
    return found;
}
