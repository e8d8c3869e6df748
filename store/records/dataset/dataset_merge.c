#include "store/records/dataset/dataset_merge.h"

#include "common/base/text.h"
#include "store/records/section_table.h"

#define SECTION_STRUCT struct dataset_merge
static const struct section_number policy[] = {
    {"self loops", AT(skips_self_loops), 0, 1},
    {"repeated edges", AT(removes_repeated), 0, 1},
};
static const struct section_row rows[] = {
    {SECTION_TEXT("base", base)},
    {SECTION_NUMBERS("policy", U64, policy)},
    {SECTION_ARRAY("first_node", U32, first_node), .sets = AT(chunk_count), .plus = 1, .least = 1,
     .checks = SECTION_FROM_0 | SECTION_ASCENDS},
    {SECTION_ARRAY("base_first", U32, base_first), .sets = AT(base_chunk_count), .plus = 1,
     .least = 1, .checks = SECTION_FROM_0 | SECTION_ASCENDS},
    {SECTION_ARRAY("train_class", U64, train_class), .sets = AT(class_count), .since = 2,
     .when = AT(class_count)},
};
static const struct section_table table = SECTION_TABLE(RECORD_DATASET_MERGE, 1, 2, rows);

enum error_code dataset_merge_put(struct store *store, const char *dataset_id,
                                  const struct dataset_merge *merge, struct error *err)
{
    return section_table_put(store, &table, key_dataset(dataset_id, "merge").text, dataset_id,
                             merge, STORE_DURABLE, err);
}

enum error_code dataset_merge_decode(const struct record_view *view, struct dataset_merge *out,
                                     struct error *err)
{
    return section_table_decode(&table, view, out, err);
}

enum error_code dataset_merge_get(struct store *store, const char *dataset_id,
                                  struct dataset_merge *out, struct error *err)
{
    return section_table_get(store, &table, key_dataset(dataset_id, "merge").text, dataset_id, out,
                             err);
}

enum error_code dataset_merge_base(struct store *store, const char *dataset_id, char base[ID_SIZE],
                                   struct error *err)
{
    struct dataset_merge merge;
    const enum error_code rc = dataset_merge_get(store, dataset_id, &merge, err);
    base[0] = '\0';
    if (rc == ERROR_NOT_FOUND)
        return ERROR_NONE;
    if (rc == ERROR_NONE)
        (void)text_copy(base, ID_SIZE, merge.base);
    store_release_record(&merge.view);
    return rc;
}
