/* The fixed parts of a .landlock blob: the tables that the emitter writes from and the runtime reads by. Layout
 * and constants are in artifact.h.
 */
#ifndef SBX_LANDLOCK_WORDS_H
#define SBX_LANDLOCK_WORDS_H

#include "artifact.h"

/* The rights of each kind of access; on what is no folder only those of LL_FS_OF_FILE. Writing makes no device
 * nodes, which reach far beyond the folder they stand in, and nothing grants ioctl on devices. */
#define LL_FS_TO_READ (LL_FS_READ_FILE | LL_FS_READ_DIR)
#define LL_FS_TO_WRITE                                                                                     \
    (LL_FS_WRITE_FILE | LL_FS_REMOVE_DIR | LL_FS_REMOVE_FILE | LL_FS_MAKE_DIR | LL_FS_MAKE_REG |           \
     LL_FS_MAKE_SOCK | LL_FS_MAKE_FIFO | LL_FS_MAKE_SYM | LL_FS_REFER | LL_FS_TRUNCATE)
#define LL_FS_TO_EXEC LL_FS_EXECUTE

/* The accepted loss that leaves the private view out. */
#define LL_NO_VIEW "metadata"

/* For which confined blobs a need is written. */
enum ll_when { LL_ALWAYS, LL_WITH_VIEW, LL_NETWORK_NONE, LL_NETWORK_OPEN };

/* X(clause, least ABI, mechanisms, when), in the order of the file.
 *   paths  before ABI 3 (TRUNCATE) every file within reach of permissions could be emptied */
#define LL_NEEDS(X)                                                                       \
    X("paths", 3, 0, LL_ALWAYS)                                                           \
    X("metadata of files outside the grants", 0, LL_BY_VIEW, LL_WITH_VIEW)                \
    X("network none", 0, LL_BY_FILTER, LL_NETWORK_NONE)                                   \
    X("unix sockets of the outside", 0, LL_BY_FILTER, LL_NETWORK_OPEN)                    \
    X("abstract unix sockets of the outside", 6, LL_BY_FILTER, LL_ALWAYS)                 \
    X("signals to the outside", 6, LL_BY_PID_NAMESPACE, LL_ALWAYS)

#endif
