/* Removing a folder that a command could write: whatever it left there. */
#ifndef SBX_TREE_H
#define SBX_TREE_H

#include <stdbool.h>

/* Removes the folder and all beneath it, following no link, with two descriptors and constant stack however
 * deep it is. Nothing may be running that still changes it. False with errno if something is left. */
bool tree_remove(const char *path);

#endif
