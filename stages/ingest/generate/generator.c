/*
 * generator - a graph of planted communities, of any size, from a seed (format: generated).
 *
 * Degrees follow a power law, a share `homophily` of the edges stays inside a community, the
 * communities are the classes, and features are a class's centre plus noise. The model is the
 * degree-corrected stochastic block model (Karrer and Newman 2011). The graph is generated as a
 * stream: memory is bounded by a few numbers for each class and node. The same settings and seed
 * give the same bytes, whatever the memory and thread count.
 *
 * Each draw depends on the seed and on its purpose: an edge on its number; features, label and
 * split on the node. So any piece could be drawn by itself. Node ids are a random permutation of
 * the model's places, so an id reveals nothing about its node.
 *
 * Edges are drawn one by one: a source by weight among all nodes; then, with probability
 * `homophily`, a target by weight inside the source's community, else by weight in another one. An
 * edge never joins a node to itself, but two edges may be equal; ingest.duplicates decides whether
 * they are kept.
 *
 * The noise is only nearly normal: it is the sum of twelve uniform numbers of ten bits, which has
 * variance 1 (less a millionth) and no tail beyond 6, and is exact in binary floating point.
 * Logarithms and cosines would not be exact: their last bit differs between C libraries and
 * processors, and then the bytes of the graph would differ, too. The code uses only +, -, *, / and
 * sqrt, which IEEE 754 defines exactly.
 *
 * Memory for each node: 4 bytes (its id) while edges are drawn, then 2 (its community) and 8
 * (labels or one split, in the form that the builder takes). The pieces and 8 bytes for each
 * community and level come on top; the builder has memory of its own.
 */
#include "common/base/memory.h"
#include "common/numbers/random.h"
#include "stages/ingest/formats/shared/input_format.h"
#include "stages/ingest/generate/community_model.h"
#include "store/records/dataset/node_splits.h"

#include <inttypes.h>
#include <math.h>

enum draw {
    DRAW_EDGE,
    DRAW_NODE_ID,
    DRAW_CENTRE,
    DRAW_NOISE,
    DRAW_LABEL,
    DRAW_SPLIT,
};

enum {
    PIECE_EDGES = 8192,
    PIECE_FLOATS = 1 << 18,
    ATTEMPTS_INSIDE = 64,
    ATTEMPTS_MAX = 256,
};

static const char *const where = "generated";

struct generator {
    const struct pipeline_settings *settings;
    struct dataset_builder *builder;
    uint32_t node_count, class_count;
    struct community_model model;
    uint32_t *node_of;   /* [node_count] by place; only while edges are drawn */
    uint16_t *community; /* [node_count] by node */
};

static struct random_stream stream_of(const struct generator *generator, enum draw draw)
{
    return random_stream_of((uint64_t)generator->settings->seed, RANDOM_GENERATOR, 0,
                            (uint32_t)draw, 0);
}

static uint64_t pair(const uint32_t word[4], int first)
{
    return (uint64_t)word[first] << 32 | word[first + 1];
}

static enum error_code check_settings(const struct pipeline_settings *settings, struct error *err)
{
    const int64_t nodes = settings->ingest.nodes, classes = settings->ingest.classes;
    if (nodes < 2 || nodes > INT32_MAX)
        return error_set(err, ERROR_INVALID, "ingest.nodes: expected 2 to %d, found %" PRId64,
                         INT32_MAX, nodes);
    if (classes < 1 || classes > UINT16_MAX || classes > nodes)
        return error_set(err, ERROR_INVALID,
                         "ingest.classes: expected 1 to %" PRId64 ", found %" PRId64,
                         nodes < UINT16_MAX ? nodes : UINT16_MAX, classes);
    const double shares = settings->ingest.train_share + settings->ingest.valid_share;
    if (shares > 1.0)
        return error_set(err, ERROR_INVALID,
                         "ingest.train_share and ingest.valid_share: expected at most 1 together, "
                         "found %g",
                         shares);
    return ERROR_NONE;
}

/* ---- edges ---------------------------------------------------------------------------------- */

static uint32_t draw_target(const struct generator *generator, const struct random_stream *stream,
                            uint64_t edge, uint32_t source, bool inside)
{
    const struct community_model *model = &generator->model;
    const uint32_t own = community_model_of(model, source);
    for (uint32_t attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
        uint32_t word[4];
        random_block(stream, edge, 1 + attempt, word);
        /* The node is alone in its community, or has nearly all of its weight: after some attempts
         * the target is drawn elsewhere. */
        const bool stay = inside && attempt < ATTEMPTS_INSIDE;
        const uint32_t target = stay ? community_model_inside(model, own, pair(word, 0))
                                     : community_model_any(model, pair(word, 0));
        const bool leaves = community_model_of(model, target) != own;
        if (target != source && (inside || leaves || model->community_count == 1))
            return target;
    }
    return (source + 1) % generator->node_count;
}

static void draw_edge(const struct generator *generator, const struct random_stream *stream,
                      uint64_t edge, int64_t *source, int64_t *target)
{
    uint32_t word[4];
    random_block(stream, edge, 0, word);
    const uint32_t from = community_model_any(&generator->model, pair(word, 0));
    const double coin = (double)(pair(word, 2) >> 11) * 0x1p-53;
    const bool inside = coin < generator->settings->ingest.homophily;
    const uint32_t to = draw_target(generator, stream, edge, from, inside);
    *source = generator->node_of[from];
    *target = generator->node_of[to];
}

static uint64_t count_edges(const struct generator *generator)
{
    const double degree = generator->settings->ingest.average_degree;
    return (uint64_t)(generator->node_count * degree / 2.0 + 0.5);
}

static enum error_code push_edges(struct generator *generator, struct error *err)
{
    const struct random_stream stream = stream_of(generator, DRAW_EDGE);
    const uint64_t edge_count = count_edges(generator);
    int64_t *end = NULL;
    enum error_code rc = memory_new(&end, 2 * (size_t)PIECE_EDGES, "a piece of edges", err);
    for (uint64_t first = 0; rc == ERROR_NONE && first < edge_count; first += PIECE_EDGES) {
        const uint64_t left = edge_count - first;
        const struct edge_piece piece = {.where = where,
                                         .first_line = (int64_t)first,
                                         .count = left < PIECE_EDGES ? left : PIECE_EDGES,
                                         .source = end,
                                         .target = end + PIECE_EDGES};
        for (size_t i = 0; i < piece.count; i++)
            draw_edge(generator, &stream, first + i, &end[i], &end[PIECE_EDGES + i]);
        rc = dataset_builder_add_edges(generator->builder, &piece, err);
    }
    memory_free(end);
    return rc;
}

/* ---- features ------------------------------------------------------------------------------- */

/* Returns the sum of twelve uniform numbers on a grid of 1024, less its mean. */
static double noise(const struct random_stream *stream, uint64_t item, uint32_t column)
{
    uint32_t word[4];
    random_block(stream, item, column, word);
    int sum = 0;
    for (int half = 0; half < 4; half += 2) {
        uint64_t bits = pair(word, half);
        for (int i = 0; i < 6; i++, bits >>= 10)
            sum += (int)(bits & 1023U);
    }
    return (double)(2 * sum - 12 * 1023) / 2048.0;
}

/* Draws the features: centre plus noise, divided by the deviation of their sum, so that columns
 * have variance 1. */
static void draw_features(const struct generator *generator, uint32_t node, uint32_t dim,
                          float *row)
{
    const struct random_stream centres = stream_of(generator, DRAW_CENTRE);
    const struct random_stream noises = stream_of(generator, DRAW_NOISE);
    const double level = generator->settings->ingest.feature_noise;
    const double scale = 1.0 / sqrt(1.0 + level * level);
    for (uint32_t i = 0; i < dim; i++) {
        const double centre = noise(&centres, generator->community[node], i);
        row[i] = (float)((centre + level * noise(&noises, node, i)) * scale);
    }
}

static enum error_code push_features(struct generator *generator, struct error *err)
{
    const uint32_t dim = (uint32_t)generator->settings->ingest.feature_dim;
    const uint32_t step = dim < PIECE_FLOATS ? PIECE_FLOATS / dim : 1;
    float *rows = NULL;
    enum error_code rc = memory_new(&rows, (size_t)step * dim, "a piece of features", err);
    for (uint64_t first = 0; rc == ERROR_NONE && first < generator->node_count; first += step) {
        const uint64_t left = generator->node_count - first;
        const uint32_t count = left < step ? (uint32_t)left : step;
        for (uint32_t i = 0; i < count; i++)
            draw_features(generator, (uint32_t)first + i, dim, rows + (size_t)i * dim);
        rc = dataset_builder_add_features(generator->builder, where, rows, count, dim, err);
    }
    memory_free(rows);
    return rc;
}

/* ---- labels and splits ---------------------------------------------------------------------- */

static enum error_code push_labels(struct generator *generator, struct error *err)
{
    const struct random_stream stream = stream_of(generator, DRAW_LABEL);
    int32_t *label = NULL;
    enum error_code rc = memory_new(&label, generator->node_count, "labels", err);
    for (uint32_t node = 0; rc == ERROR_NONE && node < generator->node_count; node++) {
        uint32_t word[4];
        random_block(&stream, node, 0, word);
        const double coin = (double)(pair(word, 0) >> 11) * 0x1p-53;
        label[node] = (int32_t)(coin < generator->settings->ingest.label_noise
                                    ? random_below(word[2], generator->class_count)
                                    : generator->community[node]);
    }
    const struct label_rows labels = {
        .task = TASK_SINGLE_LABEL, .columns = 1, .count = generator->node_count, .row = label};
    if (rc == ERROR_NONE)
        rc = dataset_builder_set_labels(generator->builder, where, 0, &labels, err);
    memory_free(label);
    return rc;
}

/* Pushes the nodes whose shuffled number is in [from, to). */
static enum error_code push_split(const struct generator *generator, enum split split,
                                  uint64_t from, uint64_t to, struct error *err)
{
    const struct random_stream stream = stream_of(generator, DRAW_SPLIT);
    int64_t *list = NULL;
    size_t count = 0;
    enum error_code rc = memory_new(&list, to - from, "a split", err);
    for (uint32_t node = 0; rc == ERROR_NONE && node < generator->node_count; node++) {
        const uint64_t shuffled = random_permute(&stream, node, generator->node_count);
        if (shuffled >= from && shuffled < to)
            list[count++] = node;
    }
    if (rc == ERROR_NONE)
        rc = dataset_builder_set_split(generator->builder, split, where, 0, list, count, err);
    memory_free(list);
    return rc;
}

static enum error_code push_splits(struct generator *generator, struct error *err)
{
    const double nodes = generator->node_count;
    const double train = generator->settings->ingest.train_share;
    const double valid = generator->settings->ingest.valid_share;
    const uint64_t count = generator->node_count;
    const uint64_t train_end = (uint64_t)(nodes * train + 0.5);
    const uint64_t wanted_end = train_end + (uint64_t)(nodes * valid + 0.5);
    const uint64_t valid_end = wanted_end < count ? wanted_end : count; /* both rounded up */
    enum error_code rc = push_split(generator, SPLIT_TRAIN, 0, train_end, err);
    if (rc == ERROR_NONE)
        rc = push_split(generator, SPLIT_VALID, train_end, valid_end, err);
    if (rc == ERROR_NONE)
        rc = push_split(generator, SPLIT_TEST, valid_end, count, err);
    return rc;
}

/* ---- all ------------------------------------------------------------------------------------ */

static enum error_code number_nodes(struct generator *generator, struct error *err)
{
    const struct random_stream stream = stream_of(generator, DRAW_NODE_ID);
    const enum error_code rc =
        memory_new(&generator->node_of, generator->node_count, "ids of nodes", err);
    for (uint32_t place = 0; rc == ERROR_NONE && place < generator->node_count; place++)
        generator->node_of[place] = (uint32_t)random_permute(&stream, place, generator->node_count);
    return rc;
}

/* Turns the ids by place, which only edges need, into communities by node. */
static enum error_code find_communities(struct generator *generator, struct error *err)
{
    const enum error_code rc =
        memory_new(&generator->community, generator->node_count, "communities of nodes", err);
    for (uint32_t place = 0; rc == ERROR_NONE && place < generator->node_count; place++)
        generator->community[generator->node_of[place]] =
            (uint16_t)community_model_of(&generator->model, place);
    memory_free(generator->node_of);
    generator->node_of = NULL;
    return rc;
}

static enum error_code push_all(struct generator *generator, struct error *err)
{
    static enum error_code (*const step[])(struct generator *, struct error *) = {
        number_nodes, push_edges, find_communities, push_features, push_labels, push_splits};
    enum error_code rc = dataset_builder_set_nodes(generator->builder, generator->node_count,
                                                   STATED_UNDIRECTED, err);
    if (rc == ERROR_NONE)
        rc = dataset_builder_expect_edges(generator->builder, count_edges(generator), err);
    for (size_t i = 0; rc == ERROR_NONE && i < sizeof step / sizeof *step; i++)
        rc = step[i](generator, err);
    return rc;
}

static enum error_code generated_run(const struct pipeline_settings *settings,
                                     uint64_t memory_bytes, struct dataset_builder *builder,
                                     struct error *err)
{
    (void)memory_bytes;
    enum error_code rc = check_settings(settings, err);
    if (rc != ERROR_NONE)
        return rc;
    struct generator generator = {
        .settings = settings,
        .builder = builder,
        .node_count = (uint32_t)settings->ingest.nodes,
        .class_count = (uint32_t)settings->ingest.classes,
    };
    rc = community_model_init(&generator.model, generator.node_count, generator.class_count,
                              settings->ingest.degree_exponent, err);
    if (rc == ERROR_NONE)
        rc = push_all(&generator, err);
    community_model_release(&generator.model);
    memory_free(generator.node_of);
    memory_free(generator.community);
    return rc;
}

const struct input_format generated_format = {
    .advice = {"set ingest.classes", "raise ingest.train_share"},
    .form = "change the settings below `ingest:`",
    .run = generated_run,
};
