; The evaluator itself: each of these has been measured on the real system, and a simpler evaluator (last
; rule wins, whatever its operation) gets them wrong.

(define (profile . body)
  (set! rules '())
  (set! version-seen #f)
  (set! default-action #f)
  (version 1)
  (deny default))

(profile)
(ask "nothing is allowed" 'deny file-read-data "/f")

(profile)
(allow file-read* (subpath "/a"))
(deny file-read* (subpath "/a/b"))
(ask "the last rule of an operation wins: deny" 'deny file-read-data "/a/b")
(allow file-read* (subpath "/a/b/c"))
(ask "and allow again" 'allow file-read-data "/a/b/c/f")
(ask "but only there" 'deny file-read-data "/a/b/cc")

(profile)
(allow file-read-data (subpath "/"))
(deny file-read* (literal "/f"))
(ask "a wildcard deny does not close what a specific rule opened" 'allow file-read-data "/f")
(ask "it closes the rest" 'deny file-read-xattr "/f")

(profile)
(deny file-read-data (literal "/f"))
(allow file-read* (subpath "/"))
(ask "a wildcard allow does not reopen what a specific rule closed" 'deny file-read-data "/f")
(ask "it opens the rest" 'allow file-read-metadata "/f")

(profile)
(allow file-write* (subpath "/"))
(deny file-write-unlink (literal "/a"))
(allow file-write* (subpath "/"))
(ask-rename "a move stays blocked" 'deny "/a" "/b")
(ask-rename "elsewhere it does not" 'allow "/a/b" "/b")

(profile)
(allow network-outbound (remote ip "localhost:*"))
(ask-query "remote limits what goes out" 'deny network-outbound '(remote . "192.0.2.1:443") '(local . "localhost:0"))
(allow network-outbound (local ip "localhost:*"))
(ask-query "local does not" 'allow network-outbound '(remote . "192.0.2.1:443") '(local . "localhost:0"))

(profile)
(allow file-read* (subpath "/tmp/x"))
(allow file-read-metadata (literal "/tmp"))
(ask "a rule on the name of a link matches nothing" 'deny file-read-data "/tmp/x/f")
(allow file-read* (subpath "/private/tmp/x"))
(ask "a rule on what it leads to does" 'allow file-read-data "/tmp/x/f")
(ask "by whole components" 'deny file-read-data "/tmp/xy")

(profile)
(allow file-read* (subpath "/private/tmp"))
(ask "a link that may not be read is no way in" 'deny file-read-data "/tmp/f")

(profile)
(allow file-write-data (require-all (literal "/dev/null") (vnode-type CHARACTER-DEVICE)))
(ask-type "all filters must match" 'deny file-write-data "/dev/null" 'regular-file)
(ask-type "when they do" 'allow file-write-data "/dev/null" 'character-device)
