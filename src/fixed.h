/* Names that mean the same to the compiler and to the runtime, as elements of arrays of strings. */
#ifndef SBX_FIXED_H
#define SBX_FIXED_H

/* Bytes of the longest path: Linux's PATH_MAX without its NUL. */
enum { FIXED_PATH_BYTES = 4095 };

/* Where the private TMPDIR may be, best first. */
#define ARTIFACT_TMPDIRS "/tmp", "/var/tmp", "/mnt", "/media"

/* The device sinks of the floor. */
#define ARTIFACT_SINKS "/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"

/* Variables that make a loader, a shell or libc run or read something of the caller's choice: a pattern never
 * stands for them. A final `*` stands for any rest. */
#define ARTIFACT_LOADER_NAMES                                                                                  \
    "LD_*", "DYLD_*", "BASH_ENV", "BASH_FUNC_*", "ENV", "GCONV_PATH", "GLIBC_TUNABLES", "LOCPATH"

/* Variables with a value of the sandbox's own; a pattern never stands for them either. */
#define ARTIFACT_OWN_NAMES "PATH", "HOME", "TMPDIR"

#endif
