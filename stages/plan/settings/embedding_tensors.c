#include "stages/plan/settings/embedding_tensors.h"

#include "common/base/text.h"
#include "stages/plan/settings/named_entries.h"

#include <string.h>

#define POLICY_NAME(number, name, help) [number] = #name,
const char *const embedding_policy_names[EMBEDDING_POLICY_COUNT + 1] = {
    EMBEDDING_POLICY_LIST(POLICY_NAME)};
#undef POLICY_NAME

enum { WIDTH_MOST = 65536, SHARDS_MOST = 65535, RATE_MOST = 1000 };

static int32_t shards_of(const struct embedding_tensor *tensor, int64_t wanted, int32_t part_count)
{
    switch (tensor->policy) {
    case EMBEDDING_BY_RANGE:
    case EMBEDDING_BY_HASH:
        return (int32_t)wanted;
    case EMBEDDING_WHOLE:
        return 1;
    case EMBEDDING_WITH_NODES:
    case EMBEDDING_POLICY_COUNT:
        break;
    }
    return part_count;
}

/* Returns a tensor with the settings of aggregate that hold for all tensors. */
static struct embedding_tensor tensor_of(const struct pipeline_settings *settings, uint32_t type,
                                         uint32_t width, int32_t part_count)
{
    struct embedding_tensor out = {.type = type,
                                   .width = width,
                                   .rate = settings->aggregate.embedding_rate,
                                   .policy =
                                       (enum embedding_policy)settings->aggregate.embedding_policy};
    out.shard_count = shards_of(&out, settings->aggregate.embedding_shards, part_count);
    return out;
}

static void add(struct embedding_tensors *tensors, const struct embedding_tensor *tensor)
{
    tensors->tensor[tensors->count] = *tensor;
    tensors->tensor[tensors->count++].first_shard = tensors->shard_count;
    tensors->shard_count += tensor->shard_count;
}

struct embedding_tensors embedding_tensors_plain(const struct pipeline_settings *settings,
                                                 int32_t part_count)
{
    struct embedding_tensors out = {0};
    const struct embedding_tensor all =
        tensor_of(settings, 0, (uint32_t)settings->train_step.embedding, part_count);
    if (all.width > 0)
        add(&out, &all);
    return out;
}

/* --- entries for node types --- */

/* Parses "author: 64". */
static enum error_code width_of(const struct named_entry *entry, uint32_t *width, struct error *err)
{
    int64_t value = 0;
    if (entry->name_size == 0 || !text_int64(entry->value, entry->value_size, &value) ||
        value < 0 || value > WIDTH_MOST)
        return error_set(err, ERROR_INVALID,
                         "train-step.type_embedding: expected entries `type: 64` with `;` between "
                         "them, columns from 0 to %d, found '%.*s'",
                         WIDTH_MOST, named_entry_shown(entry->size), entry->text);
    *width = (uint32_t)value;
    return ERROR_NONE;
}

/* Parses "author: hash 8". */
static enum error_code policy_of(const struct named_entry *entry, enum embedding_policy *policy,
                                 int64_t *shards, struct error *err)
{
    const char *text = entry->value, *word = "", *number = NULL;
    size_t left = entry->value_size, size = 0, number_size = 0;
    int found = 0;
    (void)named_entry_word(&text, &left, ' ', &word, &size);
    while (found < EMBEDDING_POLICY_COUNT &&
           (strlen(embedding_policy_names[found]) != size ||
            memcmp(embedding_policy_names[found], word, size) != 0))
        found++;
    const bool has_number = named_entry_word(&text, &left, ' ', &number, &number_size);
    const bool takes_number = found == EMBEDDING_BY_RANGE || found == EMBEDDING_BY_HASH;
    *shards = 1;
    if (entry->name_size == 0 || found == EMBEDDING_POLICY_COUNT || left > 0 ||
        has_number != takes_number ||
        (has_number &&
         (!text_int64(number, number_size, shards) || *shards < 1 || *shards > SHARDS_MOST)))
        return error_set(err, ERROR_INVALID,
                         "aggregate.type_embedding_policy: expected entries `type: nodes`, `type: "
                         "whole`, `type: hash 8` or `type: range 8` with `;` between them, found "
                         "'%.*s'",
                         named_entry_shown(entry->size), entry->text);
    *policy = (enum embedding_policy)found;
    return ERROR_NONE;
}

/* Parses "author: 0.05". */
static enum error_code rate_of(const struct named_entry *entry, double *rate, struct error *err)
{
    if (entry->name_size > 0 && text_double(entry->value, entry->value_size, rate) && *rate >= 0 &&
        *rate <= RATE_MOST)
        return ERROR_NONE;
    return error_set(
        err, ERROR_INVALID,
        "aggregate.type_embedding_rate: expected entries `type: 0.05` with `;` between "
        "them, rates from 0 to %d, found '%.*s'",
        RATE_MOST, named_entry_shown(entry->size), entry->text);
}

static enum error_code find_type(const struct named_entry *entry, const char *setting,
                                 const char (*type_name)[RELATION_NAME_SIZE], uint32_t type_count,
                                 uint32_t *out, struct error *err)
{
    for (*out = 0; *out < type_count; ++*out)
        if (named_entry_is(entry, type_name[*out]))
            return ERROR_NONE;
    return error_set(err, ERROR_INVALID,
                     "%s: expected a node type of the graph, such as %s, found '%.*s'", setting,
                     type_name[0], named_entry_shown(entry->name_size), entry->name);
}

static enum error_code find_widths(const struct pipeline_settings *settings,
                                   const char (*type_name)[RELATION_NAME_SIZE],
                                   const uint32_t *feature_dim, uint32_t type_count,
                                   uint32_t *width, struct error *err)
{
    const char *text = settings->train_step.type_embedding;
    struct named_entry entry;
    enum error_code rc = ERROR_NONE;
    for (uint32_t t = 0; t < type_count; t++)
        width[t] = settings->train_step.features && feature_dim[t]
                       ? 0
                       : (uint32_t)settings->train_step.embedding;
    while (rc == ERROR_NONE && named_entry_next(&text, &entry)) {
        uint32_t type = 0, own = 0;
        rc = width_of(&entry, &own, err);
        if (rc == ERROR_NONE)
            rc = find_type(&entry, "train-step.type_embedding", type_name, type_count, &type, err);
        if (rc == ERROR_NONE)
            width[type] = own;
    }
    return rc;
}

/* Sets the policies of aggregate.type_embedding_policy in tensor [type_count]. */
static enum error_code find_policies(const struct pipeline_settings *settings,
                                     const char (*type_name)[RELATION_NAME_SIZE],
                                     uint32_t type_count, int32_t part_count,
                                     struct embedding_tensor *tensor, struct error *err)
{
    const char *text = settings->aggregate.type_embedding_policy;
    struct named_entry entry;
    enum error_code rc = ERROR_NONE;
    while (rc == ERROR_NONE && named_entry_next(&text, &entry)) {
        enum embedding_policy policy = EMBEDDING_WITH_NODES;
        int64_t shards = 0;
        uint32_t type = 0;
        rc = policy_of(&entry, &policy, &shards, err);
        if (rc == ERROR_NONE)
            rc = find_type(&entry, "aggregate.type_embedding_policy", type_name, type_count, &type,
                           err);
        if (rc != ERROR_NONE)
            break;
        tensor[type].policy = policy;
        tensor[type].shard_count = shards_of(&tensor[type], shards, part_count);
    }
    return rc;
}

/* Sets the rates of aggregate.type_embedding_rate in tensor [type_count]. */
static enum error_code find_rates(const struct pipeline_settings *settings,
                                  const char (*type_name)[RELATION_NAME_SIZE], uint32_t type_count,
                                  struct embedding_tensor *tensor, struct error *err)
{
    const char *text = settings->aggregate.type_embedding_rate;
    struct named_entry entry;
    enum error_code rc = ERROR_NONE;
    while (rc == ERROR_NONE && named_entry_next(&text, &entry)) {
        double rate = 0;
        uint32_t type = 0;
        rc = rate_of(&entry, &rate, err);
        if (rc == ERROR_NONE)
            rc = find_type(&entry, "aggregate.type_embedding_rate", type_name, type_count, &type,
                           err);
        if (rc == ERROR_NONE)
            tensor[type].rate = rate;
    }
    return rc;
}

enum error_code embedding_tensors_of_types(const struct pipeline_settings *settings,
                                           const char (*type_name)[RELATION_NAME_SIZE],
                                           const uint32_t *feature_dim, uint32_t type_count,
                                           int32_t part_count, struct embedding_tensors *out,
                                           struct error *err)
{
    struct embedding_tensor tensor[RELATION_TYPE_COUNT_MAX];
    uint32_t width[RELATION_TYPE_COUNT_MAX];
    *out = (struct embedding_tensors){0};
    enum error_code rc = find_widths(settings, type_name, feature_dim, type_count, width, err);
    for (uint32_t t = 0; rc == ERROR_NONE && t < type_count; t++)
        tensor[t] = tensor_of(settings, t, width[t], part_count);
    if (rc == ERROR_NONE)
        rc = find_policies(settings, type_name, type_count, part_count, tensor, err);
    if (rc == ERROR_NONE)
        rc = find_rates(settings, type_name, type_count, tensor, err);
    for (uint32_t t = 0; rc == ERROR_NONE && t < type_count; t++)
        if (width[t] > 0)
            add(out, &tensor[t]);
    return rc;
}

static enum error_code check_width(const struct named_entry *entry, struct error *err)
{
    uint32_t width = 0;
    return width_of(entry, &width, err);
}

static enum error_code check_policy(const struct named_entry *entry, struct error *err)
{
    enum embedding_policy policy = EMBEDDING_WITH_NODES;
    int64_t shards = 0;
    return policy_of(entry, &policy, &shards, err);
}

static enum error_code check_rate(const struct named_entry *entry, struct error *err)
{
    double rate = 0;
    return rate_of(entry, &rate, err);
}

enum error_code embedding_tensors_check(const struct pipeline_settings *settings, struct error *err)
{
    const struct {
        const char *name, *text;
        enum error_code (*check)(const struct named_entry *entry, struct error *err);
    } lists[] = {
        {"train-step.type_embedding", settings->train_step.type_embedding, check_width},
        {"aggregate.type_embedding_policy", settings->aggregate.type_embedding_policy,
         check_policy},
        {"aggregate.type_embedding_rate", settings->aggregate.type_embedding_rate, check_rate}};
    enum error_code rc = ERROR_NONE;
    for (size_t i = 0; i < sizeof lists / sizeof *lists && rc == ERROR_NONE; i++) {
        const char *text = lists[i].text;
        struct named_entry entry;
        if (*text && !settings->ingest.relations)
            return error_set(err, ERROR_INVALID,
                             "%s is '%.60s', but ingest.relations is false: " ADVICE
                             "write `relations: "
                             "true` below `ingest:`, or remove the line",
                             lists[i].name, text);
        while (rc == ERROR_NONE && named_entry_next(&text, &entry)) {
            rc = lists[i].check(&entry, err);
        }
    }
    return rc;
}

bool embedding_is_wanted(const struct pipeline_settings *settings)
{
    return settings->train_step.embedding > 0 || settings->train_step.type_embedding[0];
}

const struct embedding_tensor *embedding_tensor_of(const struct embedding_tensors *tensors,
                                                   uint32_t type)
{
    for (int i = 0; i < tensors->count; i++)
        if (tensors->tensor[i].type == type)
            return &tensors->tensor[i];
    return NULL;
}
