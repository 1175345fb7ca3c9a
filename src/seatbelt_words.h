/* The text of a .sb file: what the emitter writes it from and the runtime reads it by.
 *
 * A .sb file is a profile in Apple's dialect of Scheme, as `sandbox-exec -f FILE` takes it. Its order is
 * part of the format, and nothing stands beside it:
 *
 *     ;; sbx:KEY=VALUE                        run section (artifact.h)
 *
 *     SB_VERSION
 *     SB_DENY_DEFAULT                         or SB_ALLOW_DEFAULT, and then the file ends
 *     SB_BASE
 *     SB_NETWORK_NONE or SB_NETWORK_OPEN      as the run section says
 *     SB_TMPDIR_GUARD                         if and only if a rule below uses the parameter
 *     (allow file-read-metadata (literal ..))     the folders above what is granted, one a line
 *     ; CLAUSE                                then, folders before what is beneath them:
 *     (allow OPERATION.. FILTER..)            what the clause grants
 *     (deny OPERATION.. FILTER..)             what it does not
 *
 * Which rule wins, and why there is one vocabulary: within one operation the last rule that matches decides,
 * but a rule for a specific operation beats every rule for the wildcard above it, wherever it stands. So
 * grants are written with the wildcards SB_FILE_READ and SB_FILE_WRITE only. Of the specific operations,
 * file-read-metadata is only allowed, on single folders; the others are only denied, where no grant may open
 * them again.
 *
 * No form here is newer than macOS 10.15 or unseen in a profile that is known to load.
 */
#ifndef SBX_SEATBELT_WORDS_H
#define SBX_SEATBELT_WORDS_H

/* X(id, word): the operations of rules. A grant names those that it gives, in this order. */
#define SB_OPERATIONS(X)                                                                                     \
    X(SB_FILE_READ, "file-read*")              /* content, listing, metadata, attributes */                  \
    X(SB_FILE_WRITE, "file-write*")            /* all changes; what SB_BASE denies stays denied */           \
    X(SB_EXEC, "process-exec*")                /* as a program, or as the interpreter of a script */         \
    X(SB_MAP, "file-map-executable")           /* as a library of one */                                     \
    X(SB_METADATA, "file-read-metadata")       /* stat; alone, for the folders above a grant */              \
    X(SB_CREATE, "file-write-create")          /* making or replacing the name: denied at a grant */         \
    X(SB_UNLINK, "file-write-unlink")          /* removing or renaming it: likewise */

enum sb_operation {
#define X(id, word) id,
    SB_OPERATIONS(X)
#undef X
    SB_OPERATION_COUNT
};

#define SB_ALLOW "(allow"
#define SB_DENY "(deny"
#define SB_LITERAL "(literal "                                /* PATH ) */
#define SB_SUBPATH "(subpath "                                /* PATH ) : the path and all beneath it */
#define SB_DEVICE_OPEN "(require-all (literal "               /* PATH */
#define SB_DEVICE_CLOSE ") (vnode-type CHARACTER-DEVICE))"    /* not what may stand there after a rename */
#define SB_PARAM "(param \"TMPDIR\")"                         /* a PATH: the private TMPDIR */
#define SB_APPEND "(string-append " SB_PARAM " "              /* STRING ) : a PATH beneath it */

#define SB_VERSION "(version 1)\n"
#define SB_DENY_DEFAULT "(deny default)\n"
#define SB_ALLOW_DEFAULT                                                                                     \
    "; trust core was granted: nothing is confined\n"                                                        \
    "(allow default)\n"

/* What any process needs or must not have, whatever is granted.
 *   file-write-setugid  no grant of writing makes a set-uid file (Nix denies it too)
 *   file-link           which of the two names the kernel compares is not documented; a name in a writable
 *                       folder for a file outside would make that file writable
 *   literal "/"         programs abort at start when they may not read the root folder itself
 *   /private, /tmp ..   parents of the private TMPDIR, and the links that lead there
 *   /dev/fd             opening it duplicates a descriptor that the process already has
 *   sysctl-read         by name: without one, kern.procargs2 shows the environment of every process of the
 *                       user. kern.sysv.semmni and kern.posix.sem.max are what sysconf(_SC_SEM_NSEMS_MAX)
 *                       asks for, without which Python makes no process pool although semaphores are allowed
 *   mach-lookup         users and groups only: a look-up without names reaches the keychain and starts
 *                       programs outside
 *   mach-host*          host_processor_info(): node counts processors with it */
#define SB_BASE                                                                                              \
    "\n"                                                                                                     \
    "; any process\n"                                                                                        \
    "(deny file-write-setugid)\n"                                                                            \
    "(deny file-link)\n"                                                                                     \
    "(allow process-fork)\n"                                                                                 \
    "(allow signal (target self) (target same-sandbox))\n"                                                   \
    "(allow process-info* (target self) (target same-sandbox))\n"                                            \
    "(allow file-read* (literal \"/\"))\n"                                                                   \
    "(allow file-read-metadata\n"                                                                            \
    "    (literal \"/private\") (literal \"/private/tmp\") (literal \"/private/var\")\n"                     \
    "    (literal \"/private/etc\") (literal \"/tmp\") (literal \"/var\") (literal \"/etc\")\n"              \
    "    (literal \"/dev\"))\n"                                                                              \
    "(allow file-read*\n"                                                                                    \
    "    (literal \"/dev/stdin\") (literal \"/dev/stdout\") (literal \"/dev/stderr\"))\n"                    \
    "(allow file-read* file-write* (subpath \"/dev/fd\"))\n"                                                 \
    "(allow sysctl-read\n"                                                                                   \
    "    (sysctl-name \"hw.activecpu\") (sysctl-name \"hw.byteorder\")\n"                                    \
    "    (sysctl-name \"hw.cachelinesize\") (sysctl-name \"hw.cpufamily\")\n"                                \
    "    (sysctl-name \"hw.cpufrequency\") (sysctl-name \"hw.cpusubtype\")\n"                                \
    "    (sysctl-name \"hw.cputype\") (sysctl-name \"hw.logicalcpu\")\n"                                     \
    "    (sysctl-name \"hw.logicalcpu_max\") (sysctl-name \"hw.machine\")\n"                                 \
    "    (sysctl-name \"hw.memsize\") (sysctl-name \"hw.model\") (sysctl-name \"hw.ncpu\")\n"                \
    "    (sysctl-name \"hw.nperflevels\") (sysctl-name-prefix \"hw.optional.\")\n"                           \
    "    (sysctl-name \"hw.pagesize\") (sysctl-name \"hw.pagesize_compat\")\n"                               \
    "    (sysctl-name-prefix \"hw.perflevel\") (sysctl-name \"hw.physicalcpu\")\n"                           \
    "    (sysctl-name \"hw.physicalcpu_max\") (sysctl-name \"kern.argmax\")\n"                               \
    "    (sysctl-name \"kern.hostname\") (sysctl-name \"kern.maxfilesperproc\")\n"                           \
    "    (sysctl-name \"kern.maxproc\") (sysctl-name \"kern.ngroups\")\n"                                    \
    "    (sysctl-name \"kern.osproductversion\") (sysctl-name \"kern.osrelease\")\n"                         \
    "    (sysctl-name \"kern.ostype\") (sysctl-name \"kern.osvariant_status\")\n"                            \
    "    (sysctl-name \"kern.osversion\") (sysctl-name \"kern.posix.sem.max\")\n"                            \
    "    (sysctl-name \"kern.secure_kernel\") (sysctl-name \"kern.sysv.semmni\")\n"                          \
    "    (sysctl-name \"kern.usrstack64\") (sysctl-name \"kern.version\")\n"                                 \
    "    (sysctl-name \"machdep.cpu.brand_string\") (sysctl-name \"sysctl.proc_cputype\")\n"                 \
    "    (sysctl-name \"vm.loadavg\"))\n"                                                                    \
    "(allow ipc-posix-sem)\n"                                                                                \
    "(allow mach-host*)\n"                                                                                   \
    "(allow mach-lookup\n"                                                                                   \
    "    (global-name \"com.apple.system.opendirectoryd.libinfo\")\n"                                        \
    "    (global-name \"com.apple.system.opendirectoryd.membership\"))\n"

/* No operation of the network is left to the default. connect() to a Unix socket is network-outbound, so
 * this closes those of the outside, docker's and the ssh agent's included. */
#define SB_NETWORK_NONE                                                                                      \
    "\n; network none\n"                                                                                     \
    "(deny network-outbound network-inbound network-bind system-socket)\n"

/* Addresses of IP only: Unix sockets stay denied but for the resolver's, which names are asked through.
 * `remote` for what goes out, `local` for what listens: `local` in an outbound rule would match every socket
 * that is not bound yet. The rest is what the resolver and the system's own TLS library read and ask. */
#define SB_NETWORK_OPEN                                                                                      \
    "\n"                                                                                                     \
    "; network open\n"                                                                                       \
    "(deny network-outbound network-inbound network-bind system-socket)\n"                                   \
    "(allow network-outbound (remote ip \"*:*\"))\n"                                                         \
    "(allow network-inbound (local ip \"*:*\"))\n"                                                           \
    "(allow network-bind (local ip \"*:*\"))\n"                                                              \
    "(allow network-outbound\n"                                                                              \
    "    (literal \"/private/var/run/mDNSResponder\") (literal \"/var/run/mDNSResponder\"))\n"               \
    "(allow file-read-metadata\n"                                                                            \
    "    (literal \"/private/var/run\") (literal \"/var/run\")\n"                                            \
    "    (literal \"/private/var/run/mDNSResponder\") (literal \"/var/run/mDNSResponder\"))\n"               \
    "(allow file-read*\n"                                                                                    \
    "    (literal \"/private/etc/hosts\") (literal \"/etc/hosts\")\n"                                        \
    "    (literal \"/private/etc/resolv.conf\") (literal \"/etc/resolv.conf\")\n"                            \
    "    (literal \"/private/var/run/resolv.conf\") (literal \"/var/run/resolv.conf\"))\n"                   \
    "(allow mach-lookup\n"                                                                                   \
    "    (global-name \"com.apple.SystemConfiguration.DNSConfiguration\")\n"                                 \
    "    (global-name \"com.apple.trustd\") (global-name \"com.apple.trustd.agent\"))\n"

/* `param` gives #f for what the command line does not set. Whether a filter of #f is an error is not
 * documented; an unbound variable is one (exit 65, nothing is run), and sandbox-exec prints its name. */
#define SB_TMPDIR_GUARD                                                                                      \
    "\n; $TMPDIR is a folder of the run's own: sbxrun makes it\n"                                            \
    "(if (not " SB_PARAM ") use-sbxrun-or-set-TMPDIR-with--D)\n"

#define SB_ANCESTORS "\n; folders above what is granted: they can be looked at, not listed\n"
#define SB_DATA_VOLUME "; not the second names of the data volume\n"

/* From SB_VERSION to the end; sbxrun hands it on as one argument, and macOS has 1 MiB for all arguments and
 * the environment (kern.argmax). */
enum { SB_PROFILE_MAX = 512 * 1024 };

#endif
