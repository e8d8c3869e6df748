#include "common/base/memory.h"
#include "common/base/packed_integers.h"
#include "common/base/random.h"
#include "store/objects/keys.h"
#include "store/records/mini_batch.h"

#include "tests/support/edge_values.h"
#include "tests/support/record_tamper.h"
#include "tests/support/temp_store.h"
#include "tests/support/test.h"

/* Two seeds, two hops; written by hand. */
static const uint32_t hop_end[] = {2, 4, 6}, node[] = {10, 20, 30, 40, 50, 60};
static const uint32_t row_start[] = {0, 2, 3, 5, 6}, neighbor[] = {2, 3, 1, 4, 5, 0};
static const uint32_t degree[] = {7, 8, 9, 10, 11, 12};
static const float weight[] = {0.5F, 1.5F, 2.5F, 3.5F, 4.5F, 5.5F};

static const struct mini_batch valid_batch = {.hop_count = 2,
                                              .seed_count = 2,
                                              .node_count = 6,
                                              .row_count = 4,
                                              .edge_count = 6,
                                              .hop_end = hop_end,
                                              .node = node,
                                              .row_start = row_start,
                                              .neighbor = neighbor};

/* What is stored of it, before it is packed, so that each number can be another. */
struct sample {
    uint32_t hop_end[3], width[4], node[6], row_length[4], rest[6], degree[6];
    uint32_t node_count, row_count, edge_count, rest_count;
    uint64_t is_new;
};

static const struct sample valid = {
    .hop_end = {2, 4, 6},
    .width = {6, 2, 1, 4},
    .node = {10, 20, 30, 40, 50, 60},
    .row_length = {2, 1, 2, 1},
    .rest = {1, 0},
    .degree = {7, 8, 9, 10, 11, 12},
    .node_count = 6,
    .row_count = 4,
    .edge_count = 6,
    .rest_count = 2,
    .is_new = 0x1b, /* edges 0, 1, 3 and 4 */
};

/* A record as record_decode() hands it on, each section in a heap block of its own length. */
struct packed_view {
    struct record_view view;
    void *data[RECORD_SECTION_COUNT_MAX];
};

static void add(struct packed_view *v, const char *name, enum element_type type, uint64_t count,
                const void *data)
{
    const size_t bytes = count * element_size(type);
    struct record_section *section = &v->view.section[v->view.section_count];
    void **copy = &v->data[v->view.section_count++];
    *copy = memory_alloc(bytes, 1);
    if (bytes)
        memcpy(*copy, data, bytes);
    *section = (struct record_section){.type = type, .count = count, .data = *copy};
    memcpy(section->name, name, strlen(name));
}

static void add_packed(struct packed_view *v, const char *name, const uint32_t *value,
                       uint32_t count, uint32_t width)
{
    uint64_t words[8] = {0};
    packed_integers_pack(value, count, width, words);
    add(v, name, ELEMENT_U64, packed_integers_words(count, width), words);
}

static struct packed_view empty_view(void)
{
    return (struct packed_view){
        .view = {.kind = RECORD_MINI_BATCH, .version = 3, .key = "run/r/mini_batch"}};
}

static struct packed_view view_of(const struct sample *s)
{
    struct packed_view v = empty_view();
    add(&v, "hop_end", ELEMENT_U32, 3, s->hop_end);
    add(&v, "width", ELEMENT_U32, 4, s->width);
    add_packed(&v, "node", s->node, s->node_count, s->width[0] % 33);
    add_packed(&v, "row_length", s->row_length, s->row_count, s->width[1] % 33);
    add(&v, "is_new", ELEMENT_U64, packed_integers_words(s->edge_count, 1), &s->is_new);
    add_packed(&v, "neighbor", s->rest, s->rest_count, s->width[2] % 33);
    add_packed(&v, "degree", s->degree, s->node_count, s->width[3] % 33);
    add(&v, "edge_widths", ELEMENT_U32, 1, (const uint32_t[]){1});
    add(&v, "weight", ELEMENT_F32, s->edge_count, weight);
    return v;
}

static void drop_view(struct packed_view *v)
{
    for (uint32_t i = 0; i < v->view.section_count; i++)
        memory_free(v->data[i]);
}

static void assert_equal_batches(const struct mini_batch *a, const struct mini_batch *b)
{
    assert_int_equal(a->hop_count, b->hop_count);
    assert_int_equal(a->seed_count, b->seed_count);
    assert_int_equal(a->node_count, b->node_count);
    assert_int_equal(a->row_count, b->row_count);
    assert_int_equal(a->edge_count, b->edge_count);
    assert_memory_equal(a->hop_end, b->hop_end, ((size_t)a->hop_count + 1) * 4);
    assert_memory_equal(a->node, b->node, (size_t)a->node_count * 4);
    assert_memory_equal(a->row_start, b->row_start, ((size_t)a->row_count + 1) * 4);
    assert_memory_equal(a->neighbor, b->neighbor, (size_t)a->edge_count * 4);
    assert_true(!a->degree == !b->degree && !a->weight_sum == !b->weight_sum);
    assert_true(edge_widths_equal(&a->columns.width, &b->columns.width));
    assert_true(!a->edge_position == !b->edge_position);
    if (a->edge_position)
        assert_memory_equal(a->edge_position, b->edge_position, (size_t)a->edge_count * 4);
    if (a->degree)
        assert_memory_equal(a->degree, b->degree, (size_t)a->node_count * 4);
    if (a->weight_sum)
        assert_memory_equal(a->weight_sum, b->weight_sum, (size_t)a->node_count * 4);
    for (int c = 0; c < EDGE_COLUMN_COUNT; c++)
        if (a->columns.width.of[c])
            assert_memory_equal(a->columns.data[c], b->columns.data[c],
                                a->edge_count *
                                    edge_column_bytes((enum edge_column)c, a->columns.width.of[c]));
}

static void comes_back_as_it_was_put(void **state)
{
    struct temp_store *t = *state;
    struct arena scratch = {0};
    struct mini_batch out = {0};
    for (int optional = 0; optional < 4; optional++) {
        struct mini_batch in = valid_batch;
        const struct key key = key_mini_batch("r", 3, optional);
        in.degree = optional & 1 ? degree : NULL;
        in.columns = edge_values(optional & 2 ? weight : NULL, NULL, NULL);
        assert_ok(mini_batch_put(t->store, key.text, "r", &in, &scratch, &t->err), &t->err);
        assert_ok(mini_batch_get(t->store, key.text, "r", &out, &t->err), &t->err);
        assert_equal_batches(&out, &in);
        assert_int_equal(out.node_limit, 61);
    }
    mini_batch_release(&out);
    arena_release(&scratch);
}

/* The bytes that the header promises. */
static void is_stored_as_the_header_says(void **state)
{
    struct temp_store *t = *state;
    struct arena scratch = {0};
    struct record_view view;
    struct mini_batch in = valid_batch;
    struct packed_view expected = view_of(&valid);
    in.degree = degree;
    in.columns = edge_values(weight, NULL, NULL);
    assert_ok(mini_batch_put(t->store, "k", "r", &in, &scratch, &t->err), &t->err);
    assert_ok(store_get(t->store, "k", "r", &view, &t->err), &t->err);
    assert_int_equal(view.version, 3);
    assert_int_equal(view.section_count, expected.view.section_count);
    for (uint32_t i = 0; i < view.section_count; i++) {
        const struct record_section *a = &view.section[i], *b = &expected.view.section[i];
        assert_string_equal(a->name, b->name);
        assert_int_equal(a->type, b->type);
        assert_int_equal(a->count, b->count);
        assert_memory_equal(a->data, b->data, a->count * element_size(a->type));
    }
    store_release_record(&view);
    drop_view(&expected);
    arena_release(&scratch);
}

/* Positions of edges take the bits of the largest, and a version of their own; a batch without them has that of before. */
static void positions_of_edges_are_packed(void **state)
{
    struct temp_store *t = *state;
    static const uint32_t position[] = {0, 1, 6, 2, 5, 3};
    struct arena scratch = {0};
    struct record_view view;
    struct mini_batch in = valid_batch, out = {0};
    const void *data = NULL;
    in.edge_position = position;
    assert_ok(mini_batch_put(t->store, "k", "r", &in, &scratch, &t->err), &t->err);
    assert_ok(store_get(t->store, "k", "r", &view, &t->err), &t->err);
    assert_int_equal(view.version, 5);
    assert_ok(record_section_get(&view, "position_width", ELEMENT_U32, 1, &data, NULL, &t->err),
              &t->err);
    assert_int_equal(*(const uint32_t *)data, 3);
    assert_ok(record_section_get(&view, "edge_position", ELEMENT_U64, 1, &data, NULL, &t->err),
              &t->err);
    uint64_t word = 0;
    for (unsigned i = 0; i < 6; i++)
        word |= (uint64_t)position[i] << 3 * i;
    assert_int_equal(*(const uint64_t *)data, word);
    store_release_record(&view);
    assert_ok(mini_batch_get(t->store, "k", "r", &out, &t->err), &t->err);
    assert_equal_batches(&out, &in);
    static const uint32_t wide[] = {33}, narrow[] = {2};
    const struct tamper bad[] = {{"position_width", ELEMENT_U32, wide, 1},
                                 {"position_width", ELEMENT_U32, narrow, 1},
                                 {"position_width", ELEMENT_U32, wide, 0},
                                 {"position_width", ELEMENT_U64, &word, 1},
                                 {"edge_position", ELEMENT_U64, &word, 0},
                                 {"edge_position", ELEMENT_U64, &(uint64_t){1ULL << 18}, 1}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        record_tamper(t->store, "k", "r", &bad[i]);
        assert_fails(mini_batch_get(t->store, "k", "r", &out, &t->err), ERROR_CORRUPT, "position",
                     &t->err);
        assert_ok(store_remove(t->store, "k", &t->err), &t->err);
        assert_ok(mini_batch_put(t->store, "k", "r", &in, &scratch, &t->err), &t->err);
    }
    mini_batch_release(&out);
    arena_release(&scratch);
}

/* --- batches of any size --- */

enum { HOPS_MAX = 3, NODES_MAX = 700, EDGES_MAX = 3000, GRAPH_NODES = 100000 };

struct random_batch {
    struct mini_batch batch;
    uint32_t hop_end[HOPS_MAX + 1], node[NODES_MAX], row_start[NODES_MAX + 1], neighbor[EDGES_MAX];
    uint32_t degree[NODES_MAX];
    float weight_sum[NODES_MAX];
    float weight[EDGES_MAX], feature[EDGES_MAX][3];
    double time[EDGES_MAX];
    uint16_t edge_type[EDGES_MAX];
    int64_t edge_id[EDGES_MAX];
    uint32_t position[EDGES_MAX];
};

static uint32_t below(uint32_t number, uint32_t item, uint32_t bound)
{
    const struct random_stream stream = random_stream_of(number, RANDOM_GENERATOR, 0, 0, 0);
    return random_below(random_word(&stream, item, 0), bound);
}

/* Some in the order of discovery, others with sources and rows of any kind. */
static void make_random(struct random_batch *r, uint32_t number)
{
    const bool in_order = number % 3 != 0;
    const int hop_count = (int)(number % (HOPS_MAX + 1));
    const struct random_stream stream = random_stream_of(number, RANDOM_GENERATOR, 1, 0, 0);
    uint32_t edge = 0, row = 0, item = 0;
    r->hop_end[0] = 1 + below(number, item++, 90);
    for (int hop = 0; hop < hop_count; hop++)
        r->hop_end[hop + 1] = r->hop_end[hop] + below(number, item++, 150);
    const uint32_t node_count = r->hop_end[hop_count];
    for (uint32_t i = 0; i < node_count; i++) {
        r->node[i] = (uint32_t)random_permute(&stream, i, GRAPH_NODES);
        r->degree[i] = below(number, item++, 1U << number % 31);
        r->weight_sum[i] = (float)item;
    }
    r->row_start[0] = 0;
    for (int hop = 0; hop < hop_count; hop++) {
        uint32_t known = r->hop_end[hop];
        for (; row < r->hop_end[hop]; row++) {
            for (uint32_t i = below(number, item++, number % 6 + 1); i > 0; i--, edge++) {
                const bool is_new =
                    in_order && known < r->hop_end[hop + 1] && below(number, item++, 3);
                const uint32_t bound = in_order ? known : r->hop_end[hop + 1];
                r->neighbor[edge] = is_new ? known++ : below(number, item++, bound);
                r->weight[edge] = (float)item;
                r->time[edge] = item;
                r->edge_type[edge] = (uint16_t)item;
                r->edge_id[edge] = -(int64_t)item;
                r->position[edge] = below(number, item, 1U << number % 32);
                for (int k = 0; k < 3; k++)
                    r->feature[edge][k] = (float)(item * 3 + (uint32_t)k);
            }
            r->row_start[row + 1] = edge;
        }
    }
    r->batch = (struct mini_batch){.hop_count = hop_count,
                                   .seed_count = r->hop_end[0],
                                   .node_count = node_count,
                                   .row_count = row,
                                   .edge_count = edge,
                                   .hop_end = r->hop_end,
                                   .node = r->node,
                                   .row_start = r->row_start,
                                   .neighbor = r->neighbor,
                                   .degree = number % 2 ? r->degree : NULL,
                                   .edge_position = number % 4 == 1 ? r->position : NULL,
                                   .weight_sum = number % 7 ? r->weight_sum : NULL,
                                   .columns = edge_values(number % 5 ? r->weight : NULL,
                                                          number % 11 ? r->time : NULL,
                                                          number % 3 ? r->edge_type : NULL)};
    if (number % 4) {
        r->batch.columns.width.of[EDGE_FEATURE] = 3;
        r->batch.columns.data[EDGE_FEATURE] = r->feature;
        r->batch.columns.width.of[EDGE_ID] = 1;
        r->batch.columns.data[EDGE_ID] = r->edge_id;
    }
}

static void any_batch_comes_back_in_the_memory_of_the_one_before(void **state)
{
    static struct random_batch in;
    struct temp_store *t = *state;
    struct arena scratch = {0};
    struct mini_batch out = {0};
    long before = 0;
    for (uint32_t number = 0; number < 300; number++) {
        make_random(&in, number);
        assert_ok(mini_batch_put(t->store, "k", "r", &in.batch, &scratch, &t->err), &t->err);
        assert_ok(mini_batch_get(t->store, "k", "r", &out, &t->err), &t->err);
        assert_equal_batches(&out, &in.batch);
        assert_ok(store_remove(t->store, "k", &t->err), &t->err);
        before = number == 0 ? memory_live_blocks() : before;
        assert_int_equal(memory_live_blocks(), before);
    }
    mini_batch_release(&out);
    arena_release(&scratch);
}

static void a_batch_without_hops_is_its_seeds(void **state)
{
    (void)state;
    static const uint32_t seeds[] = {2}, width[] = {3, 0, 0, 0}, ids[] = {5, 0};
    struct error err = {0};
    struct mini_batch out = {0};
    struct packed_view v = empty_view();
    add(&v, "hop_end", ELEMENT_U32, 1, seeds);
    add(&v, "width", ELEMENT_U32, 4, width);
    add_packed(&v, "node", ids, 2, 3);
    add(&v, "row_length", ELEMENT_U64, 0, NULL);
    add(&v, "is_new", ELEMENT_U64, 0, NULL);
    add(&v, "neighbor", ELEMENT_U64, 0, NULL);
    assert_ok(mini_batch_decode(&v.view, &out, &err), &err);
    assert_int_equal(out.hop_count, 0);
    assert_int_equal(out.row_count, 0);
    assert_int_equal(out.seed_count, 2);
    assert_memory_equal(out.node, ids, sizeof ids);
    assert_int_equal(out.row_start[0], 0);
    mini_batch_release(&out);
    drop_view(&v);
}

/* --- what is refused --- */

static void is_refused(const struct sample *broken, const char *message)
{
    struct error err = {0};
    struct mini_batch out = {0};
    struct packed_view v = view_of(broken);
    assert_fails(mini_batch_decode(&v.view, &out, &err), ERROR_CORRUPT, message, &err);
    const char *name = strstr(err.message, "run/r/mini_batch");
    assert_non_null(name);
    assert_null(strstr(name + 1, "run/r/mini_batch"));
    assert_null(out.node);
    mini_batch_release(&out);
    drop_view(&v);
}

static void names_the_index_that_is_wrong(void **state)
{
    (void)state;
    struct sample s = valid;
    s.hop_end[0] = 0;
    is_refused(&s, "hop_end[0]: expected at least one seed node, found 0");
    s = valid;
    s.hop_end[1] = 1;
    is_refused(&s, "hop_end[1]: expected at least hop_end[0] = 2, found 1");
    s = valid;
    s.is_new = 0x3; /* the second edge of the second hop is the third to be known */
    s.width[2] = 3;
    s.rest_count = 4;
    s.rest[0] = 4;
    is_refused(&s, "neighbor[2]: expected below hop_end[1] = 4, found 4");
    s = valid;
    s.is_new = 0x27; /* in the first hop already */
    s.rest_count = 2;
    is_refused(&s, "neighbor[2]: expected below hop_end[1] = 4, found 4");
    s = valid;
    s.width[2] = 32;
    s.rest[1] = UINT32_MAX;
    is_refused(&s, "neighbor[5]: expected below hop_end[2] = 6, found 4294967295");
    s = valid;
    s.node[4] = 20;
    is_refused(&s, "node[4]: expected each node once, found 20, which is node[1] too");
    s = valid;
    s.width[0] = 32;
    s.node[5] = UINT32_MAX;
    is_refused(&s, "node[5]: expected at most 4294967294, found 4294967295");
}

static void names_numbers_that_cannot_be(void **state)
{
    (void)state;
    static const char *const widths[] = {
        "width[0]: expected at most 32 bits for section node, found 33",
        "width[1]: expected at most 32 bits for section row_length, found 33",
        "width[2]: expected at most 32 bits for section neighbor, found 33",
        "width[3]: expected at most 32 bits for section degree, found 33",
    };
    struct sample s;
    for (int i = 0; i < 4; i++) {
        s = valid;
        s.width[i] = 33;
        is_refused(&s, widths[i]);
    }
    s = valid;
    s.width[0] = 2; /* one of six is there twice, whatever the bits */
    is_refused(&s, "width[0]: expected more bits for 6 nodes, found 2");
    s = valid;
    s.width[1] = 32;
    s.row_length[1] = s.row_length[2] = UINT32_MAX;
    is_refused(&s, "row_length: expected rows of at most 4294967295 edges together, "
                   "found 8589934593");
    s = valid;
    s.is_new = 0x3d;
    s.rest_count = 1;
    is_refused(&s, "is_new: expected at most 4 edges that find a node, found 5");
}

static void names_the_section_that_has_another_length(void **state)
{
    (void)state;
    struct sample s = valid;
    s.width[0] = 12;
    s.hop_end[2] = 5;
    is_refused(&s, "section node: expected 1 elements, found 2");
    s = valid;
    s.width[1] = 20;
    s.hop_end[1] = 3;
    is_refused(&s, "section row_length: expected 1 elements, found 2");
    s = valid;
    s.width[1] = 32;
    s.row_length[3] = 61;
    is_refused(&s, "section is_new: expected 2 elements, found 1");
    s = valid;
    s.width[2] = 32;
    s.is_new = 0x19;
    is_refused(&s, "section neighbor: expected 2 elements, found 1");
    s = valid;
    s.width[3] = 0;
    s.row_length[0] = 3;
    is_refused(&s, "section weight: expected 7 elements, found 6");
}

static void names_bits_that_belong_to_no_value(void **state)
{
    (void)state;
    static const char *const message[] = {
        "section node: expected zeros behind 6 values of 6 bits, found ones",
        "section row_length: expected zeros behind 4 values of 2 bits, found ones",
        "section is_new: expected zeros behind 6 values of 1 bits, found ones",
        "section neighbor: expected zeros behind 2 values of 1 bits, found ones",
        "section degree: expected zeros behind 6 values of 4 bits, found ones",
    };
    struct error err = {0};
    struct mini_batch out = {0};
    for (int i = 0; i < 5; i++) {
        struct packed_view v = view_of(&valid);
        ((uint8_t *)v.data[2 + i])[7] = 0x80;
        assert_fails(mini_batch_decode(&v.view, &out, &err), ERROR_CORRUPT, message[i], &err);
        drop_view(&v);
    }
    mini_batch_release(&out);
}

static void names_a_section_that_is_missing_or_of_another_type(void **state)
{
    (void)state;
    static const char *const name[] = {"hop_end",    "width",  "node",
                                       "row_length", "is_new", "neighbor"};
    struct error err = {0};
    struct mini_batch out = {0};
    for (uint32_t i = 0; i < 6; i++) {
        struct packed_view v = view_of(&valid);
        v.view.section[i].type = ELEMENT_I32;
        assert_fails(mini_batch_decode(&v.view, &out, &err), ERROR_CORRUPT, name[i], &err);
        assert_non_null(strstr(err.message, i < 2 ? "expected element type 3, found 5"
                                                  : "expected element type 4, found 5"));
        v.view.section[i].name[0] = 'x';
        assert_fails(mini_batch_decode(&v.view, &out, &err), ERROR_CORRUPT, name[i], &err);
        assert_non_null(strstr(err.message, "found none"));
        drop_view(&v);
    }
    struct packed_view v = view_of(&valid);
    v.view.section[6].count = 0;
    assert_fails(mini_batch_decode(&v.view, &out, &err), ERROR_CORRUPT,
                 "section degree: expected 1 elements, found 0", &err);
    v.view.section[6].count = 1;
    v.view.section[8].count = 5;
    assert_fails(mini_batch_decode(&v.view, &out, &err), ERROR_CORRUPT,
                 "section weight: expected 6 elements, found 5", &err);
    v.view.section[8].name[0] = 'W';
    assert_fails(mini_batch_decode(&v.view, &out, &err), ERROR_CORRUPT, "weight", &err);
    assert_int_equal(edge_widths_bytes(&out.columns.width), 0);
    drop_view(&v);
    mini_batch_release(&out);
}

static void refuses_too_many_hops_and_other_records(void **state)
{
    (void)state;
    static const uint32_t many[HOP_COUNT_MAX + 2] = {1};
    struct error err = {0};
    struct mini_batch out = {0};
    struct packed_view v = view_of(&valid);
    v.view.section[0].data = many;
    v.view.section[0].count = HOP_COUNT_MAX + 2;
    assert_fails(mini_batch_decode(&v.view, &out, &err), ERROR_CORRUPT,
                 "section hop_end: expected 1 to 17 elements, found 18", &err);
    v.view.section[0].count = 0;
    assert_fails(mini_batch_decode(&v.view, &out, &err), ERROR_CORRUPT,
                 "section hop_end: expected 1 to 17 elements, found 0", &err);
    v.view.version = 1;
    assert_fails(mini_batch_decode(&v.view, &out, &err), ERROR_CORRUPT,
                 "format version: expected 5, found 1", &err);
    v.view.version = 3;
    v.view.kind = RECORD_GRADIENT;
    assert_fails(mini_batch_decode(&v.view, &out, &err), ERROR_CORRUPT,
                 "expected kind mini_batch, found gradient", &err);
    drop_view(&v);
    mini_batch_release(&out);
}

static void finds_one_repeated_node_among_many(void **state)
{
    enum { COUNT = 100000, WIDE = 40503, NARROW = 3 }; /* a hashed set, one of bits */
    static uint32_t ids[COUNT];
    static const uint32_t end[] = {COUNT}, start[] = {0};
    struct temp_store *t = *state;
    struct arena scratch = {0};
    struct mini_batch out = {0};
    const struct mini_batch in = {
        .seed_count = COUNT, .node_count = COUNT, .hop_end = end, .node = ids, .row_start = start};
    for (uint32_t step = NARROW; step <= WIDE; step += WIDE - NARROW) {
        char key[] = "wide-0";
        for (uint32_t i = 0; i < COUNT; i++)
            ids[i] = i * step;
        key[0] = (char)('a' + step % 26);
        for (int broken = 0; broken < 3; broken++) {
            key[sizeof key - 2] = (char)('0' + broken);
            ids[COUNT - 1] = broken ? ids[1234] : ids[COUNT - 1];
            ids[500] = broken == 2 ? ids[3] : ids[500];
            assert_ok(mini_batch_put(t->store, key, "r", &in, &scratch, &t->err), &t->err);
            if (broken)
                assert_fails(mini_batch_get(t->store, key, "r", &out, &t->err), ERROR_CORRUPT,
                             broken == 1 ? "node[99999]: expected each node once"
                                         : "which is node[3] too",
                             &t->err);
            else
                assert_ok(mini_batch_get(t->store, key, "r", &out, &t->err), &t->err);
            assert_true(broken || out.node_limit == (COUNT - 1) * step + 1);
        }
    }
    mini_batch_release(&out);
    arena_release(&scratch);
}

/* What is accepted, kernels may use without looking. */
static void assert_is_inside(const struct mini_batch *batch)
{
    for (uint32_t hop = 0, row = 0; hop < (uint32_t)batch->hop_count; hop++)
        for (; row < batch->hop_end[hop]; row++) {
            assert_true(batch->row_start[row] <= batch->row_start[row + 1]);
            for (uint32_t e = batch->row_start[row]; e < batch->row_start[row + 1]; e++)
                assert_true(batch->neighbor[e] < batch->hop_end[hop + 1]);
        }
    assert_int_equal(batch->row_start[batch->row_count], batch->edge_count);
}

static void any_flipped_bits_are_refused_or_harmless(void **state)
{
    static struct random_batch in;
    struct temp_store *t = *state;
    struct arena scratch = {0};
    struct mini_batch out = {0};
    int accepted = 0, refused = 0;
    for (uint32_t number = 0; number < 40; number++) {
        struct record_view stored;
        make_random(&in, number);
        assert_ok(mini_batch_put(t->store, "k", "r", &in.batch, &scratch, &t->err), &t->err);
        assert_ok(store_get(t->store, "k", "r", &stored, &t->err), &t->err);
        for (uint32_t turn = 0; turn < 200; turn++) {
            struct packed_view v = empty_view();
            for (uint32_t i = 0; i < stored.section_count; i++)
                add(&v, stored.section[i].name, stored.section[i].type, stored.section[i].count,
                    stored.section[i].data);
            const uint32_t at = below(turn, 0, v.view.section_count);
            const uint64_t bytes = v.view.section[at].count * element_size(v.view.section[at].type);
            if (bytes)
                ((uint8_t *)v.data[at])[below(turn, 1, (uint32_t)bytes)] ^=
                    (uint8_t)(1U << below(turn, 2, 8));
            const enum error_code rc = mini_batch_decode(&v.view, &out, &t->err);
            assert_true(rc == ERROR_NONE || rc == ERROR_CORRUPT);
            if (rc == ERROR_NONE)
                assert_is_inside(&out);
            accepted += rc == ERROR_NONE;
            refused += rc != ERROR_NONE;
            drop_view(&v);
        }
        store_release_record(&stored);
        assert_ok(store_remove(t->store, "k", &t->err), &t->err);
    }
    assert_true(accepted > 500 && refused > 500);
    mini_batch_release(&out);
    arena_release(&scratch);
}

/* --- memory --- */

static void neither_putting_nor_getting_one_allocates(void **state)
{
    struct temp_store *t = *state;
    struct arena scratch = {0};
    struct mini_batch out = {0};
    char key[] = "run/r/round/0/slot/0/mini_batch";
    long before = 0;
    for (int slot = 0; slot <= 5; slot++) {
        key[sizeof "run/r/round/0/slot/" - 1] = (char)('0' + slot);
        before = slot == 1 ? memory_allocation_count() : before;
        assert_ok(mini_batch_put(t->store, key, "r", &valid_batch, &scratch, &t->err), &t->err);
    }
    assert_int_equal(memory_allocation_count(), before);
    struct packed_view v = view_of(&valid);
    for (int turn = 0; turn <= 5; turn++) {
        before = turn == 1 ? memory_allocation_count() : before;
        assert_ok(mini_batch_decode(&v.view, &out, &t->err), &t->err);
    }
    assert_int_equal(memory_allocation_count(), before);
    drop_view(&v);
    mini_batch_release(&out);
    arena_release(&scratch);
}

static void says_so_without_memory(void **state)
{
    struct temp_store *t = *state;
    struct mini_batch out = {0};
    struct packed_view v = view_of(&valid);
    for (long n = 0; n < 2; n++) {
        struct arena scratch = {0};
        memory_fail_after(n);
        const enum error_code rc = mini_batch_decode(&v.view, &out, &t->err);
        const enum error_code put_rc =
            mini_batch_put(t->store, "k", "r", &valid_batch, &scratch, &t->err);
        memory_fail_after(-1);
        assert_int_equal(rc, ERROR_NO_MEMORY);
        assert_int_equal(put_rc, ERROR_NO_MEMORY);
        assert_null(out.node);
        mini_batch_release(&out);
        arena_release(&scratch);
    }
    struct arena small = {.limit = 100};
    assert_fails(mini_batch_put(t->store, "k", "r", &valid_batch, &small, &t->err), ERROR_NO_MEMORY,
                 "the record of a mini-batch needs 64 bytes", &t->err);
    arena_release(&small);
    drop_view(&v);
}

static const uint32_t pair_source[] = {1, 0}, pair_target[] = {0, 1, 1, 1, 0, 0};
static const struct seed_pairs pairs = {2, 2, pair_source, pair_target};

static void pairs_of_seeds_are_kept(void **state)
{
    struct temp_store *t = *state;
    struct arena scratch = {0};
    struct mini_batch batch = valid_batch, read = {0};
    batch.pairs = pairs;
    assert_ok(mini_batch_put(t->store, "run/r/mini_batch", "r", &batch, &scratch, &t->err),
              &t->err);
    assert_ok(mini_batch_get(t->store, "run/r/mini_batch", "r", &read, &t->err), &t->err);
    assert_equal_batches(&batch, &read);
    assert_int_equal(read.pairs.positive_count, 2);
    assert_int_equal(read.pairs.negatives_each, 2);
    assert_memory_equal(read.pairs.source, pair_source, sizeof pair_source);
    assert_memory_equal(read.pairs.target, pair_target, sizeof pair_target);
    assert_int_equal(seed_pairs_positive(&read.pairs, 1), 1);
    assert_int_equal(seed_pairs_positive(&read.pairs, 3), 0);
    assert_int_equal(seed_pairs_positive(&read.pairs, 4), 1);
    mini_batch_release(&read);
    arena_release(&scratch);
}

static void assert_pairs_fail(uint32_t positives, uint32_t negatives, uint64_t source_bits,
                              const char *message)
{
    struct error err = {0};
    struct mini_batch read = {0};
    struct packed_view v = view_of(&valid);
    const uint32_t count[] = {positives, negatives};
    const uint64_t target_bits = 0x2e;
    v.view.version = 4;
    add(&v, "pair_count", ELEMENT_U32, 2, count);
    add(&v, "pair_source", ELEMENT_U64, 1, &source_bits);
    add(&v, "pair_target", ELEMENT_U64, 1, &target_bits);
    if (message)
        assert_fails(mini_batch_decode(&v.view, &read, &err), ERROR_CORRUPT, message, &err);
    else
        assert_ok(mini_batch_decode(&v.view, &read, &err), &err);
    mini_batch_release(&read);
    drop_view(&v);
}

static void damaged_pairs_are_named(void **state)
{
    (void)state;
    assert_pairs_fail(2, 2, 1, NULL);
    assert_pairs_fail(0, 2, 1, "pair_count: expected 1 to 4294967295 pairs, found 0 positives");
    assert_pairs_fail(UINT32_MAX, UINT32_MAX, 1, "pair_count: expected 1 to");
    assert_pairs_fail(2, 2, 4, "section pair_source: expected zeros behind its values");
    assert_pairs_fail(2, 40, 1, "pair_target: expected 2 elements, found 1");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        test_with_store(comes_back_as_it_was_put),
        test_with_store(is_stored_as_the_header_says),
        test_with_store(positions_of_edges_are_packed),
        test_with_store(any_batch_comes_back_in_the_memory_of_the_one_before),
        cmocka_unit_test(a_batch_without_hops_is_its_seeds),
        cmocka_unit_test(names_the_index_that_is_wrong),
        cmocka_unit_test(names_numbers_that_cannot_be),
        cmocka_unit_test(names_the_section_that_has_another_length),
        cmocka_unit_test(names_bits_that_belong_to_no_value),
        cmocka_unit_test(names_a_section_that_is_missing_or_of_another_type),
        cmocka_unit_test(refuses_too_many_hops_and_other_records),
        test_with_store(finds_one_repeated_node_among_many),
        test_with_store(any_flipped_bits_are_refused_or_harmless),
        test_with_store(neither_putting_nor_getting_one_allocates),
        test_with_store(says_so_without_memory),
        test_with_store(pairs_of_seeds_are_kept),
        cmocka_unit_test(damaged_pairs_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
