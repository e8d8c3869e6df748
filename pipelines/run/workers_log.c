#include "pipelines/run/workers_log.h"

#include "pipelines/shared/terminal.h"

#include <stdio.h>
#include <time.h>

void workers_log_tell(const struct run_folder *folder, bool quiet, const char *text)
{
    char path[FILE_PATH_SIZE], now[32];
    const time_t seconds = time(NULL);
    struct tm utc = {0};
    (void)gmtime_r(&seconds, &utc);
    if (!quiet) {
        terminal_panel_clear();
        (void)fprintf(stderr, "workers             %s\n", text);
    }
    if (file_path(path, NULL, "%s/logs/workers.log", folder->path) != ERROR_NONE)
        return;
    FILE *log = fopen(path, "ae");
    if (!log)
        return;
    (void)strftime(now, sizeof now, "%Y-%m-%dT%H:%M:%SZ", &utc);
    (void)fprintf(log, "%s info graphmill-run %s\n", now, text);
    (void)fclose(log);
}
