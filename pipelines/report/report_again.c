/* Writes the settings, the versions, and the commands that show or repeat the run. */
#include "common/base/memory.h"
#include "common/base/text.h"
#include "pipelines/report/report_sections.h"
#include "pipelines/shared/own_command.h"

#include <inttypes.h>
#include <stdio.h>

static void put_block(struct html_text *html, const char *title, const char *text)
{
    html_put_element(html, "h3", title);
    html_put(html, "<pre>");
    html_put_escaped(html, text);
    html_put(html, "</pre>");
}

/* Writes the settings that are not at their defaults, like a pipeline file. */
static void put_settings(struct html_text *html, const struct report_run *run)
{
    const unsigned all = SETTING_OF_DATASET | SETTING_OF_PARTITION | SETTING_OF_TRAINING |
                         SETTING_OF_TARGET | SETTING_OF_OUTPUTS | SETTING_OF_OPERATION;
    char *text = NULL;
    if (memory_new(&text, SETTINGS_TEXT_SIZE, "settings", NULL) != ERROR_NONE)
        return;
    if (pipeline_settings_identity(&run->folder.run.settings, all, text, NULL) == ERROR_NONE)
        put_block(html, "Settings that are not at their defaults", text_shorten_fractions(text));
    html_put(html, "<details><summary>all settings</summary><pre>");
    if (text_copy(text, SETTINGS_TEXT_SIZE, run->folder.run.plan.settings))
        html_put_escaped(html, text_shorten_fractions(text));
    html_put(html, "</pre></details>");
    memory_free(text);
}

static void put_commands(struct html_text *html, const struct report_run *run)
{
    static char word[SHELL_WORD_SIZE], text[3 * SHELL_WORD_SIZE + 256];
    char path[FILE_PATH_SIZE]; /* the page may be read from any folder, so the path is absolute */
    const bool has_folder = run->folder.path[0] != '\0';
    if (has_folder && file_absolute(path, run->folder.path, NULL) != ERROR_NONE)
        return;
    const char *command = own_command();
    const char *folder = shell_word(has_folder ? path : run->folder.store_uri, word);
    const int64_t round = run->state.snapshot_version > 0 ? run->state.snapshot_version - 1 : 0;
    (void)snprintf(text, sizeof text,
                   "%s verify %s\n%s replay %s train-step --round %" PRId64
                   " --slot 0\n%s export %s --flavor pyg\n",
                   command, folder, command, folder, round, command, folder);
    put_block(html, "Check it, compute a unit again, take the model", text);
    html_put(html, "<h3>Make it again</h3><p>A pipeline file with the settings above, on the same "
                   "data, gives the same weights, bit for bit, on the same kind of processor, "
                   "whatever the number of workers:</p>");
    html_put(html, "<pre>");
    html_put_escaped(html, command);
    html_put(html, " run PIPELINE.yaml --directory again</pre>");
}

void report_put_again(struct html_text *html, const struct report_run *run)
{
    char hash[CHECKSUM_TEXT_SIZE];
    html_put(html, "<section><h2>How to reproduce</h2>");
    if (run->state.finished) {
        checksum_text(&run->seal.weights.sum, hash);
        html_put(html, "<p>Weights of round %" PRId64 ", hash <code>%s</code>; partition <code>",
                 run->seal.weights.version, hash);
        html_put_escaped(html, run->folder.run.plan.partition_id);
        html_put(html, "</code>.</p>");
    }
    put_settings(html, run);
    put_block(html, "Versions", run->folder.run.plan.environment);
    put_commands(html, run);
    html_put(html, "</section>");
}
