#include "stages/tables/edge_words.h"

#include <ctype.h>
#include <string.h>

enum { WORD_SIZE = 64 };

static const char *const source_words[] = {
    "source", "src",       "from",        "head",     "subject",    "subj",      "start",
    "origin", "orig",      "name_orig",   "sender",   "caller",     "follower",  "citing",
    "citer",  "payer",     "giver",       "rater",    "truster",    "u",         "h",
    "s",      "from_node", "source_node", "src_node", "start_node", "node_from", NULL};
static const char *const target_words[] = {
    "target",   "dst",     "dest",        "destination", "to",        "tail",    "object",
    "obj",      "end",     "name_dest",   "receiver",    "recipient", "callee",  "followee",
    "followed", "cited",   "payee",       "taker",       "ratee",     "trustee", "v",
    "o",        "to_node", "target_node", "dst_node",    "end_node",  "node_to", NULL};
/* Two kinds of things, of which the first acts on the second. */
static const char *const actor_words[] = {"user",     "customer", "reviewer", "reader",  "client",
                                          "member",   "account",  "person",   "visitor", "author",
                                          "student",  "voter",    "player",   "patient", "viewer",
                                          "listener", "profile",  NULL};
static const char *const thing_words[] = {
    "item",    "movie",    "film",  "product", "book",      "isbn",       "page",
    "artist",  "song",     "track", "album",   "business",  "restaurant", "paper",
    "article", "merchant", "game",  "video",   "course",    "recipe",     "shop",
    "hotel",   "venue",    "place", "group",   "community", "subreddit",  NULL};
static const char *const weight_words[] = {"weight", "w",      "rating",    "value",
                                           "score",  "amount", "count",     "strength",
                                           "stars",  "freq",   "frequency", NULL};
static const char *const type_words[] = {
    "etype",         "edge_type",    "relation",  "rel",      "predicate",
    "pred",          "type",         "rel_type",  "r",        "p",
    "relation_type", "relationship", "link_type", "property", NULL};
static const char *const time_words[] = {"time", "timestamp",  "unixts",    "t",          "ts",
                                         "date", "datetime",   "unix_time", "unixtime",   "day",
                                         "year", "time_stamp", "date_time", "created_at", NULL};
static const char *const id_words[] = {"edge_id", "eid", "edge", NULL};
static const char *const feature_words[] = {"feat",         "feature", "edge_feat",
                                            "edge_feature", "msg",     NULL};

struct word_list {
    const char *const *words; /* those of a column begin with the one of ingest.edge_columns */
    size_t label_words;       /* so many of them mean the column as ingest.edge_label, too */
    struct edge_word meaning;
    bool has_number; /* feat_0, feat1: the number does not count */
};

static const struct word_list lists[] = {
    {source_words, 0, {.role = EDGE_ROLE_SOURCE}, false},
    {target_words, 0, {.role = EDGE_ROLE_TARGET}, false},
    {actor_words, 0, {.role = EDGE_ROLE_SOURCE, .is_kind = true}, false},
    {thing_words, 0, {.role = EDGE_ROLE_TARGET, .is_kind = true}, false},
    {weight_words, 4, {.role = EDGE_ROLE_COLUMN, .column = EDGE_WEIGHT}, false},
    {type_words, 3, {.role = EDGE_ROLE_COLUMN, .column = EDGE_TYPE}, false},
    {time_words, 4, {.role = EDGE_ROLE_COLUMN, .column = EDGE_TIME}, false},
    {id_words, 2, {.role = EDGE_ROLE_COLUMN, .column = EDGE_ID}, false},
    {feature_words, 5, {.role = EDGE_ROLE_COLUMN, .column = EDGE_FEATURE}, true},
};
enum { LIST_COUNT = sizeof lists / sizeof *lists };

/* ---- the plain form of a name ---------------------------------------------------------------- */

static bool is_separator(char c)
{
    return c == '_' || c == ' ' || c == '-' || c == '.' || c == ':';
}

/* Writes the name in lower case, with one `_` where a word begins: movie_id for movieId and "Movie
 * ID". False if the name is longer than all words. */
static bool make_plain(const struct field *name, char out[WORD_SIZE])
{
    size_t size = 0;
    bool begins = false;
    if (name->size >= WORD_SIZE / 2)
        return false;
    for (size_t i = 0; i < name->size; i++) {
        const char c = name->text[i];
        const bool is_hump =
            i > 0 && isupper((unsigned char)c) && islower((unsigned char)name->text[i - 1]);
        if (is_separator(c)) {
            begins = size > 0;
            continue;
        }
        if (begins || (is_hump && size > 0))
            out[size++] = '_';
        begins = false;
        out[size++] = (char)tolower((unsigned char)c);
    }
    out[size] = '\0';
    return size > 0;
}

static void cut_id(char *word)
{
    static const char end[] = "_id";
    const size_t size = strlen(word), length = sizeof end - 1;
    if (size > length && strcmp(word + size - length, end) == 0)
        word[size - length] = '\0';
}

static void cut_number(char *word)
{
    size_t size = strlen(word);
    while (size > 1 && isdigit((unsigned char)word[size - 1]))
        size--;
    while (size > 1 && word[size - 1] == '_')
        size--;
    word[size] = '\0';
}

static bool is_one_of(const char *word, const char *const *words)
{
    for (; *words; words++)
        if (strcmp(word, *words) == 0)
            return true;
    return false;
}

/* The first word of from_address and toAccount names an end. */
static bool begins_with_end(const char *word, struct edge_word *out)
{
    static const char *const sources[] = {"source", "src", "from", NULL};
    static const char *const targets[] = {"target", "dst", "dest", "to", NULL};
    char first[WORD_SIZE];
    const char *end = strchr(word, '_');
    if (!end)
        return false;
    memcpy(first, word, (size_t)(end - word));
    first[end - word] = '\0';
    *out = (struct edge_word){.role = is_one_of(first, sources)   ? EDGE_ROLE_SOURCE
                                      : is_one_of(first, targets) ? EDGE_ROLE_TARGET
                                                                  : EDGE_ROLE_NONE};
    return out->role != EDGE_ROLE_NONE;
}

struct field edge_word_group(const struct field *name)
{
    const char *open = name->size ? memchr(name->text, '(', name->size) : NULL;
    const char *end = name->text + name->size;
    if (!open || end[-1] != ')')
        return (struct field){0};
    return (struct field){open + 1, (size_t)(end - open) - 2};
}

struct edge_word edge_word_of(const struct field *name)
{
    char word[WORD_SIZE], without[WORD_SIZE];
    struct edge_word meaning = {.role = EDGE_ROLE_NONE};
    const struct field group = edge_word_group(name);
    const struct field own = {name->text, group.size ? name->size - group.size - 2 : name->size};
    if (!make_plain(&own, word))
        return meaning;
    cut_id(word);
    memcpy(without, word, sizeof without);
    cut_number(without);
    for (size_t i = 0; i < LIST_COUNT; i++)
        if (is_one_of(lists[i].has_number ? without : word, lists[i].words))
            return lists[i].meaning;
    (void)begins_with_end(word, &meaning);
    return meaning;
}

const char *edge_word_for(enum edge_column column)
{
    for (size_t i = 0; i < LIST_COUNT; i++)
        if (lists[i].meaning.role == EDGE_ROLE_COLUMN && lists[i].meaning.column == column)
            return *lists[i].words;
    return NULL;
}

bool edge_word_is_known(const struct field *name)
{
    return edge_word_of(name).role != EDGE_ROLE_NONE;
}

bool edge_words_are_pair(const struct field *first, const struct field *second)
{
    static const char *const ends[] = {"12", "01", "ab", "AB", "xy", "ij", "uv"};
    const size_t size = first->size;
    if (size < 2 || size != second->size || memcmp(first->text, second->text, size - 1) != 0 ||
        isdigit((unsigned char)first->text[0]))
        return false; /* two numbers are two ids */
    const bool is_apart = is_separator(first->text[size - 2]);
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (first->text[size - 1] == ends[i][0] && second->text[size - 1] == ends[i][1])
            return is_apart || isdigit((unsigned char)ends[i][0]) ||
                   (isupper((unsigned char)ends[i][0]) &&
                    islower((unsigned char)first->text[size - 2]));
    return false;
}

enum edge_column edge_word_label(const struct field *name)
{
    char word[WORD_SIZE];
    for (size_t i = 0; make_plain(name, word) && i < LIST_COUNT; i++)
        for (size_t k = 0; k < lists[i].label_words; k++)
            if (strcmp(word, lists[i].words[k]) == 0)
                return lists[i].meaning.column;
    return EDGE_LABEL;
}

bool edge_word_is_label(const struct field *name, const char *label)
{
    return label && field_is(name, label) && edge_word_label(name) == EDGE_LABEL;
}
