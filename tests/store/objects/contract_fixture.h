/*
 * contract_fixture - a store on each backend in turn, for tests of the contract that all of them
 * keep.
 */
#ifndef TESTS_STORE_OBJECTS_CONTRACT_FIXTURE_H
#define TESTS_STORE_OBJECTS_CONTRACT_FIXTURE_H

#include "store/backends/cluster/cluster_backend.h"
#include "store/backends/memory/memory_backend.h"
#include "store/backends/s3/s3_backend.h"
#include "store/backends/tiered/tiered_keys.h"
#include "store/objects/object_store.h"
#include "store/objects/store.h"

#include "tests/support/redis_cluster.h"
#include "tests/support/seaweedfs_server.h"
#include "tests/support/temp_dir.h"
#include "tests/support/test.h"

#include <stdio.h>

struct fixture;

struct backend_case {
    const char *scheme; /* of the address */
    /* Overwrites a record with `size` bytes, as a crash or a bad disk would. */
    void (*damage)(const struct fixture *f, const char *key, const void *bytes, size_t size);
    /* Writes the address of a fresh store. Returns false if this machine has no such backend. */
    bool (*name)(const struct fixture *f, char uri[FILE_PATH_SIZE]);
};

static inline void damage_directory(const struct fixture *f, const char *key, const void *bytes,
                                    size_t size);

static inline void damage_memory(const struct fixture *f, const char *key, const void *bytes,
                                 size_t size);

static inline void damage_bucket(const struct fixture *f, const char *key, const void *bytes,
                                 size_t size);

static inline void damage_in_cluster(const struct fixture *f, const char *key, const void *bytes,
                                     size_t size);

static inline void damage_in_tier(const struct fixture *f, const char *key, const void *bytes,
                                  size_t size);

static inline bool name_by_folder(const struct fixture *f, char uri[FILE_PATH_SIZE]);
static inline bool name_in_bucket(const struct fixture *f, char uri[FILE_PATH_SIZE]);
static inline bool name_in_cluster(const struct fixture *f, char uri[FILE_PATH_SIZE]);
static inline bool name_in_tiers(const struct fixture *f, char uri[FILE_PATH_SIZE]);
static inline bool name_in_cluster_tier(const struct fixture *f, char uri[FILE_PATH_SIZE]);

static const struct backend_case cases[] = {
    {"dir:", damage_directory, name_by_folder},
    {"", damage_directory, name_by_folder},
    {"memory:", damage_memory, name_by_folder},
    {"s3:", damage_bucket, name_in_bucket},
    {"redis+cluster:", damage_in_cluster, name_in_cluster},
    {"tiered:dir:", damage_in_tier, name_in_tiers},
    {"tiered:memory:", damage_in_tier, name_in_tiers},
    {"tiered:redis+cluster:", damage_in_tier, name_in_cluster_tier}};

struct fixture {
    const struct backend_case *backend;
    struct temp_dir dir;
    char uri[FILE_PATH_SIZE];
    struct store *store;
    struct error err;
};

static inline enum error_code open_again(const struct fixture *f, unsigned flags,
                                         struct store **out, struct error *err)
{
    return store_open(f->uri, flags, out, err);
}

static inline struct fixture open_fixture(const struct backend_case *backend)
{
    struct fixture f = {.backend = backend};
    temp_dir_make(&f.dir);
    if (backend->name(&f, f.uri))
        assert_ok(open_again(&f, 0, &f.store, &f.err), &f.err);
    else
        temp_dir_remove(&f.dir);
    return f;
}

static inline bool name_by_folder(const struct fixture *f, char uri[FILE_PATH_SIZE])
{
    return file_path(uri, NULL, "%s%s/store", f->backend->scheme, f->dir.path) == ERROR_NONE;
}

static inline bool name_in_bucket(const struct fixture *f, char uri[FILE_PATH_SIZE])
{
    const char *endpoint = seaweedfs_endpoint();
    return endpoint && file_path(uri, NULL, "s3://graphmill/%s?endpoint=%s",
                                 strrchr(f->dir.path, '/') + 1, endpoint) == ERROR_NONE;
}

static inline bool name_in_cluster(const struct fixture *f, char uri[FILE_PATH_SIZE])
{
    const struct redis_cluster *cluster = redis_cluster_shared();
    if (cluster)
        redis_cluster_uri(cluster, strrchr(f->dir.path, '/') + 1, uri);
    return cluster != NULL;
}

/* Names a store with a folder as fast store and a bucket as durable one, if there is one here. */
static inline bool name_in_tiers(const struct fixture *f, char uri[FILE_PATH_SIZE])
{
    char durable[FILE_PATH_SIZE];
    const bool is_folder = strcmp(f->backend->scheme, "tiered:dir:") == 0;
    if (!is_folder || !name_in_bucket(f, durable))
        (void)snprintf(durable, sizeof durable, "dir:%.200s/store", f->dir.path);
    return file_path(uri, NULL, "%s%s/fast^%s", f->backend->scheme, f->dir.path, durable) ==
           ERROR_NONE;
}

static inline bool name_in_cluster_tier(const struct fixture *f, char uri[FILE_PATH_SIZE])
{
    char fast[FILE_PATH_SIZE];
    return name_in_cluster(f, fast) &&
           file_path(uri, NULL, "tiered:%.300s^dir:%.300s/store", fast, f->dir.path) == ERROR_NONE;
}

static inline void close_fixture(struct fixture *f)
{
    char fast[FILE_PATH_SIZE];
    store_close(f->store);
    memory_store_forget(f->uri + strlen(f->backend->scheme));
    (void)snprintf(fast, sizeof fast, "%.200s/fast", f->dir.path);
    memory_store_forget(fast);
    temp_dir_remove(&f->dir);
}

/* Runs the block that follows with a fixture `f` on each backend that this machine has. */
#define FOR_EACH_BACKEND                                                                           \
    for (size_t case_index = 0; case_index < sizeof cases / sizeof *cases; case_index++)           \
        for (struct fixture f = open_fixture(&cases[case_index]); f.store;                         \
             close_fixture(&f), f.store = NULL)

static inline struct record number_record(const uint32_t *value, uint64_t count)
{
    struct record record = {.kind = RECORD_GRADIENT, .version = 1};
    record_add(&record, "value", ELEMENT_U32, value, count);
    return record;
}

static inline enum error_code put_number(struct store *store, const char *key, uint32_t value,
                                         enum store_durability durability, struct error *err)
{
    const struct record record = number_record(&value, 1);
    return store_put(store, key, "owner", &record, durability, err);
}

static inline uint32_t get_number(struct store *store, const char *key)
{
    struct error err = {0};
    struct record_view view;
    const void *data = NULL;
    assert_ok(store_get(store, key, "owner", &view, &err), &err);
    assert_ok(record_section_get(&view, "value", ELEMENT_U32, 1, &data, NULL, &err), &err);
    const uint32_t value = *(const uint32_t *)data;
    store_release_record(&view);
    return value;
}

/* The keys that store_list() visits; those of artifacts end with a star. */
struct keys {
    char text[2048];
};

static inline enum error_code collect(void *context, const char *key, bool is_artifact,
                                      struct error *err)
{
    struct keys *keys = context;
    const size_t size = strlen(keys->text);
    (void)err;
    (void)snprintf(keys->text + size, sizeof keys->text - size, "%s%s ", key,
                   is_artifact ? "*" : "");
    return ERROR_NONE;
}

static inline void assert_listed(struct store *store, const char *prefix, const char *expected)
{
    struct error err = {0};
    struct keys keys = {.text = ""};
    assert_ok(store_list(store, prefix, collect, &keys, &err), &err);
    assert_string_equal(keys.text, expected);
}

static inline enum error_code publish_file(struct store *store, const char *key, const char *text,
                                           bool *existed, struct error *err)
{
    char scratch[FILE_PATH_SIZE], path[FILE_PATH_SIZE];
    enum error_code rc = store_scratch(store, scratch, err);
    if (rc == ERROR_NONE)
        rc = file_path(path, err, "%s/file", scratch);
    if (rc == ERROR_NONE)
        rc = file_replace(path, text, strlen(text), false, err);
    return rc == ERROR_NONE ? store_publish(store, path, key, existed, err) : rc;
}

static inline enum error_code publish_folder(struct store *store, const char *key, const char *text,
                                             bool *existed, struct error *err)
{
    char scratch[FILE_PATH_SIZE], path[FILE_PATH_SIZE];
    enum error_code rc = store_scratch(store, scratch, err);
    if (rc == ERROR_NONE)
        rc = file_path(path, err, "%s/one", scratch);
    if (rc == ERROR_NONE)
        rc = file_replace(path, text, strlen(text), false, err);
    return rc == ERROR_NONE ? store_publish(store, scratch, key, existed, err) : rc;
}

static inline void damage_directory(const struct fixture *f, const char *key, const void *bytes,
                                    size_t size)
{
    char name[FILE_PATH_SIZE];
    struct error err = {0};
    assert_ok(file_path(name, &err, "store/%s.record", key), &err);
    (void)temp_dir_write(&f->dir, name, bytes, size);
}

static inline void damage_memory(const struct fixture *f, const char *key, const void *bytes,
                                 size_t size)
{
    memory_store_damage(f->uri + strlen(f->backend->scheme), key, bytes, size);
}

static inline void damage_bucket(const struct fixture *f, const char *key, const void *bytes,
                                 size_t size)
{
    void *inner = NULL;
    assert_non_null(store_backend_of(f->store, &inner));
    s3_store_damage(inner, key, bytes, size);
}

static inline void damage_in_cluster(const struct fixture *f, const char *key, const void *bytes,
                                     size_t size)
{
    void *inner = NULL;
    assert_non_null(store_backend_of(f->store, &inner));
    cluster_store_damage(inner, key, bytes, size);
}

/* Damages the record in the store from which it is read. */
static inline void damage_in_tier(const struct fixture *f, const char *key, const void *bytes,
                                  size_t size)
{
    struct fixture tier = *f;
    struct error err = {0};
    char *separator = strchr(tier.uri, '^');
    const char *inner = f->uri + strlen("tiered:");
    assert_non_null(separator);
    *separator = '\0';
    const bool is_durable = tier_of_key(key) == TIER_DURABLE;
    if (is_durable)
        inner = f->uri + (separator + 1 - tier.uri);
    if (strncmp(inner, "memory:", strlen("memory:")) == 0) {
        memory_store_damage(tier.uri + strlen("tiered:memory:"), key, bytes, size);
    } else if (strncmp(inner, "dir:", strlen("dir:")) == 0) {
        char name[FILE_PATH_SIZE];
        assert_ok(file_path(name, &err, "%s/%s.record", is_durable ? "store" : "fast", key), &err);
        (void)temp_dir_write(&f->dir, name, bytes, size);
    } else {
        if (!is_durable)
            inner = tier.uri + strlen("tiered:"); /* up to the separator */
        assert_ok(store_open(inner, 0, &tier.store, &err), &err);
        if (strncmp(inner, "s3:", strlen("s3:")) == 0)
            damage_bucket(&tier, key, bytes, size);
        else
            damage_in_cluster(&tier, key, bytes, size);
        store_close(tier.store);
    }
}

#endif
