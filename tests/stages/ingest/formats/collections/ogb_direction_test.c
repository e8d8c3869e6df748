#include "stages/ingest/formats/collections/ogb_direction.h"

#include "tests/support/test.h"

static void knows_sets_by_the_name_of_their_folder(void **state)
{
    (void)state;
    assert_int_equal(ogb_direction_of("/data/ogbn_products"), STATED_UNDIRECTED);
    assert_int_equal(ogb_direction_of("ogbn-products//"), STATED_UNDIRECTED);
    assert_int_equal(ogb_direction_of("ogbn_arxiv"), STATED_DIRECTED);
    assert_int_equal(ogb_direction_of("a/ogbg_molhiv"), STATED_UNDIRECTED);
    assert_int_equal(ogb_direction_of("ogbl-citation2"), STATED_DIRECTED);
}

static void leaves_others_to_the_edges(void **state)
{
    (void)state;
    assert_int_equal(ogb_direction_of("products"), STATED_ONCE_IS_BOTH);
    assert_int_equal(ogb_direction_of("ogbn_products_small"), STATED_ONCE_IS_BOTH);
    assert_int_equal(ogb_direction_of("ogbn_product"), STATED_ONCE_IS_BOTH);
    assert_int_equal(ogb_direction_of("ogbn_products/raw"), STATED_ONCE_IS_BOTH);
    assert_int_equal(ogb_direction_of("/"), STATED_ONCE_IS_BOTH);
    assert_int_equal(ogb_direction_of(""), STATED_ONCE_IS_BOTH);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(knows_sets_by_the_name_of_their_folder),
                                       cmocka_unit_test(leaves_others_to_the_edges)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
