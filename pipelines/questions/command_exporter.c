/*
 * exporter - publishes the status of a run for Prometheus, over HTTP or as a file for
 * node_exporter's textfile collector.
 */
#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/base/memory.h"
#include "common/base/options.h"
#include "common/base/stop_signal.h"
#include "common/base/text.h"
#include "common/files/file.h"
#include "pipelines/export/made_file.h"
#include "pipelines/questions/http_server.h"
#include "pipelines/questions/metrics_text.h"
#include "pipelines/questions/run_status.h"
#include "pipelines/shared/commands.h"

#include <stdio.h>
#include <string.h>

enum { HOST_SIZE = 64, LABEL_SIZE = 64, PAUSE_MS = 200 };

struct exporter_options {
    const char *listen, *output, *redis, *redis_password_file, *run, *pipeline, *label;
    struct option_list set;
    int64_t every;
    bool force;
};

/* clang-format off */
#define AT(field) offsetof(struct exporter_options, field)
static const struct option_spec option_table[] = {
    {"listen", OPTION_TEXT, AT(listen), "127.0.0.1:9464", 0, 0, "ADDRESS:PORT",
     "answer GET /metrics there; port 0: any free port"},
    {"output", OPTION_TEXT, AT(output), NULL, 0, 0, "FILE",
     "write the text to this file instead; it is replaced as a whole each time"},
    {"every", OPTION_INT, AT(every), "0", 0, 86400, "SECONDS",
     "with --output: repeat at this interval until the run is finished; 0: once"},
    {"force", OPTION_FLAG, AT(force), NULL, 0, 0, NULL,
     "with --output: replace a file that no exporter made"},
    {"redis", OPTION_TEXT, AT(redis), NULL, 0, 0, "URL",
     "the run's Redis (default: the private one of its folder)"},
    {"redis-password-file", OPTION_TEXT, AT(redis_password_file), NULL, 0, 0, "FILE",
     "file with its password"},
    {"run", OPTION_TEXT, AT(run), NULL, 0, 0, "ID",
     "which run, when the folder has several (default: the newest, even if it is started later)"},
    {"pipeline", OPTION_TEXT, AT(pipeline), NULL, 0, 0, "FILE",
     "the run of this pipeline file, once it is started"},
    {"set", OPTION_LIST, AT(set), NULL, 0, 0, "KEY=VALUE",
     "change one setting of the pipeline file; may be repeated"},
    {"label", OPTION_TEXT, AT(label), NULL, 0, 0, "NAME=VALUE",
     "a label on every line, to distinguish exporters"},
    {.name = NULL},
};
/* clang-format on */

struct exporter { /* the state of the process */
    const struct exporter_options *options;
    const char *path;
    struct pipeline_settings settings; /* of the file in --pipeline */
    struct metrics_label label;        /* the name is NULL without --label */
    char label_name[LABEL_SIZE];
    bool finished;
};

/* Opens the run of the pipeline file. As long as nobody has started it, no run is bound. */
static enum error_code open_pipeline(const struct exporter *exporter, struct run_folder *folder,
                                     struct error *err)
{
    char run_id[ID_SIZE];
    run_folder_close(folder);
    enum error_code rc = run_folder_open_store(folder, exporter->path, STORE_READ_ONLY, err);
    if (rc != ERROR_NONE)
        return rc;
    rc = run_join(folder->store, &exporter->settings, run_id, err);
    if (rc == ERROR_UNAVAILABLE)
        return ERROR_NONE;
    return rc == ERROR_NONE ? run_folder_bind(folder, run_id, err) : rc;
}

/* Makes the text. It opens the folder each time, because a run may have been started since. */
static enum error_code make_text(void *context, char **text, size_t *size, struct error *err)
{
    struct exporter *exporter = context;
    const struct exporter_options *options = exporter->options;
    static struct run_folder folder;
    static struct run_status status;
    enum error_code rc = options->pipeline
                             ? open_pipeline(exporter, &folder, err)
                             : run_status_open(&folder, exporter->path, options->run, err);
    if (rc == ERROR_NONE)
        rc = run_status_read(&folder, options->redis, options->redis_password_file, &status, err);
    if (rc == ERROR_NONE)
        rc = metrics_text_make(&folder, &status, exporter->label.name ? &exporter->label : NULL,
                               text, size, err);
    if (rc == ERROR_NONE)
        exporter->finished = status.chain.finished;
    run_folder_close(&folder);
    return rc;
}

/* Splits "127.0.0.1:9464" or "[::1]:9464". */
static enum error_code split_address(const char *text, char host[HOST_SIZE], uint16_t *port,
                                     struct error *err)
{
    const char *colon = strrchr(text, ':');
    int64_t number = 0;
    size_t size = colon ? (size_t)(colon - text) : 0;
    if (size >= 2 && text[0] == '[' && colon[-1] == ']') {
        text++;
        size -= 2;
    }
    if (size == 0 || size >= HOST_SIZE || !text_int64(colon + 1, strlen(colon + 1), &number) ||
        number < 0 || number > UINT16_MAX)
        return error_set(err, ERROR_USAGE,
                         "--listen: expected ADDRESS:PORT such as 127.0.0.1:9464 or [::]:9464, "
                         "found '%s'",
                         text);
    memcpy(host, text, size);
    host[size] = '\0';
    *port = (uint16_t)number;
    return ERROR_NONE;
}

static enum error_code serve(struct exporter *exporter, struct error *err)
{
    char host[HOST_SIZE];
    struct http_server *server = NULL;
    struct http_server_config config = {.host = host,
                                        .path = "/metrics",
                                        .content_type = "text/plain; version=0.0.4; charset=utf-8",
                                        .make = make_text,
                                        .context = exporter};
    enum error_code rc = split_address(exporter->options->listen, host, &config.port, err);
    if (rc == ERROR_NONE)
        rc = http_server_open(&config, &server, err);
    if (rc != ERROR_NONE)
        return rc == ERROR_USAGE ? rc : error_context(err, rc, "--listen");
    printf("http://%s%s%s:%u/metrics\n", strchr(host, ':') ? "[" : "", host,
           strchr(host, ':') ? "]" : "", http_server_port(server));
    (void)fflush(stdout);
    while (!stop_signal_seen())
        clock_sleep_ms(PAUSE_MS);
    http_server_close(server);
    return ERROR_NONE;
}

static enum error_code write_file(struct exporter *exporter, struct error *err)
{
    char *text = NULL;
    size_t size = 0;
    enum error_code rc = make_text(exporter, &text, &size, err);
    if (rc == ERROR_NONE)
        rc = file_replace(exporter->options->output, text, size, false, err);
    memory_free(text);
    return rc;
}

/* Writes the file again and again. A failure is only logged, because the next attempt may succeed,
 * for instance while a run is being started. */
static enum error_code write_files(struct exporter *exporter, struct error *err)
{
    enum error_code rc = exporter->options->force
                             ? ERROR_NONE
                             : made_file_check(exporter->options->output, "# HELP graphmill_", err);
    if (rc != ERROR_NONE)
        return rc;
    rc = write_file(exporter, err);
    while (exporter->options->every && !exporter->finished && !stop_signal_seen()) {
        if (rc != ERROR_NONE)
            log_warn("%s", err->message);
        for (int64_t ms = 0; ms < exporter->options->every * 1000 && !stop_signal_seen();
             ms += PAUSE_MS)
            clock_sleep_ms(PAUSE_MS);
        rc = write_file(exporter, err);
    }
    return rc;
}

/* Parses a label such as "render=my-49cfabd4". */
static enum error_code take_label(struct exporter *exporter, struct error *err)
{
    const char *text = exporter->options->label;
    const size_t size = text ? strcspn(text, "=") : 0;
    if (!text)
        return ERROR_NONE;
    if (text[size] != '=' || size >= LABEL_SIZE || !metrics_label_is_free(text, size))
        return error_set(err, ERROR_USAGE,
                         "--label: expected NAME=VALUE, with a name of letters, digits and '_' "
                         "other than run, state, stage, worker and host, found '%s'",
                         text);
    (void)snprintf(exporter->label_name, LABEL_SIZE, "%.*s", (int)size, text);
    exporter->label = (struct metrics_label){exporter->label_name, text + size + 1};
    return ERROR_NONE;
}

static enum error_code take_pipeline(struct exporter *exporter, struct error *err)
{
    const struct exporter_options *options = exporter->options;
    if (!options->pipeline)
        return options->set.count
                   ? error_set(err, ERROR_USAGE, "--set is for --pipeline: " ADVICE "give both")
                   : ERROR_NONE;
    if (options->run)
        return error_set(err, ERROR_USAGE,
                         "--run and --pipeline both say which run: " ADVICE "give one");
    enum error_code rc = pipeline_settings_load(&exporter->settings, options->pipeline, err);
    for (int i = 0; i < options->set.count && rc == ERROR_NONE; i++)
        rc = pipeline_settings_override(&exporter->settings, options->set.item[i], err);
    return rc == ERROR_NONE ? pipeline_settings_check(&exporter->settings, err) : rc;
}

enum error_code command_exporter(int argc, char **argv, struct error *err)
{
    struct exporter_options options = {0};
    struct option_list rest = {0};
    if (options_want_help(argc, argv)) {
        printf("graphmill exporter RUN [options] - where a run stands, for Prometheus\n\n");
        options_print_help(option_table);
        return ERROR_NONE;
    }
    enum error_code rc = options_parse(option_table, argc, argv, &options, &rest, err);
    if (rc == ERROR_NONE && rest.count != 1)
        rc = error_set(err, ERROR_USAGE, "graphmill exporter takes one run's folder");
    if (rc != ERROR_NONE)
        return rc;
    static struct exporter exporter; /* the settings are too large for a stack */
    exporter = (struct exporter){.options = &options, .path = rest.item[0]};
    rc = take_label(&exporter, err);
    if (rc == ERROR_NONE)
        rc = take_pipeline(&exporter, err);
    if (rc != ERROR_NONE)
        return rc;
    return options.output ? write_files(&exporter, err) : serve(&exporter, err);
}
