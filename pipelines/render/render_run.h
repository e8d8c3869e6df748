/*
 * render_run - a run as Kubernetes wants it: what `graphmill render` prints.
 *
 * One table of stages (render_stage) says who there is, how many Pods and how large; each form is one file that puts it into
 * objects. All of them have the Pod of render_pod.h: restricted, with requests, nothing secret in it.
 */
#ifndef PIPELINES_RENDER_RUN_H
#define PIPELINES_RENDER_RUN_H

#include "common/base/options.h"
#include "pipelines/render/yaml_writer.h"
#include "stages/engine/stage_list.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    RENDER_NAME_SIZE = 41, /* what follows it in the name of a Pod has room in the 63 of a label */
    RENDER_VARIABLE_MAX = 16,
    RENDER_VARIABLE_SIZE = 64,
    RENDER_PORT_MAX = 8,
};

enum render_pods {
    PODS_ONE,     /* a unit for the whole run */
    PODS_WORKERS, /* any number */
    PODS_RANGES,  /* one a range of parameters; more would be spares */
};

struct render_stage { /* a row of the table, and what the user made of it */
    const char *name;
    enum render_pods pods;
    int64_t cpu_milli, memory_mib, scratch_gib;
};

struct render_run {
    char name[RENDER_NAME_SIZE];
    const char *image, *store, *redis, *redis_secret, *claim, *credentials;
    const char *metrics;       /* the address of Prometheus, for the form keda */
    const char *pipeline_text; /* as the file has it */
    struct option_list set;
    char variable[RENDER_VARIABLE_MAX]
                 [RENDER_VARIABLE_SIZE]; /* of the environment, that the pipeline file asks for */
    int variable_count;
    int64_t port
        [RENDER_PORT_MAX]; /* that its Pods reach beside Redis's; none: the network policy of all is enough */
    int port_count;
    int64_t workers, ranges;
    struct render_stage stage[STAGE_COUNT]; /* in the order of stage_list */
};

/* The rows as they are by default: requests that suit a graph of some 10 million edges. */
extern const struct render_stage render_stages[STAGE_COUNT];

struct render_form { /* a way to put a run into objects */
    const char *name, *summary;
    void (*put)(struct yaml_writer *w, const struct render_run *run);
};
extern const struct render_form render_forms[];
enum { RENDER_FORM_COUNT = 4 };

void render_jobs(struct yaml_writer *w, const struct render_run *run);
void render_argo(struct yaml_writer *w, const struct render_run *run);
void render_indexed(struct yaml_writer *w, const struct render_run *run);
void render_keda(struct yaml_writer *w, const struct render_run *run);

/* A name of an object, of at most `most` bytes: lower-case letters, digits and "-" inside (RFC 1123). */
bool render_is_name(const char *text, size_t most);
/* Pods of a stage. */
int64_t render_pod_count(const struct render_run *run, const struct render_stage *stage);
/* labels: of an object of the run, or of its Pods; `component`: a stage, or what else it is. */
void render_labels(struct yaml_writer *w, const struct render_run *run, const char *component);
/* What every object begins with, up to its labels. */
void render_object_head(struct yaml_writer *w, const struct render_run *run,
                        const char *api_version, const char *kind, const char *name,
                        const char *component);
/* Opens the spec of an Indexed Job up to `template:`, what its exit statuses mean included. */
void render_job_head(struct yaml_writer *w, const struct render_run *run, const char *name,
                     const char *component, int64_t pods);
/* run->port: those that are `given`, or those in the addresses of the store and of a queue that is not the Redis of the namespace.
 * Fails: ERROR_USAGE; ERROR_INVALID for an address that is wrong. */
MUST_CHECK enum error_code render_find_ports(struct render_run *run,
                                             const struct option_list *given, struct error *err);
struct render_policy { /* a NetworkPolicy: TCP ports that are open to Pods of the run, or of them */
    const char *name, *component;
    bool is_of_component; /* for the Pods of that component; else for all of the run */
    bool is_ingress;      /* from anywhere; else to anywhere */
    const int64_t *port;  /* [port_count] */
    int port_count;
};
void render_network_policy(struct yaml_writer *w, const struct render_run *run,
                           const struct render_policy *policy);
/* The ConfigMap with the pipeline file; and a NetworkPolicy where Pods reach more than Redis. */
void render_shared(struct yaml_writer *w, const struct render_run *run);

#endif
