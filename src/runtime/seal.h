/* The seal of bwrap's view: what stands on the caller's mounts cannot be opened anew from inside. A descriptor
 * that came in leads there: through /proc/self/fd a file that was opened for reading could be opened for
 * writing, though no path of the view reaches it. */
#ifndef SBX_SEAL_H
#define SBX_SEAL_H

#include <stdbool.h>

/* A stage_confine (stage.h), for a process that has no_new_privs. Landlock grants everything beneath the view's
 * "/", and of each standard stream what its descriptor may already. Without Landlock of ABI 2 or more it does
 * nothing. */
bool seal_view(void *unused, int control);

#endif
