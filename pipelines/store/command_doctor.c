/*
 * doctor - shows what this machine has, what graphmill chose, and what would prevent it from
 * working here.
 */
#include "common/base/clock.h"
#include "common/base/host.h"
#include "common/base/json.h"
#include "common/base/options.h"
#include "common/base/text.h"
#include "common/math/bf16_product.h"
#include "common/math/blas.h"
#include "common/numbers/cpu_level.h"
#include "pipelines/shared/child_process.h"
#include "pipelines/shared/commands.h"
#include "pipelines/store/product_rates.h"
#include "pipelines/store/store_check.h"
#include "stages/engine/stage_list.h"
#include "stages/plan/run/core_type.h"
#include "stages/plan/run/environment.h"
#include "store/backends/backend_list.h"
#include "store/queue/redis_server.h"
#include "store/queue/work_queue.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

struct doctor_options {
    const char *directory;
    const char *store;
    bool json;
};

/* clang-format off */
#define AT(field) offsetof(struct doctor_options, field)
static const struct option_spec option_table[] = {
    {"directory", OPTION_TEXT, AT(directory), ".", 0, 0, "FOLDER",
     "folder for runs: its file system is examined"},
    {"store", OPTION_TEXT, AT(store), NULL, 0, 0, "URI",
     "also test a store end to end (" STORE_ADDRESSES "); its contents stay"},
    {"json", OPTION_FLAG, AT(json), NULL, 0, 0, NULL, "print the answer as JSON"},
    {.name = NULL},
};
/* clang-format on */

struct findings {
    struct json_writer json;
    bool as_json;
    int bad;
};

static void tell(struct findings *f, bool good, const char *name, const char *value)
{
    if (f->as_json) {
        json_open_object(&f->json, name);
        json_put_bool(&f->json, "ok", good);
        json_put_string(&f->json, "value", value);
        json_close_object(&f->json);
    } else {
        printf("%-5s %-20s %s\n", good ? "ok" : "BAD", name, value);
    }
    f->bad += !good;
}

static void look_at_host(struct findings *f, const char *directory)
{
    char text[256], size[32];
    struct statvfs volume;
    (void)snprintf(text, sizeof text, "%d", host_core_count());
    tell(f, true, "cores", text);
    (void)snprintf(text, sizeof text,
                   "%s; a run divides four fifths of it among its processes unless --memory says",
                   text_size(host_memory_bytes(), size));
    tell(f, host_memory_bytes() >= 1ULL << 30, "memory", text);
    if (statvfs(directory, &volume) == 0) {
        const uint64_t left = (uint64_t)volume.f_bavail * volume.f_frsize;
        (void)snprintf(text, sizeof text, "%s free in %s%s", text_size(left, size), directory,
                       access(directory, W_OK) == 0 ? "" : ", and it cannot be written");
        tell(f, left >= 1ULL << 30 && access(directory, W_OK) == 0, "disk", text);
    } else {
        tell(f, false, "disk", "the folder cannot be looked at");
    }
}

static const char *yes_or_no(bool value)
{
    return value ? "yes" : "no";
}

/* Returns who chose the processor type that the matrix products are made for. */
static const char *chosen_by(const struct processor *processor)
{
    const char *why = NULL, *rule = core_type_rule(processor, &why);
    const char *set = getenv("OPENBLAS_CORETYPE");
    return !set || (rule && strcmp(rule, set) == 0) ? why : "OPENBLAS_CORETYPE says so";
}

static void look_at_processor(struct findings *f)
{
    const struct processor processor = processor_of_host();
    char text[256], environment[ENVIRONMENT_TEXT_SIZE], name[128];
    host_processor_name(name, sizeof name);
    (void)snprintf(text, sizeof text, "%s: AVX2 %s, AVX-512 %s, bfloat16 %s", name,
                   yes_or_no(processor.level >= CPU_AVX2), yes_or_no(processor.level >= CPU_AVX512),
                   yes_or_no(processor.level >= CPU_BF16));
    tell(f, true, "processor", text);
    if (bf16_product_hindrance())
        (void)snprintf(text, sizeof text, "fp32; bf16 is refused here: %s",
                       bf16_product_hindrance());
    else
        (void)snprintf(text, sizeof text, "fp32; bf16 by %s", bf16_product_version());
    tell(f, true, "precisions", text);
    (void)snprintf(text, sizeof text, "level %s, %s", cpu_level_name(cpu_level()),
                   cpu_level() < processor.level ? "as " CPU_LEVEL_VARIABLE " says"
                                                 : "the highest that this processor has");
    tell(f, true, "own kernels", text);
    (void)snprintf(text, sizeof text, "%s by OpenBLAS; %s", blas_core_name(),
                   chosen_by(&processor));
    tell(f, true, "products", text);
    environment_text(false, blas_core_name(), environment);
    environment[strlen(environment) - 1] = '\0';
    for (char *at = environment; *at; at++)
        if (*at == '\n')
            *at = ',';
    tell(f, true, "bits depend on", environment);
}

/* Checks that the chosen type is the fastest here. A small difference is within the error of such
 * short measurements. */
static void look_at_product_rates(struct findings *f)
{
    static const double enough = 0.97;
    struct product_rates rates;
    struct error err = {0};
    char text[256] = "";
    int best = 0, used = 0, size = 0;
    if (product_rates_measure(&rates, &err) != ERROR_NONE) {
        tell(f, false, "product rates", err.message);
        return;
    }
    for (int i = 0; i < rates.count; i++) {
        size += snprintf(text + size, sizeof text - (size_t)size, "%s %.0f, ", rates.type[i].core,
                         rates.type[i].gigaflops);
        best = rates.type[i].gigaflops > rates.type[best].gigaflops ? i : best;
        used = strcmp(rates.type[i].core, blas_core_name()) == 0 ? i : used;
    }
    size += snprintf(text + size, sizeof text - (size_t)size, "GFLOP/s a core; OpenBLAS picks %s; ",
                     rates.pick);
    if (rates.type[used].gigaflops >= enough * rates.type[best].gigaflops)
        (void)snprintf(text + size, sizeof text - (size_t)size, "%s is in use", blas_core_name());
    else
        (void)snprintf(text + size, sizeof text - (size_t)size,
                       "OPENBLAS_CORETYPE=%s would be faster", rates.type[best].core);
    tell(f, true, "product rates", text);
}

static void look_at_programs(struct findings *f)
{
    struct error err = {0};
    char path[FILE_PATH_SIZE];
    for (int i = 0; i < STAGE_COUNT; i++)
        if (child_program(stage_list[i].name, path, &err) != ERROR_NONE)
            tell(f, false, stage_list[i].name, err.message);
    if (!err.message[0])
        tell(f, true, "stage programs", "all are there");
}

/* Starts a private Redis and measures a round trip, which is the cost of a hand-over between
 * programs. */
static void look_at_redis(struct findings *f)
{
    char folder[] = "/tmp/graphmill-doctor-XXXXXX", text[256];
    struct error err = {0};
    struct redis_server *server = NULL;
    struct work_queue *queue = NULL;
    enum { ROUND_TRIPS = 200 };
    enum error_code rc = ERROR_NONE;
    if (!mkdtemp(folder)) {
        tell(f, false, "redis", "no folder in /tmp");
        return;
    }
    rc = redis_server_open(folder, &server, &err);
    const struct work_queue_config config = {.url = server ? redis_server_url(server) : "",
                                             .store_id = "doctor",
                                             .run_id = "doctor",
                                             .worker = "doctor"};
    if (rc == ERROR_NONE)
        rc = work_queue_open(&config, &queue, &err);
    const double before = clock_seconds();
    for (int i = 0; rc == ERROR_NONE && i < ROUND_TRIPS; i++) {
        struct queue_look look = {0};
        rc = work_queue_look(queue, NULL, 0, 0, &look, &err);
    }
    const double each = (clock_seconds() - before) / ROUND_TRIPS;
    (void)snprintf(text, sizeof text, "private server starts; %.0f us for one question",
                   each * 1e6);
    tell(f, rc == ERROR_NONE, "redis", rc == ERROR_NONE ? text : err.message);
    work_queue_close(queue);
    redis_server_close(server);
    if (file_remove_all(folder, &err) != ERROR_NONE)
        tell(f, false, "redis", err.message);
}

static void tell_of_store(void *context, bool good, const char *name, const char *value)
{
    tell(context, good, name, value);
}

/* Uses a store as the programs do. A missing store is made. */
static void look_at_store(struct findings *f, const char *uri)
{
    struct error err = {0};
    struct store *store = NULL;
    const double before = clock_seconds();
    char text[FILE_PATH_SIZE + 64];
    if (store_open(uri, 0, &store, &err) != ERROR_NONE) {
        tell(f, false, "store", err.message);
        return;
    }
    (void)snprintf(text, sizeof text, "%s opens in %.1f ms", uri, (clock_seconds() - before) * 1e3);
    tell(f, true, "store", text);
    store_check(store, tell_of_store, f);
    store_close(store);
}

enum error_code command_doctor(int argc, char **argv, struct error *err)
{
    struct doctor_options options = {0};
    struct option_list rest = {0};
    if (options_want_help(argc, argv)) {
        printf("graphmill doctor [options] - what this machine has, and what graphmill chose\n\n");
        options_print_help(option_table);
        return ERROR_NONE;
    }
    if (argc == 2 && strcmp(argv[1], product_rates_argument) == 0)
        return product_rates_print(err);
    enum error_code rc = options_parse(option_table, argc, argv, &options, &rest, err);
    if (rc == ERROR_NONE && rest.count)
        rc = error_set(err, ERROR_USAGE, "graphmill doctor takes no arguments");
    if (rc != ERROR_NONE)
        return rc;
    struct findings findings = {.as_json = options.json};
    json_open_object(&findings.json, NULL);
    look_at_host(&findings, options.directory);
    look_at_processor(&findings);
    look_at_product_rates(&findings);
    look_at_programs(&findings);
    look_at_redis(&findings);
    if (options.store)
        look_at_store(&findings, options.store);
    json_close_object(&findings.json);
    rc = json_writer_finish(&findings.json, err);
    if (rc == ERROR_NONE && options.json)
        printf("%s\n", findings.json.text);
    json_writer_release(&findings.json);
    if (rc == ERROR_NONE && findings.bad)
        rc = error_set(err, ERROR_IO, "%d of the checks are bad", findings.bad);
    return rc;
}
