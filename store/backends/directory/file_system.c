#include "store/backends/directory/file_system.h"

#include <stddef.h>
#include <sys/vfs.h>

/* The types of network file systems: from statfs(2), and from the sources of those that it does not
 * list. */
static const unsigned long network_type[] = {
    0x6969,     /* NFS */
    0x517b,     /* SMB */
    0xff534d42, /* CIFS */
    0xfe534d42, /* SMB 2 and 3 */
    0x65735546, /* FUSE: sshfs, GlusterFS, S3, virtiofs and all others */
    0x00c36400, /* Ceph */
    0x0bd00bd0, /* Lustre */
    0x47504653, /* GPFS */
    0x19830326, /* BeeGFS */
    0x01021997, /* 9P */
    0x5346414f, /* AFS */
    0x6b414653, /* AFS of the kernel */
    0x73757245, /* Coda */
    0x564c,     /* NCP */
    0x01161970, /* GFS2 */
    0x7461636f, /* OCFS2 */
};

bool file_system_type_is_local(unsigned long type)
{
    for (size_t i = 0; i < sizeof network_type / sizeof *network_type; i++)
        if (network_type[i] == (type & 0xffffffff))
            return false;
    return true;
}

bool file_system_is_local(const char *path)
{
    struct statfs status;
    return statfs(path, &status) == 0 && file_system_type_is_local((unsigned long)status.f_type);
}
