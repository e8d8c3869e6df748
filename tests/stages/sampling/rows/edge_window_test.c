#include "common/numbers/random.h"
#include "stages/sampling/rows/edge_window.h"

#include "tests/support/test.h"

enum { NODE_COUNT = 500, EDGES_MAX = 20000 };

struct fixture {
    struct array_budget budget;
    struct known_nodes known;
    struct edge_window window;
    uint32_t adjacency[EDGES_MAX], node[NODE_COUNT + 1], neighbor[EDGES_MAX];
};

static int set_up(void **state)
{
    static struct fixture fixture;
    fixture = (struct fixture){0};
    struct fixture *f = &fixture;
    const struct random_stream stream = random_stream_of(3, RANDOM_NEIGHBOR, 0, 0, 0);
    for (uint32_t e = 0; e < EDGES_MAX; e++)
        f->adjacency[e] = random_below(random_word(&stream, e, 0), NODE_COUNT);
    assert_int_equal(known_nodes_init(&f->known, &f->budget, NODE_COUNT, NULL), ERROR_NONE);
    f->window.known = &f->known;
    f->window.node = f->node;
    f->window.neighbor = f->neighbor;
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    known_nodes_release(&f->known, &f->budget);
    return 0;
}

/* Relabels in the plain way: the local index of a node is the place of its first occurrence. */
static void assert_relabelled(const struct fixture *f, uint32_t count)
{
    uint32_t place[NODE_COUNT], known = 0;
    memset(place, 0xff, sizeof place);
    for (uint32_t e = 0; e < count; e++) {
        const uint32_t id = f->adjacency[e];
        if (place[id] == UINT32_MAX) {
            assert_int_equal(f->node[known], id);
            place[id] = known++;
        }
        assert_int_equal(f->neighbor[e], place[id]);
    }
    assert_int_equal(f->known.count, known);
}

static void relabels_in_the_order_of_pushing(void **state)
{
    struct fixture *f = *state;
    static const uint32_t totals[] = {
        0, 1, EDGE_DISTANCE - 1, EDGE_DISTANCE, 3 * EDGE_DISTANCE, 999, 2049, EDGES_MAX};
    static const uint32_t pieces[] = {1, 7, 64, 300, EDGE_WINDOW / 2};
    for (size_t t = 0; t < sizeof totals / sizeof *totals; t++)
        for (size_t p = 0; p < sizeof pieces / sizeof *pieces; p++) {
            edge_window_begin(&f->window, 0);
            known_nodes_forget(&f->known);
            for (uint32_t e = 0; e < totals[t]; e++) {
                if (e % pieces[p] == 0) {
                    assert_int_equal(edge_window_run(&f->window, 0), ERROR_NONE);
                    assert_true(edge_window_room(&f->window) >= pieces[p]);
                }
                edge_window_push(&f->window, &f->adjacency[e]);
            }
            assert_int_equal(edge_window_run(&f->window, 1), ERROR_NONE);
            assert_int_equal(edge_window_room(&f->window), EDGE_WINDOW);
            assert_relabelled(f, totals[t]);
        }
}

static void stops_at_an_entry_that_is_no_node(void **state)
{
    struct fixture *f = *state;
    static const uint32_t bad[] = {0, 100, 700, 1499};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const uint32_t good = f->adjacency[bad[i]];
        enum error_code rc = ERROR_NONE;
        f->adjacency[bad[i]] = NODE_COUNT;
        edge_window_begin(&f->window, 0);
        known_nodes_forget(&f->known);
        for (uint32_t e = 0; e < 1500; e++)
            edge_window_push(&f->window, &f->adjacency[e]);
        rc = edge_window_run(&f->window, 0);
        if (rc == ERROR_NONE)
            rc = edge_window_run(&f->window, 1);
        assert_int_equal(rc, ERROR_CORRUPT);
        assert_int_equal(f->window.fetched, bad[i]);
        assert_int_equal(f->neighbor[bad[i]], NODE_COUNT);
        f->adjacency[bad[i]] = good;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(relabels_in_the_order_of_pushing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(stops_at_an_entry_that_is_no_node, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
