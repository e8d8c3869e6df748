/*
 * render_run - a run as Kubernetes objects: what `graphmill render` prints.
 *
 * The table of stages (render_stage) has the number and size of the Pods. Each form is a file that
 * makes objects from it. All of them use the Pod of render_pod.h: restricted, with resource
 * requests, and without secrets.
 */
#ifndef PIPELINES_RENDER_RUN_H
#define PIPELINES_RENDER_RUN_H

#include "common/base/options.h"
#include "pipelines/render/yaml_writer.h"
#include "stages/engine/stage_list.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    /* leaves room for the suffix of a Pod's name in the 63 bytes of a label */
    RENDER_NAME_SIZE = 41,
    RENDER_VARIABLE_MAX = 16,
    RENDER_VARIABLE_SIZE = 64,
    RENDER_PORT_MAX = 8,
};

enum render_pods {
    PODS_ONE,     /* one unit for the whole run */
    PODS_WORKERS, /* any number */
    PODS_RANGES,  /* one for each range of parameters; more would be idle */
};

struct render_stage { /* a row of the table, with the user's changes */
    const char *name;
    enum render_pods pods;
    int64_t cpu_milli, memory_mib, scratch_gib;
};

struct render_run {
    char name[RENDER_NAME_SIZE];
    const char *image, *store, *redis, *redis_secret, *claim, *credentials;
    const char *metrics;       /* address of Prometheus, for the form keda */
    const char *pipeline_text; /* contents of the pipeline file */
    struct option_list set;
    char variable[RENDER_VARIABLE_MAX]
                 [RENDER_VARIABLE_SIZE]; /* environment variables that the pipeline file uses */
    int variable_count;
    /* ports that its Pods reach, besides that of Redis; none: the common network policy is
     * enough */
    int64_t port[RENDER_PORT_MAX];
    int port_count;
    int64_t workers, ranges;
    struct render_stage stage[STAGE_COUNT]; /* in the order of stage_list */
};

/* The default rows: requests that suit a graph of some 10 million edges. */
extern const struct render_stage render_stages[STAGE_COUNT];

struct render_form { /* a way to describe a run by objects */
    const char *name, *summary;
    void (*put)(struct yaml_writer *w, const struct render_run *run);
};
extern const struct render_form render_forms[];
enum { RENDER_FORM_COUNT = 4 };

void render_jobs(struct yaml_writer *w, const struct render_run *run);
void render_argo(struct yaml_writer *w, const struct render_run *run);
void render_indexed(struct yaml_writer *w, const struct render_run *run);
void render_keda(struct yaml_writer *w, const struct render_run *run);

/* Returns whether `text` is a name of an object, of at most `most` bytes: lower-case letters,
 * digits, and "-" inside (RFC 1123). */
bool render_is_name(const char *text, size_t most);
/* Returns the number of Pods of a stage. */
int64_t render_pod_count(const struct render_run *run, const struct render_stage *stage);
/* Writes `labels:` of an object of the run, or of its Pods. `component` is a stage, or another
 * role. */
void render_labels(struct yaml_writer *w, const struct render_run *run, const char *component);
/* Writes the beginning of every object, up to its labels. */
void render_object_head(struct yaml_writer *w, const struct render_run *run,
                        const char *api_version, const char *kind, const char *name,
                        const char *component);
/* Begins the spec of an Indexed Job, up to `template:`, with the meaning of its exit statuses. */
void render_job_head(struct yaml_writer *w, const struct render_run *run, const char *name,
                     const char *component, int64_t pods);
/* Sets run->port to the ports that are `given`, or else to those in the addresses of the store and
 * of a queue that is not the Redis of the namespace. Fails: ERROR_USAGE; ERROR_INVALID for a wrong
 * address. */
MUST_CHECK enum error_code render_find_ports(struct render_run *run,
                                             const struct option_list *given, struct error *err);
struct render_policy { /* a NetworkPolicy: opens TCP ports to Pods of the run, or from them */
    const char *name, *component;
    bool is_of_component; /* for the Pods of that component; otherwise for all of the run */
    bool is_ingress;      /* from anywhere; otherwise to anywhere */
    const int64_t *port;  /* [port_count] */
    int port_count;
};
void render_network_policy(struct yaml_writer *w, const struct render_run *run,
                           const struct render_policy *policy);
/* Writes the ConfigMap with the pipeline file, and a NetworkPolicy if Pods reach more than
 * Redis. */
void render_shared(struct yaml_writer *w, const struct render_run *run);

#endif
