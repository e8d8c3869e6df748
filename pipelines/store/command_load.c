/*
 * load - copies files of this machine to a bucket, where ingest finds them from any machine
 * (ingest.path: s3://...).
 */
#include "common/base/options.h"
#include "common/base/text.h"
#include "pipelines/shared/commands.h"
#include "store/backends/s3/s3_files.h"

#include <inttypes.h>
#include <stdio.h>

static const struct option_spec option_table[] = {{.name = NULL}};

static void print_help(void)
{
    printf(
        "graphmill load FOLDER s3://BUCKET/PATH - put a file, or a folder with all in it, there\n\n"
        "Credentials come from the environment or from ~/.aws/credentials; ?endpoint=URL behind "
        "the address names a\nserver that is not AWS. The pipeline file then says\n\n"
        "    ingest:\n      path: s3://BUCKET/PATH\n\n"
        "The same command goes on where it was broken off. What is there and is none of these "
        "files is not touched, but\nrefused.\n");
}

enum error_code command_load(int argc, char **argv, struct error *err)
{
    struct option_list rest = {0};
    struct s3_sent sent = {0};
    char none = 0, size[32];
    if (options_want_help(argc, argv)) {
        print_help();
        return ERROR_NONE;
    }
    enum error_code rc = options_parse(option_table, argc, argv, &none, &rest, err);
    if (rc == ERROR_NONE && (rest.count != 2 || !s3_files_is_address(rest.item[1])))
        rc = error_set(err, ERROR_USAGE,
                       "graphmill load takes a file or folder and an address, such as my-graph "
                       "s3://bucket/my-graph");
    if (rc == ERROR_NONE)
        rc = s3_files_send(rest.item[0], rest.item[1], &sent, err);
    if (rc == ERROR_NONE)
        printf("%" PRId64 " file%s, %s, at %s\n", sent.files, sent.files == 1 ? "" : "s",
               text_size(sent.bytes, size), rest.item[1]);
    return rc;
}
