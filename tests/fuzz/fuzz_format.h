/*
 * fuzz_format - the files of an input, read by the reader of its format into a real dataset.
 *
 * The store is in memory, so that nothing but the input is written.
 */
#ifndef TESTS_FUZZ_FUZZ_FORMAT_H
#define TESTS_FUZZ_FUZZ_FORMAT_H

#include "stages/ingest/formats/shared/input_format.h"
#include "store/objects/store.h"

#include "tests/fuzz/fuzz_file.h"

/* Reads settings->ingest.path: it is refused with a message, or becomes a dataset that has
 * nodes. */
static inline void fuzz_format_read(const struct input_format *format,
                                    const struct pipeline_settings *settings)
{
    struct error err = {0};
    struct store *store = NULL;
    struct dataset_schema *schema = NULL;
    struct dataset_builder *builder = NULL;
    must(store_open("memory:fuzz", 0, &store, &err) == ERROR_NONE);
    must(memory_new(&schema, 1, "the schema of a dataset", &err) == ERROR_NONE);
    const struct dataset_builder_config config = {.store = store,
                                                  .settings = settings,
                                                  .dataset_id = "fuzz-1",
                                                  .name = "fuzz",
                                                  .memory_bytes = 1 << 26};
    must(dataset_builder_new(&config, &builder, &err) == ERROR_NONE);
    enum error_code rc = format->run(settings, config.memory_bytes, builder, &err);
    if (rc == ERROR_NONE)
        rc = dataset_builder_finish(builder, schema, &err);
    must(rc == ERROR_NONE ? schema->node_count > 0 : err.message[0] != '\0');
    dataset_builder_free(builder);
    memory_free(schema);
    store_close(store);
}

/* Removes those of the files names [count] in the folder of fuzz_files_write() that got no bytes: a
 * format may be without them. */
static inline void fuzz_format_drop_empty(const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        char path[FILE_PATH_SIZE], *text = NULL;
        size_t size = 0;
        struct error err = {0};
        must(file_path(path, &err, "%s/%s", fuzz_folder(), names[i]) == ERROR_NONE);
        must(file_read(path, 0, &text, &size, &err) == ERROR_NONE);
        memory_free(text);
        must(size > 0 || file_remove_all(path, &err) == ERROR_NONE);
    }
}

/* Reads a folder with the files names [count], which the bytes are cut into, a byte 1 between
 * them. */
static inline int fuzz_format_folder(const struct input_format *format, enum task_kind task,
                                     const char *const *names, size_t count, const uint8_t *data,
                                     size_t size)
{
    static struct pipeline_settings settings;
    pipeline_settings_defaults(&settings);
    settings.ingest.task = task;
    (void)snprintf(settings.ingest.path, sizeof settings.ingest.path, "%s",
                   fuzz_files_write(data, size, names, count));
    fuzz_format_drop_empty(names, count);
    fuzz_format_read(format, &settings);
    fuzz_folder_remove();
    return 0;
}

#endif
