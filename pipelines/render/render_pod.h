/* render_pod - the parts of a stage's Pod that all forms use. */
#ifndef PIPELINES_RENDER_POD_H
#define PIPELINES_RENDER_POD_H

#include "pipelines/render/render_run.h"

/* Writes securityContext and automountServiceAccountToken of a Pod. */
void render_pod_security(struct yaml_writer *w);
/* Writes `volumes:` of a Pod: scratch space of the stage's size, and the password of Redis if the
 * stage needs one. */
void render_volumes(struct yaml_writer *w, const struct render_run *run,
                    const struct render_stage *stage);
/* Writes the fields of a container after its name, image to volumeMounts. `command` runs the stage;
 * if it is NULL, sh runs `script`. */
void render_container(struct yaml_writer *w, const struct render_run *run,
                      const struct render_stage *stage, const char *command, const char *script);
/* Passes each option of a stage's program to `put`. The form adds the name of the worker. */
void render_arguments(const struct render_run *run, const struct render_stage *stage,
                      void (*put)(void *context, const char *argument), void *context);
/* render_template_head() writes from `template:` to the name of the container, and
 * render_template_end() from the end of that container to the end of the document. */
enum template_kind {
    TEMPLATE_OF_JOB,
    TEMPLATE_OF_EXPORTER, /* of a Deployment, with the annotations for Prometheus */
};
void render_template_head(struct yaml_writer *w, const struct render_run *run,
                          const char *component, enum template_kind kind);
void render_template_end(struct yaml_writer *w, const struct render_run *run,
                         const struct render_stage *stage);
bool render_stage_loops(const struct render_stage *stage);

#endif
