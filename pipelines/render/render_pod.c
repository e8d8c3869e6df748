#include "pipelines/render/render_pod.h"

#include "common/files/file.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

bool render_stage_loops(const struct render_stage *stage)
{
    for (int i = 0; i < STAGE_LOOP_COUNT; i++)
        if (strcmp(stage_loop[i].name, stage->name) == 0)
            return true;
    return false;
}

void render_pod_security(struct yaml_writer *w)
{
    yaml_line(w, "automountServiceAccountToken: false");
    yaml_line(w, "securityContext:");
    yaml_in(w);
    yaml_line(w, "runAsNonRoot: true");
    yaml_line(w, "runAsUser: 10001");
    yaml_line(w, "runAsGroup: 10001");
    yaml_line(w, "fsGroup: 10001");
    yaml_line(w, "fsGroupChangePolicy: OnRootMismatch");
    yaml_line(w, "seccompProfile:");
    yaml_in(w);
    yaml_line(w, "type: RuntimeDefault");
    yaml_out(w, 2);
}

static void open_volume(struct yaml_writer *w, const char *name)
{
    yaml_dash(w);
    yaml_line(w, "name: %s", name);
}

static void put_secret(struct yaml_writer *w, const char *volume, const char *secret)
{
    open_volume(w, volume);
    yaml_line(w, "secret:");
    yaml_in(w);
    yaml_text(w, "secretName", secret);
    yaml_line(w, "defaultMode: 0440");
    yaml_out(w, 1);
}

static void put_claim(struct yaml_writer *w, const char *claim)
{
    open_volume(w, "data");
    yaml_line(w, "persistentVolumeClaim:");
    yaml_in(w);
    yaml_text(w, "claimName", claim);
    yaml_out(w, 1);
}

static void put_empty(struct yaml_writer *w, const char *volume, int64_t gib)
{
    open_volume(w, volume);
    yaml_line(w, "emptyDir:");
    yaml_in(w);
    yaml_line(w, "sizeLimit: %" PRId64 "Gi", gib);
    yaml_out(w, 1);
}

/* Returns whether the program of a stage uses the queue. */
static bool needs_queue(const struct render_stage *stage)
{
    for (int i = 0; i < STAGE_ONCE_COUNT; i++)
        if (strcmp(stage_list[i].name, stage->name) == 0)
            return false;
    return true;
}

void render_volumes(struct yaml_writer *w, const struct render_run *run,
                    const struct render_stage *stage)
{
    yaml_line(w, "volumes:");
    yaml_in(w);
    if (run->claim)
        put_claim(w, run->claim);
    open_volume(w, "pipeline");
    yaml_line(w, "configMap:");
    yaml_in(w);
    yaml_text(w, "name", run->name);
    yaml_out(w, 1);
    put_empty(w, "scratch", stage->scratch_gib);
    put_empty(w, "tmp", 1);
    if (needs_queue(stage))
        put_secret(w, "redis-password", run->redis_secret);
    if (run->credentials)
        put_secret(w, "credentials", run->credentials);
    yaml_out(w, 1);
}

static void put_mount(struct yaml_writer *w, const char *volume, const char *path, bool read_only)
{
    yaml_dash(w);
    yaml_line(w, "name: %s", volume);
    yaml_line(w, "mountPath: %s", path);
    if (read_only)
        yaml_line(w, "readOnly: true");
}

static void put_mounts(struct yaml_writer *w, const struct render_run *run,
                       const struct render_stage *stage)
{
    yaml_line(w, "volumeMounts:");
    yaml_in(w);
    if (run->claim)
        put_mount(w, "data", "/data", false);
    put_mount(w, "pipeline", "/etc/graphmill/run", true);
    put_mount(w, "scratch", "/scratch", false);
    put_mount(w, "tmp", "/tmp", false);
    if (needs_queue(stage))
        put_mount(w, "redis-password", "/run/graphmill/redis", true);
    if (run->credentials)
        put_mount(w, "credentials", "/run/graphmill/credentials", true);
    yaml_out(w, 1);
}

static void put_variable(struct yaml_writer *w, const char *name, const char *value)
{
    yaml_dash(w);
    yaml_line(w, "name: %s", name);
    yaml_text(w, "value", value);
}

static void put_pod_name(struct yaml_writer *w)
{
    yaml_dash(w);
    yaml_line(w, "name: POD_NAME");
    yaml_line(w, "valueFrom:");
    yaml_in(w);
    yaml_line(w, "fieldRef:");
    yaml_in(w);
    yaml_line(w, "fieldPath: metadata.name");
    yaml_out(w, 2);
}

static void put_environment(struct yaml_writer *w, const struct render_run *run,
                            const struct render_stage *stage)
{
    if (!needs_queue(stage) && !run->variable_count && !run->credentials)
        return;
    yaml_line(w, "env:");
    yaml_in(w);
    if (needs_queue(stage))
        put_pod_name(w);
    for (int i = 0; i < run->variable_count; i++)
        put_variable(w, run->variable[i], getenv(run->variable[i]));
    if (run->credentials)
        put_variable(w, "AWS_SHARED_CREDENTIALS_FILE", "/run/graphmill/credentials/credentials");
    yaml_out(w, 1);
}

static void put_resources(struct yaml_writer *w, const struct render_stage *stage)
{
    yaml_line(w, "resources:");
    yaml_in(w);
    yaml_line(w, "requests:");
    yaml_in(w);
    yaml_line(w, "cpu: %" PRId64 "m", stage->cpu_milli);
    yaml_line(w, "memory: %" PRId64 "Mi", stage->memory_mib);
    yaml_out(w, 1);
    yaml_line(w, "limits:");
    yaml_in(w);
    yaml_line(w, "memory: %" PRId64 "Mi", stage->memory_mib);
    yaml_out(w, 2);
}

void render_arguments(const struct render_run *run, const struct render_stage *stage,
                      void (*put)(void *context, const char *argument), void *context)
{
    char text[FILE_PATH_SIZE + 64];
    const bool loops = render_stage_loops(stage);
    (void)snprintf(text, sizeof text, "--store=%s", run->store);
    put(context, text);
    put(context, "--pipeline=/etc/graphmill/run/pipeline.yaml");
    for (int i = 0; i < run->set.count; i++) {
        (void)snprintf(text, sizeof text, "--set=%s", run->set.item[i]);
        put(context, text);
    }
    if (loops) {
        (void)snprintf(text, sizeof text, "--redis=%s", run->redis);
        put(context, text);
        put(context, "--redis-password-file=/run/graphmill/redis/password");
    }
    if (strcmp(stage->name, "partition") == 0)
        put(context, "--start");
    (void)snprintf(text, sizeof text, "--threads=%" PRId64, (stage->cpu_milli + 999) / 1000);
    put(context, text);
    put(context, "--memory=75%");
    put(context, "--scratch=/scratch");
    put(context, "--wait=60");
    if (loops)
        put(context, "--idle=60");
}

static void put_argument(void *context, const char *argument)
{
    yaml_item(context, argument);
}

static void put_lines(struct yaml_writer *w, const char *text)
{
    while (*text) {
        const size_t size = strcspn(text, "\n");
        yaml_line(w, "  %.*s", (int)size, text);
        text += size + (text[size] == '\n');
    }
}

static void put_command(struct yaml_writer *w, const struct render_run *run,
                        const struct render_stage *stage, const char *command, const char *script)
{
    if (command)
        yaml_line(w, "command: [%s]", command);
    else
        yaml_line(w, "command: [sh, -euc]");
    yaml_line(w, "args:");
    yaml_in(w);
    if (command)
        render_arguments(run, stage, put_argument, w);
    if (command && render_stage_loops(stage))
        yaml_item(w, "--worker=$(POD_NAME)");
    if (script) {
        yaml_line(w, "- |");
        put_lines(w, script);
    }
    yaml_out(w, 1);
}

void render_container(struct yaml_writer *w, const struct render_run *run,
                      const struct render_stage *stage, const char *command, const char *script)
{
    yaml_text(w, "image", run->image);
    yaml_line(w, "imagePullPolicy: IfNotPresent");
    yaml_line(w, "terminationMessagePolicy: FallbackToLogsOnError");
    put_command(w, run, stage, command, script);
    put_environment(w, run, stage);
    put_resources(w, stage);
    yaml_line(w, "securityContext:");
    yaml_in(w);
    yaml_line(w, "allowPrivilegeEscalation: false");
    yaml_line(w, "readOnlyRootFilesystem: true");
    yaml_line(w, "capabilities:");
    yaml_in(w);
    yaml_line(w, "drop: [ALL]");
    yaml_out(w, 2);
    put_mounts(w, run, stage);
}

static void put_annotations(struct yaml_writer *w)
{
    yaml_line(w, "annotations:");
    yaml_in(w);
    yaml_line(w, "prometheus.io/scrape: \"true\"");
    yaml_line(w, "prometheus.io/port: \"9464\"");
    yaml_out(w, 1);
}

void render_template_head(struct yaml_writer *w, const struct render_run *run,
                          const char *component, enum template_kind kind)
{
    yaml_in(w);
    yaml_line(w, "metadata:");
    yaml_in(w);
    render_labels(w, run, component);
    if (kind == TEMPLATE_OF_EXPORTER)
        put_annotations(w);
    yaml_out(w, 1);
    yaml_line(w, "spec:");
    yaml_in(w);
    yaml_line(w, "restartPolicy: %s", kind == TEMPLATE_OF_EXPORTER ? "Always" : "Never");
    yaml_line(w, "terminationGracePeriodSeconds: 30");
    render_pod_security(w);
    yaml_line(w, "containers:");
    yaml_in(w);
    yaml_dash(w);
    yaml_line(w, "name: %s", component);
}

void render_template_end(struct yaml_writer *w, const struct render_run *run,
                         const struct render_stage *stage)
{
    yaml_out(w, 1);
    render_volumes(w, run, stage);
    yaml_out(w, 3);
}
