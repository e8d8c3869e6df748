#include "stages/ingest/build/edge_holdout.h"

#include "common/base/memory.h"
#include "common/base/random.h"
#include "common/base/text.h"
#include "stages/ingest/build/edge_labels.h"
#include "store/objects/keys.h"
#include "store/records/node_ids.h"

#include <inttypes.h>
#include <string.h>

enum { LAST_COUNT = 3, DIGIT_BITS = 16, STAYS = -1 };

struct last_edge {
    double time; /* 0 without times */
    uint64_t draw;
    uint32_t target;
};

/* The last edges of a source, the last first. */
struct last_edges {
    struct last_edge edge[LAST_COUNT];
    uint32_t count; /* as far as there are so many */
};

enum error_code edge_holdout_init(struct edge_holdout *holdout,
                                  const struct pipeline_settings *settings,
                                  const struct dataset_schema *schema, uint64_t memory_bytes,
                                  struct error *err)
{
    *holdout = (struct edge_holdout){.schema = schema,
                                     .seed = (uint64_t)settings->seed,
                                     .memory_bytes = memory_bytes,
                                     .is_wanted = pipeline_learns_pairs(settings)};
    return holdout->is_wanted ? pipeline_edge_split(settings, &holdout->split, err) : ERROR_NONE;
}

static void release_edges(struct held_edges *held)
{
    memory_free(held->source);
    memory_free(held->target);
    memory_free(held->type);
    memory_free(held->label);
    memory_free(held->time);
    memory_free(held->line);
    memory_free(held->where);
}

void edge_holdout_release(struct edge_holdout *holdout)
{
    for (int s = 0; s < HELD_OUT_COUNT; s++) {
        release_edges(&holdout->held[s]);
        release_edges(&holdout->listed[s]);
    }
    memory_free(holdout->last);
    memory_free(holdout->given);
    memory_free(holdout->train_class);
    *holdout = (struct edge_holdout){0};
}

static bool has_labels(const struct edge_holdout *holdout)
{
    return holdout->labels && holdout->labels->task;
}

/* ---- lists ------------------------------------------------------------------------------------ */

static enum error_code check_room(const struct edge_holdout *holdout, int split, struct error *err)
{
    const struct held_edges *held = holdout->held, *listed = holdout->listed;
    const uint64_t count = held[0].count + held[1].count + listed[0].count + listed[1].count;
    const uint64_t bytes = (count + 1) * (has_labels(holdout) ? 22 : 10);
    char have[32], want[32];
    if (holdout->memory_bytes && bytes > holdout->memory_bytes / 4)
        return error_set(err, ERROR_NO_MEMORY,
                         "the held-out edges take more than %s: expected at most a quarter of the "
                         "memory budget of %s; give more --memory, or hold out fewer "
                         "(ingest.edge_split)",
                         text_size(bytes, want), text_size(holdout->memory_bytes, have));
    return held[split].count < UINT32_MAX
               ? ERROR_NONE
               : error_set(err, ERROR_INPUT, "expected at most %u edges of the %s split",
                           UINT32_MAX, held_out_name[split]);
}

static enum error_code add_edge(struct held_edges *held, uint32_t source, uint32_t target,
                                uint16_t type, struct error *err)
{
    static const char what[] = "held-out edges";
    enum error_code rc =
        memory_grow(&held->source, &held->source_capacity, held->count + 1, what, err);
    if (rc == ERROR_NONE)
        rc = memory_grow(&held->target, &held->target_capacity, held->count + 1, what, err);
    if (rc == ERROR_NONE)
        rc = memory_grow(&held->type, &held->type_capacity, held->count + 1, what, err);
    if (rc != ERROR_NONE)
        return rc;
    held->type[held->count] = type;
    held->source[held->count] = source;
    held->target[held->count++] = target;
    return ERROR_NONE;
}

enum error_code edge_holdout_give(struct edge_holdout *holdout, enum held_out split,
                                  const struct given_edge *edge, struct error *err)
{
    struct held_edges *held = &holdout->listed[split];
    const char *where = edge->where;
    const int64_t nodes = holdout->schema->node_count, end[] = {edge->source, edge->target};
    enum error_code rc = ERROR_NONE;
    must(holdout->is_wanted);
    for (int i = 0; i < 2; i++)
        if (end[i] < 0 || end[i] >= nodes)
            return error_set(err, ERROR_INPUT,
                             "%s:%" PRId64 ": %s %" PRId64
                             " is out of range: expected a node id from 0 to %" PRId64,
                             where, edge->line, i ? "target" : "source", end[i], nodes - 1);
    if (!held->where) {
        const size_t size = strlen(where) + 1;
        rc = memory_new(&held->where, size, "the name of a file", err);
        if (rc == ERROR_NONE)
            memcpy(held->where, where, size);
    }
    if (rc == ERROR_NONE)
        rc = check_room(holdout, (int)split, err);
    if (rc == ERROR_NONE)
        rc = memory_grow(&held->line, &held->line_capacity, held->count + 1, "lines of edges", err);
    if (rc != ERROR_NONE)
        return rc;
    held->line[held->count] = edge->line;
    return add_edge(held, (uint32_t)edge->source, (uint32_t)edge->target, edge->type, err);
}

/* ---- all edges, once more --------------------------------------------------------------------- */

struct visited_edge {
    uint32_t source, target;
    double time;   /* 0 without times */
    uint16_t type; /* 0 without types */
};
typedef enum error_code (*edge_visitor)(void *context, const struct visited_edge *edge,
                                        struct error *err);

static double time_of(const struct edge_columns_view *columns, uint64_t edge)
{
    double time = 0;
    if (columns->width.of[EDGE_TIME])
        memcpy(&time, edge_columns_at(columns, EDGE_TIME, edge), sizeof time);
    return time;
}

static uint16_t type_of(const struct edge_columns_view *columns, uint64_t edge)
{
    const uint16_t *type = columns->data[EDGE_TYPE];
    return type ? type[edge] : 0;
}

/* Self loops, which stay, are left out. */
static enum error_code walk(struct edge_spool *spool, edge_visitor visit, void *context,
                            struct error *err)
{
    struct spool_piece piece = {0};
    enum error_code rc = spool_piece_init(&piece, spool, err);
    if (rc == ERROR_NONE)
        rc = edge_spool_rewind(spool, err);
    do {
        if (rc == ERROR_NONE)
            rc = edge_spool_read(spool, &piece, err);
        const struct edge_columns_view columns = edge_columns_read(&piece.columns, 0);
        for (size_t i = 0; rc == ERROR_NONE && i < piece.count; i++) {
            const struct visited_edge edge = {piece.source[i], piece.target[i],
                                              time_of(&columns, i), type_of(&columns, i)};
            if (edge.source != edge.target)
                rc = visit(context, &edge, err);
        }
    } while (rc == ERROR_NONE && piece.count > 0);
    spool_piece_release(&piece);
    return rc;
}

/* ---- by time ---------------------------------------------------------------------------------- */

/* The order of numbers is that of these. */
static uint64_t ordered(double time)
{
    uint64_t bits = 0;
    const double plain = time + 0.0; /* -0 is 0 */
    memcpy(&bits, &plain, sizeof bits);
    return bits >> 63 ? ~bits : bits | UINT64_C(1) << 63;
}

static double from_ordered(uint64_t place)
{
    double time = 0;
    const uint64_t bits = place >> 63 ? place & ~(UINT64_C(1) << 63) : ~place;
    memcpy(&time, &bits, sizeof time);
    return time;
}

struct digit_counts {
    uint64_t prefix; /* of the times that are counted, above `shift` + DIGIT_BITS */
    unsigned shift;
    uint64_t all;
    uint64_t *count; /* [1 << DIGIT_BITS] by the next digit */
};

static enum error_code count_digit(void *context, const struct visited_edge *edge,
                                   struct error *err)
{
    struct digit_counts *digits = context;
    const uint64_t place = ordered(edge->time), digit = place >> digits->shift & 0xffff;
    (void)err;
    digits->all++;
    if (digits->shift == 64 - DIGIT_BITS || place >> (digits->shift + DIGIT_BITS) == digits->prefix)
        digits->count[digit]++;
    return ERROR_NONE;
}

/* The largest of the first `percent` percent of the times: digit after digit, in four passes over the edges. */
static enum error_code find_time(struct edge_spool *spool, int percent, uint64_t *count,
                                 double *time, struct error *err)
{
    struct digit_counts digits = {.shift = 64 - DIGIT_BITS, .count = count};
    uint64_t before = 0, wanted = 0;
    for (;; digits.shift -= DIGIT_BITS) {
        memset(count, 0, sizeof *count << DIGIT_BITS);
        digits.all = 0;
        const enum error_code rc = walk(spool, count_digit, &digits, err);
        if (rc != ERROR_NONE || digits.all == 0)
            return rc;
        wanted = digits.all / 100 * (uint64_t)percent +
                 (digits.all % 100 * (uint64_t)percent + 99) / 100;
        uint64_t digit = 0;
        while (digit < 0xffff && before + count[digit] < wanted)
            before += count[digit++];
        digits.prefix = digits.prefix << DIGIT_BITS | digit;
        if (digits.shift == 0)
            break;
    }
    *time = from_ordered(digits.prefix);
    return ERROR_NONE;
}

static enum error_code find_times(struct edge_holdout *holdout, struct edge_spool *spool,
                                  struct error *err)
{
    const int *percent = holdout->split.percent;
    uint64_t *count = NULL;
    if (!spool->width.of[EDGE_TIME])
        return error_set(err, ERROR_INPUT,
                         "ingest.edge_split is by time, but the edges have no times: expected a "
                         "column `time` beside them, or `edge_split: random 85/5/10`");
    enum error_code rc = memory_new(&count, (size_t)1 << DIGIT_BITS, "counts of times", err);
    if (rc == ERROR_NONE)
        rc = find_time(spool, percent[0], count, &holdout->time_end[0], err);
    if (rc == ERROR_NONE)
        rc = find_time(spool, percent[0] + percent[1], count, &holdout->time_end[1], err);
    memory_free(count);
    return rc;
}

/* ---- leave one out ---------------------------------------------------------------------------- */

static uint64_t draw_of(const struct edge_holdout *holdout, uint32_t a, uint32_t b)
{
    const struct random_stream stream = random_stream_of(holdout->seed, RANDOM_EDGE_SPLIT, a, 0, 0);
    uint32_t word[4];
    random_block(&stream, b, 0, word);
    return (uint64_t)word[0] << 32 | word[1];
}

static bool is_same_time(double a, double b)
{
    return ordered(a) == ordered(b);
}

static bool is_later(const struct last_edge *a, const struct last_edge *b)
{
    if (!is_same_time(a->time, b->time))
        return a->time > b->time;
    return a->draw != b->draw ? a->draw > b->draw : a->target > b->target;
}

static enum error_code note_last(void *context, const struct visited_edge *visited,
                                 struct error *err)
{
    struct edge_holdout *holdout = context;
    struct last_edges *last = &holdout->last[visited->source];
    const struct last_edge edge = {
        visited->time, draw_of(holdout, visited->source, visited->target), visited->target};
    uint32_t at = 0;
    (void)err;
    while (at < last->count && is_later(&last->edge[at], &edge))
        at++;
    if (at == LAST_COUNT ||
        (at < last->count && !is_later(&edge, &last->edge[at]))) /* one that repeats it */
        return ERROR_NONE;
    last->count += last->count < LAST_COUNT;
    for (uint32_t i = last->count - 1; i > at; i--)
        last->edge[i] = last->edge[i - 1];
    last->edge[at] = edge;
    return ERROR_NONE;
}

/* As an edge from `source`. */
static int split_of_last(const struct edge_holdout *holdout, uint32_t source, uint32_t target,
                         double time)
{
    const struct last_edges *last = &holdout->last[source];
    if (last->count < LAST_COUNT)
        return STAYS;
    for (int i = 0; i < 2; i++)
        if (last->edge[i].target == target && is_same_time(last->edge[i].time, time))
            return i ? HELD_OUT_VALID : HELD_OUT_TEST;
    return STAYS;
}

/* ---- given ------------------------------------------------------------------------------------ */

static uint64_t pair_of(const struct edge_holdout *holdout, uint32_t source, uint32_t target)
{
    const bool turns = holdout->schema->undirected && source > target;
    return turns ? (uint64_t)target << 32 | source : (uint64_t)source << 32 | target;
}

static uint64_t place_of(const struct edge_holdout *holdout, uint64_t pair, uint16_t type)
{
    pair ^= pair >> 32 ^ (uint64_t)type << 24;
    return pair * UINT64_C(0x9e3779b97f4a7c15) >> 20 & (holdout->given_size - 1);
}

static uint64_t given_pair(const struct edge_holdout *holdout, uint64_t entry)
{
    const struct held_edges *held = &holdout->listed[(entry - 1) & 1];
    return pair_of(holdout, held->source[(entry - 1) >> 1], held->target[(entry - 1) >> 1]);
}

static uint16_t given_type(const struct edge_holdout *holdout, uint64_t entry)
{
    return holdout->listed[(entry - 1) & 1].type[(entry - 1) >> 1];
}

/* The place of the entry of a pair, or the free one where it would be. */
static uint64_t *find_given(const struct edge_holdout *holdout, uint64_t pair, uint16_t type)
{
    uint64_t at = place_of(holdout, pair, type);
    while (holdout->given[at] && (given_pair(holdout, holdout->given[at]) != pair ||
                                  given_type(holdout, holdout->given[at]) != type))
        at = (at + 1) & (holdout->given_size - 1);
    return &holdout->given[at];
}

static const char *name_of(const struct edge_holdout *holdout, uint32_t node,
                           char text[NODE_ID_TEXT_SIZE])
{
    static const struct node_ids none;
    return node_ids_text(holdout->ids ? holdout->ids : &none, node, text);
}

static enum error_code enter_given(struct edge_holdout *holdout, int s, size_t i, struct error *err)
{
    const struct held_edges *held = &holdout->listed[s];
    uint64_t *entry =
        find_given(holdout, pair_of(holdout, held->source[i], held->target[i]), held->type[i]);
    char source[NODE_ID_TEXT_SIZE], target[NODE_ID_TEXT_SIZE];
    if (!*entry) {
        *entry = 1 + ((uint64_t)i << 1 | (uint64_t)s);
        return ERROR_NONE;
    }
    const struct held_edges *first = &holdout->listed[(*entry - 1) & 1];
    return error_set(err, ERROR_INPUT,
                     "%s:%" PRId64 ": the edge between %s and %s is that of %s:%" PRId64
                     ": expected each held-out edge once",
                     held->where, held->line[i], name_of(holdout, held->source[i], source),
                     name_of(holdout, held->target[i], target), first->where,
                     first->line[(*entry - 1) >> 1]);
}

static enum error_code refuse_leak(void *context, const struct visited_edge *edge,
                                   struct error *err)
{
    const struct edge_holdout *holdout = context;
    const uint64_t entry =
        *find_given(holdout, pair_of(holdout, edge->source, edge->target), edge->type);
    char from[NODE_ID_TEXT_SIZE], to[NODE_ID_TEXT_SIZE];
    if (!entry)
        return ERROR_NONE;
    const struct held_edges *held = &holdout->listed[(entry - 1) & 1];
    return error_set(err, ERROR_INPUT,
                     "%s:%" PRId64 ": the edge between %s and %s is also a training edge, so the "
                     "split leaks: expected held-out edges that are not in ingest.path%s",
                     held->where, held->line[(entry - 1) >> 1],
                     name_of(holdout, edge->source, from), name_of(holdout, edge->target, to),
                     holdout->schema->undirected ? " in either direction" : "");
}

/* Those that the input has, by a line below 0. */
static enum error_code mark_found(void *context, const struct visited_edge *edge, struct error *err)
{
    struct edge_holdout *holdout = context;
    const uint64_t entry =
        *find_given(holdout, pair_of(holdout, edge->source, edge->target), edge->type);
    (void)err;
    if (!entry)
        return ERROR_NONE;
    int64_t *line = &holdout->listed[(entry - 1) & 1].line[(entry - 1) >> 1];
    *line = *line > 0 ? -*line : *line;
    return ERROR_NONE;
}

/* Labels stand in the input alone. */
static enum error_code expect_found(const struct edge_holdout *holdout, struct error *err)
{
    char from[NODE_ID_TEXT_SIZE], to[NODE_ID_TEXT_SIZE];
    for (int s = 0; s < HELD_OUT_COUNT; s++) {
        const struct held_edges *listed = &holdout->listed[s];
        for (size_t i = 0; i < listed->count; i++)
            if (listed->line[i] > 0)
                return error_set(err, ERROR_INPUT,
                                 "%s:%" PRId64 ": no edge leads from %s to %s: expected one of the "
                                 "edges in ingest.path, which has the label",
                                 listed->where, listed->line[i],
                                 name_of(holdout, listed->source[i], from),
                                 name_of(holdout, listed->target[i], to));
    }
    return ERROR_NONE;
}

static enum error_code check_given(struct edge_holdout *holdout, struct edge_spool *spool,
                                   struct error *err)
{
    const uint64_t count = holdout->listed[0].count + holdout->listed[1].count;
    holdout->given_size = 16;
    while (holdout->given_size < 2 * count)
        holdout->given_size *= 2;
    enum error_code rc = memory_new(&holdout->given, holdout->given_size, "held-out edges", err);
    for (int s = 0; s < HELD_OUT_COUNT; s++)
        for (size_t i = 0; rc == ERROR_NONE && i < holdout->listed[s].count; i++)
            rc = enter_given(holdout, s, i, err);
    if (rc == ERROR_NONE)
        rc = walk(spool, has_labels(holdout) ? mark_found : refuse_leak, holdout, err);
    if (rc == ERROR_NONE && has_labels(holdout))
        return expect_found(holdout, err); /* the table stays for the rows */
    memory_free(holdout->given);
    holdout->given = NULL;
    for (int s = 0; rc == ERROR_NONE && s < HELD_OUT_COUNT; s++) {
        holdout->held[s] = holdout->listed[s];
        holdout->listed[s] = (struct held_edges){0};
    }
    return rc;
}

enum error_code edge_holdout_prepare(struct edge_holdout *holdout, struct edge_spool *spool,
                                     struct error *err)
{
    if (!holdout->is_wanted || spool->edge_count == 0)
        return ERROR_NONE;
    const enum error_code made =
        has_labels(holdout)
            ? memory_new(&holdout->train_class, holdout->labels->class_count, "classes", err)
            : ERROR_NONE;
    if (made != ERROR_NONE)
        return made;
    switch (holdout->split.kind) {
    case EDGE_SPLIT_RANDOM:
        break;
    case EDGE_SPLIT_TIME:
        return find_times(holdout, spool, err);
    case EDGE_SPLIT_LEAVE_ONE_OUT: {
        const enum error_code rc =
            memory_new(&holdout->last, holdout->schema->node_count, "the last edges of nodes", err);
        return rc == ERROR_NONE ? walk(spool, note_last, holdout, err) : rc;
    }
    case EDGE_SPLIT_GIVEN:
        return check_given(holdout, spool, err);
    }
    return ERROR_NONE;
}

/* ---- rows ------------------------------------------------------------------------------------- */

static int split_by_draw(const struct edge_holdout *holdout, uint32_t source, uint32_t target)
{
    const uint64_t pair = pair_of(holdout, source, target);
    const uint64_t draw = draw_of(holdout, (uint32_t)(pair >> 32), (uint32_t)pair);
    const double percent = (double)(draw >> 11) * 0x1p-53 * 100;
    if (percent < holdout->split.percent[0])
        return STAYS;
    return percent < holdout->split.percent[0] + holdout->split.percent[1] ? HELD_OUT_VALID
                                                                           : HELD_OUT_TEST;
}

static int split_by_time(const struct edge_holdout *holdout, double time)
{
    if (time <= holdout->time_end[0])
        return STAYS;
    return time <= holdout->time_end[1] ? HELD_OUT_VALID : HELD_OUT_TEST;
}

/* The same for both ways of an undirected edge. */
static int split_of(const struct edge_holdout *holdout, uint32_t source, uint32_t target,
                    uint16_t type, double time)
{
    if (source == target)
        return STAYS;
    if (holdout->split.kind == EDGE_SPLIT_GIVEN) {
        const uint64_t entry =
            holdout->given ? *find_given(holdout, pair_of(holdout, source, target), type) : 0;
        return entry ? (int)((entry - 1) & 1) : STAYS;
    }
    if (holdout->split.kind == EDGE_SPLIT_RANDOM)
        return split_by_draw(holdout, source, target);
    if (holdout->split.kind == EDGE_SPLIT_TIME)
        return split_by_time(holdout, time);
    const int there = split_of_last(holdout, source, target, time);
    if (!holdout->schema->undirected)
        return there;
    /* NOLINTNEXTLINE(readability-suspicious-call-argument): the way back */
    const int back = split_of_last(holdout, target, source, time);
    return there > back ? there : back;
}

/* An edge of a row; `labelled`: with what else is known of it. */
static enum error_code note(struct edge_holdout *holdout, int split, uint32_t source,
                            uint32_t target, const struct edge_columns_view *columns, uint64_t edge,
                            struct error *err)
{
    struct held_edges *held = &holdout->held[split];
    const size_t wanted = held->count + 1;
    const bool is_labelled = has_labels(holdout), is_timed = columns->width.of[EDGE_TIME] != 0;
    enum error_code rc = check_room(holdout, split, err);
    if (rc == ERROR_NONE && is_labelled)
        rc = memory_grow(&held->label, &held->label_capacity, wanted, "labels of edges", err);
    if (rc == ERROR_NONE && is_labelled && is_timed)
        rc = memory_grow(&held->time, &held->time_capacity, wanted, "times of edges", err);
    if (rc != ERROR_NONE)
        return rc;
    if (is_labelled)
        memcpy(&held->label[held->count], edge_columns_at(columns, EDGE_LABEL, edge),
               sizeof(float));
    if (is_labelled && is_timed)
        held->time[held->count] = time_of(columns, edge);
    return add_edge(held, source, target, type_of(columns, edge), err);
}

/* An edge that stays. */
static void count_class(struct edge_holdout *holdout, const struct edge_columns_view *columns,
                        uint64_t edge)
{
    float label = 0;
    if (!has_labels(holdout) || !holdout->labels->task->is_in_class)
        return;
    memcpy(&label, edge_columns_at(columns, EDGE_LABEL, edge), sizeof label);
    holdout->train_class[(uint32_t)label]++;
}

enum error_code edge_holdout_take(struct edge_holdout *holdout, uint32_t node,
                                  const struct edge_row *row, uint64_t *order, uint32_t *kept,
                                  struct error *err)
{
    uint32_t to = 0;
    uint64_t noted[HELD_OUT_COUNT] = {UINT64_MAX, UINT64_MAX}; /* a link of a type is noted once */
    enum error_code rc = ERROR_NONE;
    if (!holdout->is_wanted)
        return ERROR_NONE;
    for (uint32_t i = 0; rc == ERROR_NONE && i < *kept; i++) {
        const uint32_t source = (uint32_t)(order[i] >> 32), edge = (uint32_t)order[i];
        const uint16_t type = type_of(&row->columns, edge);
        const uint64_t link = (uint64_t)source << 16 | type;
        const int split = split_of(holdout, source, node, type, time_of(&row->columns, edge));
        if (split == STAYS) {
            count_class(holdout, &row->columns, edge);
            order[to++] = order[i];
        } else if ((noted[split] != link || has_labels(holdout)) &&
                   (!holdout->schema->undirected || source < node)) {
            noted[split] = link;
            rc = note(holdout, split, source, node, &row->columns, edge, err);
        }
    }
    *kept = to;
    return rc;
}

enum error_code edge_holdout_put(const struct edge_holdout *holdout, bool has_types,
                                 struct store *store, struct error *err)
{
    struct edge_splits splits = {.undirected = holdout->schema->undirected};
    const char *id = holdout->schema->id;
    if (!holdout->is_wanted)
        return ERROR_NONE;
    splits.is_labelled = has_labels(holdout);
    splits.is_timed = splits.is_labelled && holdout->schema->edge_width.of[EDGE_TIME] != 0;
    if (splits.is_labelled && holdout->labels->task->is_in_class) {
        splits.class_count = holdout->labels->class_count;
        splits.train_class = holdout->train_class;
    }
    for (int s = 0; s < HELD_OUT_COUNT; s++) {
        splits.count[s] = holdout->held[s].count;
        splits.source[s] = holdout->held[s].source;
        splits.target[s] = holdout->held[s].target;
        splits.type[s] = has_types ? holdout->held[s].type : NULL;
        splits.label[s] = holdout->held[s].label;
        splits.time[s] = holdout->held[s].time;
    }
    return edge_splits_put(store, key_dataset(id, "edge_splits").text, id, &splits, err);
}
