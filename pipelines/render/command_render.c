/*
 * render - prints a run as Kubernetes objects: `graphmill render FILE --image I --store URI |
 * kubectl apply -f -`.
 *
 * It contacts neither the cluster nor the store. All objects have the name of the run in their
 * names and as a label, so runs can exist side by side, and a run is deleted by its label. The same
 * files and options give the same text.
 */
#include "common/base/memory.h"
#include "common/base/options.h"
#include "common/base/text.h"
#include "common/files/checksum.h"
#include "common/files/file.h"
#include "pipelines/render/render_run.h"
#include "pipelines/shared/commands.h"
#include "stages/plan/settings/pipeline_settings.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PIPELINE_BYTES_MAX = 512 << 10, NAME_DIGITS = 8, CPU_MAX = 1024, MEMORY_MIB_MAX = 64 << 20 };

struct render_options {
    const char *image, *store, *form, *name, *redis, *redis_secret, *claim, *credentials, *metrics;
    struct option_list set, resources, egress;
    int64_t workers, scratch;
};

/* clang-format off */
#define AT(field) offsetof(struct render_options, field)
static const struct option_spec option_table[] = {
    {"image", OPTION_TEXT, AT(image), NULL, 0, 0, "IMAGE",
     "image of the Pods, with a tag other than latest, or a digest"},
    {"store", OPTION_TEXT, AT(store), NULL, 0, 0, "URI",
     "address of the store for the Pods: dir:/data/... on the claim, or one that needs no volume"},
    {"workers", OPTION_INT, AT(workers), "1", 1, 10000, "N",
     "Pods of sample, of train-step and of infer"},
    {"form", OPTION_TEXT, AT(form), "jobs", 0, 0, "FORM", "jobs, argo, indexed or keda, see below"},
    {"name", OPTION_TEXT, AT(name), NULL, 0, 0, "NAME",
     "name of the run in the cluster (default: the pipeline's and a hash of all settings)"},
    {"set", OPTION_LIST, AT(set), NULL, 0, 0, "KEY=VALUE",
     "change one setting of the pipeline file; may be repeated"},
    {"resources", OPTION_LIST, AT(resources), NULL, 0, 0, "STAGE=CPU,MEMORY",
     "size of a stage's Pods, such as train-step=4,16Gi or sample=500m,512Mi; may be repeated"},
    {"scratch", OPTION_INT, AT(scratch), "50", 1, 1048576, "GIB",
     "space that a Pod may use on its node's disk"},
    {"redis", OPTION_TEXT, AT(redis), "redis://redis:6379", 0, 0, "URL",
     "the work queue; runs share it"},
    {"redis-secret", OPTION_TEXT, AT(redis_secret), "redis-password", 0, 0, "SECRET",
     "Secret with its password, under the key password"},
    {"claim", OPTION_TEXT, AT(claim), NULL, 0, 0, "CLAIM",
     "volume claim that is /data in the Pods (default: graphmill-data when the store is dir:)"},
    {"credentials", OPTION_TEXT, AT(credentials), NULL, 0, 0, "SECRET",
     "Secret with a file of S3 credentials, under the key credentials"},
    {"metrics", OPTION_TEXT, AT(metrics), "http://prometheus-server.monitoring.svc:80", 0, 0, "URL",
     "form keda: address of the cluster's Prometheus"},
    {"egress", OPTION_LIST, AT(egress), NULL, 0, 0, "PORT",
     "TCP port that the Pods may reach besides that of the permanent Redis; may be repeated "
     "(default: those in --store and --redis)"},
    {.name = NULL},
};
/* clang-format on */

static void print_help(void)
{
    printf("graphmill render FILE --image IMAGE --store URI [options] - a run as objects of "
           "Kubernetes, for kubectl apply -f -\n\n");
    options_print_help(option_table);
    printf("\nForms:\n");
    for (int i = 0; i < RENDER_FORM_COUNT; i++)
        printf("  %-10s %s\n", render_forms[i].name, render_forms[i].summary);
    printf("\nPaths in FILE are those inside the Pods; variables of the environment that it names "
           "are handed on.\n");
}

/* --- what is given --- */

static enum error_code find_form(const char *name, const struct render_form **form,
                                 struct error *err)
{
    const char *names[RENDER_FORM_COUNT + 1] = {NULL};
    for (int i = 0; i < RENDER_FORM_COUNT; i++) {
        names[i] = render_forms[i].name;
        if (strcmp(name, names[i]) == 0) {
            *form = &render_forms[i];
            return ERROR_NONE;
        }
    }
    const char *nearest = text_nearest(name, names);
    return error_set(
        err, ERROR_USAGE, "--form: expected jobs, argo, indexed or keda, found '%s'%s%s%s", name,
        nearest ? "; did you mean '" : "", nearest ? nearest : "", nearest ? "'?" : "");
}

static enum error_code check_name(const char *option, const char *text, size_t most,
                                  struct error *err)
{
    if (!text || render_is_name(text, most))
        return ERROR_NONE;
    return error_set(err, ERROR_USAGE,
                     "--%s: expected at most %zu lower-case letters, digits and '-' between them, "
                     "found '%s'",
                     option, most, text);
}

/* Checks the image. In "registry:5000/graphmill:0.1.0" the tag comes after the last slash. */
static enum error_code check_image(const char *image, struct error *err)
{
    const char *slash = image ? strrchr(image, '/') : NULL;
    const char *tag = image ? strchr(slash ? slash : image, ':') : NULL;
    if (image && !strpbrk(image, " \t\n") && tag && tag[1] && strcmp(tag, ":latest") != 0)
        return ERROR_NONE;
    return error_set(err, ERROR_USAGE,
                     "--image: expected one with a tag other than latest, such as "
                     "registry.example/graphmill:%s, or with a digest, found '%s'; what 'latest' "
                     "is may change in the middle of a run",
                     GRAPHMILL_VERSION, image ? image : "");
}

/* Rejects $(NAME), which Kubernetes would replace in an argument. */
static enum error_code check_argument(const char *option, const char *text, struct error *err)
{
    if (!strstr(text, "$(") && !strpbrk(text, "\n\r"))
        return ERROR_NONE;
    return error_set(err, ERROR_USAGE, "--%s: '$(' and line feeds cannot be handed on, found '%s'",
                     option, text);
}

static enum error_code check_store(struct render_options *o, struct error *err)
{
    static const char folder[] = "/data/";
    struct store_location location;
    if (!o->store || !strchr(o->store, ':'))
        return error_set(err, ERROR_USAGE,
                         "--store: expected a URI such as dir:/data/store, found '%s'",
                         o->store ? o->store : "");
    const enum error_code rc = store_locate(o->store, &location, err);
    if (rc != ERROR_NONE)
        return error_context(err, rc, "--store");
    if (!location.is_shared)
        return error_set(err, ERROR_USAGE, "--store: %s is of one process alone", o->store);
    for (int i = 0; i < location.folder_count; i++)
        if (strncmp(location.folder[i], folder, sizeof folder - 1) != 0)
            return error_set(
                err, ERROR_USAGE,
                "--store: expected a folder of the claim, which is /data in the Pods, such "
                "as dir:/data/store, found '%s'",
                o->store);
    if (location.folder_count && !o->claim)
        o->claim = "graphmill-data";
    return check_argument("store", o->store, err);
}

static enum error_code check_options(struct render_options *o, const struct option_list *rest,
                                     struct error *err)
{
    if (rest->count != 1)
        return error_set(err, ERROR_USAGE, "graphmill render takes one pipeline file");
    enum error_code rc = check_image(o->image, err);
    if (rc == ERROR_NONE)
        rc = check_store(o, err);
    if (rc == ERROR_NONE)
        rc = check_argument("redis", o->redis, err);
    if (rc == ERROR_NONE)
        rc = check_argument("metrics", o->metrics, err);
    if (rc == ERROR_NONE)
        rc = check_name("name", o->name, RENDER_NAME_SIZE - 1, err);
    if (rc == ERROR_NONE)
        rc = check_name("redis-secret", o->redis_secret, 63, err);
    if (rc == ERROR_NONE)
        rc = check_name("claim", o->claim, 63, err);
    if (rc == ERROR_NONE)
        rc = check_name("credentials", o->credentials, 63, err);
    for (int i = 0; i < o->set.count && rc == ERROR_NONE; i++)
        rc = check_argument("set", o->set.item[i], err);
    return rc;
}

/* --- the size of Pods --- */

/* Parses "4" or "500m" as thousandths of a CPU. */
static bool parse_cpu(const char *text, size_t size, int64_t *milli)
{
    const bool is_milli = size > 0 && text[size - 1] == 'm';
    if (!text_int64(text, size - is_milli, milli) || *milli < 1 || *milli > (int64_t)CPU_MAX * 1000)
        return false;
    *milli *= is_milli ? 1 : 1000;
    return *milli <= (int64_t)CPU_MAX * 1000;
}

/* Parses "512Mi" or "16Gi". */
static bool parse_memory(const char *text, int64_t *mib)
{
    const size_t size = strlen(text);
    const char *unit = size > 2 ? text + size - 2 : "";
    const int64_t factor = strcmp(unit, "Mi") == 0 ? 1 : strcmp(unit, "Gi") == 0 ? 1024 : 0;
    if (!factor || !text_int64(text, size - 2, mib) || *mib < 1 || *mib > MEMORY_MIB_MAX / factor)
        return false;
    *mib *= factor;
    return true;
}

static enum error_code set_resources(struct render_run *run, const char *item, struct error *err)
{
    const size_t name = strcspn(item, "=");
    const char *cpu = item + name + (item[name] == '=');
    const size_t cpu_size = strcspn(cpu, ",");
    char names[STAGE_NAMES_SIZE];
    for (int i = 0; i < STAGE_COUNT; i++) {
        struct render_stage *stage = &run->stage[i];
        if (strlen(stage->name) != name || strncmp(stage->name, item, name) != 0)
            continue;
        if (cpu[cpu_size] == ',' && parse_cpu(cpu, cpu_size, &stage->cpu_milli) &&
            parse_memory(cpu + cpu_size + 1, &stage->memory_mib))
            return ERROR_NONE;
        return error_set(err, ERROR_USAGE,
                         "--resources: expected %s=CPU,MEMORY such as %s=500m,512Mi or %s=4,16Gi, "
                         "found '%s'",
                         stage->name, stage->name, stage->name, item);
    }
    stage_list_names(names);
    return error_set(err, ERROR_USAGE, "--resources: expected a stage, %s, found '%.*s'", names,
                     (int)name, item);
}

/* --- the pipeline --- */

static bool has_variable(const struct render_run *run, const char *name, size_t size)
{
    for (int i = 0; i < run->variable_count; i++)
        if (strlen(run->variable[i]) == size && strncmp(run->variable[i], name, size) == 0)
            return true;
    return false;
}

/* Collects the NAME of each ${NAME} and ${NAME:-default} that is set here; the Pods get these
 * variables. */
static enum error_code find_variables(struct render_run *run, struct error *err)
{
    for (const char *at = strstr(run->pipeline_text, "${"); at; at = strstr(at + 2, "${")) {
        const char *name = at + 2;
        size_t size = 0;
        while (isalnum((unsigned char)name[size]) || name[size] == '_')
            size++;
        if (size == 0 || has_variable(run, name, size))
            continue;
        if (size >= RENDER_VARIABLE_SIZE || run->variable_count == RENDER_VARIABLE_MAX)
            return error_set(err, ERROR_INVALID,
                             "the pipeline file names too many variables, or too long ones, at "
                             "'%.*s'",
                             (int)(size < 80 ? size : 80), name);
        char *copy = run->variable[run->variable_count];
        (void)snprintf(copy, RENDER_VARIABLE_SIZE, "%.*s", (int)size, name);
        run->variable_count += getenv(copy) != NULL;
    }
    return ERROR_NONE;
}

/* Makes the run's name: the pipeline's name, with the characters that Kubernetes accepts, and
 * digits of a hash of everything that the Pods are given. So two runs that differ in anything have
 * different names. */
static enum error_code make_name(struct render_run *run, const struct pipeline_settings *settings,
                                 struct error *err)
{
    static char text[SETTINGS_TEXT_SIZE];
    char digits[CHECKSUM_TEXT_SIZE];
    size_t size = 0;
    const enum error_code rc = pipeline_settings_text(settings, text, err);
    if (rc != ERROR_NONE)
        return rc;
    const struct checksum_part parts[] = {{text, strlen(text)}, {run->store, strlen(run->store)}};
    const struct checksum sum = checksum_of_parts(parts, sizeof parts / sizeof *parts);
    checksum_text(&sum, digits);
    for (const char *c = settings->name; *c && size < RENDER_NAME_SIZE - NAME_DIGITS - 2; c++)
        if (isalnum((unsigned char)*c))
            run->name[size++] = (char)tolower((unsigned char)*c);
        else if (size && run->name[size - 1] != '-')
            run->name[size++] = '-';
    while (size && run->name[size - 1] == '-')
        size--;
    (void)snprintf(run->name + size, sizeof run->name - size, "%s%.*s", size ? "-" : "r",
                   NAME_DIGITS, digits);
    return ERROR_NONE;
}

static enum error_code read_pipeline(struct render_run *run, const char *path, char **text,
                                     const char *name, struct error *err)
{
    static struct pipeline_settings settings; /* too large for a stack */
    size_t size = 0;
    enum error_code rc = pipeline_settings_load(&settings, path, err);
    for (int i = 0; i < run->set.count && rc == ERROR_NONE; i++)
        rc = pipeline_settings_override(&settings, run->set.item[i], err);
    if (rc == ERROR_NONE)
        rc = pipeline_settings_check(&settings, err);
    if (rc == ERROR_NONE)
        rc = file_read(path, PIPELINE_BYTES_MAX, text, &size, err);
    if (rc != ERROR_NONE)
        return rc;
    run->pipeline_text = *text;
    run->ranges = settings.aggregate.ranges > 1 ? settings.aggregate.ranges : 1;
    rc = find_variables(run, err);
    if (rc == ERROR_NONE && !name)
        return make_name(run, &settings, err);
    (void)text_copy(run->name, sizeof run->name, name);
    return rc;
}

static enum error_code make_run(struct render_run *run, const struct render_options *o,
                                const char *path, char **text, struct error *err)
{
    *run = (struct render_run){.image = o->image,
                               .store = o->store,
                               .redis = o->redis,
                               .redis_secret = o->redis_secret,
                               .claim = o->claim,
                               .credentials = o->credentials,
                               .metrics = o->metrics,
                               .set = o->set,
                               .workers = o->workers};
    memcpy(run->stage, render_stages, sizeof run->stage);
    for (int i = 0; i < STAGE_COUNT; i++)
        run->stage[i].scratch_gib = o->scratch;
    enum error_code rc = render_find_ports(run, &o->egress, err);
    for (int i = 0; i < o->resources.count && rc == ERROR_NONE; i++)
        rc = set_resources(run, o->resources.item[i], err);
    return rc == ERROR_NONE ? read_pipeline(run, path, text, o->name, err) : rc;
}

static enum error_code print_run(const struct render_form *form, const struct render_run *run,
                                 struct error *err)
{
    struct yaml_writer writer = {.out = stdout};
    must(form);
    form->put(&writer, run);
    if (writer.failed)
        return error_set(err, ERROR_NO_MEMORY, "no memory for the script of the Pods");
    if (fflush(stdout) != 0 || ferror(stdout))
        return error_set_errno(err, ERROR_IO, "stdout");
    (void)fprintf(stderr,
                  "run %s; its logs: kubectl logs -l app.kubernetes.io/instance=%s --tail=-1 "
                  "--prefix\n",
                  run->name, run->name);
    return ERROR_NONE;
}

enum error_code command_render(int argc, char **argv, struct error *err)
{
    struct render_options options = {0};
    struct option_list rest = {0};
    static struct render_run run;
    const struct render_form *form = NULL;
    char *text = NULL;
    if (options_want_help(argc, argv)) {
        print_help();
        return ERROR_NONE;
    }
    enum error_code rc = options_parse(option_table, argc, argv, &options, &rest, err);
    if (rc == ERROR_NONE)
        rc = check_options(&options, &rest, err);
    if (rc == ERROR_NONE)
        rc = find_form(options.form, &form, err);
    if (rc == ERROR_NONE)
        rc = make_run(&run, &options, rest.item[0], &text, err);
    if (rc == ERROR_NONE)
        rc = print_run(form, &run, err);
    memory_free(text);
    return rc;
}
