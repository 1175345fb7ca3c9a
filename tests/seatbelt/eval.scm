; An evaluator of sandbox profiles for TinyScheme, the interpreter that macOS embeds in its own.
;
; A profile is loaded as the program that it is: every operation and filter that it names must be defined
; here, so a form outside the documented set is an unbound variable and the load fails, as it does there.
; Then (ask NAME EXPECTED OPERATION PATH ..) says what the kernel would.
;
; Which rule wins:
;   1. within one operation the last rule whose filters match;
;   2. a rule for a specific operation beats every rule for the wildcard above it, wherever it stands. Only
;      when no rule of an operation matches is its wildcard asked, at last the default.
; Paths are compared as the kernel does: physical ones, links resolved first.

; Debian's tinyscheme 1.42 cannot index a string, so string=? and all that uses it fails; strings are
; compared by the symbols of their name, which are unique.
(define (string=? a b) (eq? (string->symbol a) (string->symbol b)))
(define (member-string? s list)
  (and (pair? list) (or (string=? s (car list)) (member-string? s (cdr list)))))

; ---- Rules ----------------------------------------------------------------------------------------------

(define default-action #f)
(define version-seen #f)
(define rules '())                      ; (action operations filters), newest first

(define (version n)
  (if (not (equal? n 1)) (error "version must be 1"))
  (if version-seen (error "version given twice"))
  (set! version-seen #t))

(define (add-rule action args)
  (if (not version-seen) (error "version must come first"))
  (let loop ((rest args) (operations '()))
    (cond ((and (pair? rest) (symbol? (car rest)))
           (loop (cdr rest) (cons (car rest) operations)))
          ((null? operations) (error "a rule without an operation"))
          ((equal? operations '(default)) (set! default-action action))
          (else
           (for-each (lambda (f) (if (not (procedure? f)) (error "not a filter:" f))) rest)
           (set! rules (cons (list action operations rest) rules))))))

(define (allow . args) (add-rule 'allow args))
(define (deny . args) (add-rule 'deny args))

; Each operation and the wildcard above it. An operation is a variable that holds its own name.
(define parents '())
(define-macro (operations parent . names)
  `(begin
     ,@(map (lambda (n) `(define ,n ',n)) names)
     (for-each (lambda (n) (set! parents (cons (cons n ',parent) parents))) ',names)))

(define default 'default)
(operations default file* network* process* mach* sysctl* ipc-posix* signal system-socket pseudo-tty)
(operations file* file-read* file-write* file-ioctl file-link file-clone file-map-executable)
(operations file-read* file-read-data file-read-metadata file-read-xattr)
(operations file-write* file-write-create file-write-data file-write-flags file-write-mode file-write-owner
            file-write-setugid file-write-times file-write-unlink file-write-xattr file-write-acl)
(operations process* process-exec* process-fork process-info*)
(operations process-exec* process-exec process-exec-interpreter)
(operations process-info* process-info-pidinfo process-info-listpids)
(operations network* network-outbound network-inbound network-bind)
(operations mach* mach-lookup mach-register mach-host*)
(operations mach-host* mach-host-special-port-set)
(operations sysctl* sysctl-read sysctl-write)
(operations ipc-posix* ipc-posix-sem ipc-posix-shm*)

; ---- Filters --------------------------------------------------------------------------------------------
; A filter is a procedure of a query; a query is a list of (key . value).

(define (value-of query key)
  (let ((pair (assq key query)))
    (if pair (cdr pair) #f)))

(define (starts-with? s prefix)
  (let ((n (string-length prefix)))
    (and (>= (string-length s) n) (string=? (substring s 0 n) prefix))))

(define (ends-with? s suffix)
  (let ((n (string-length suffix)) (len (string-length s)))
    (and (>= len n) (string=? (substring s (- len n) len) suffix))))

(define (within? path folder)
  (or (string=? path folder)
      (starts-with? path (if (string=? folder "/") "/" (string-append folder "/")))))

(define (any? f list)
  (and (pair? list) (or (f (car list)) (any? f (cdr list)))))
(define (all? f list)
  (or (null? list) (and (f (car list)) (all? f (cdr list)))))

; A filter that compares one string of the query with any of its arguments.
(define (string-filter key matches?)
  (lambda args
    (if (null? args) (error "a filter without a value"))
    (for-each (lambda (a) (if (not (string? a)) (error "a string expected:" a))) args)
    (lambda (query)
      (let ((v (value-of query key)))
        (and v (any? (lambda (a) (matches? v a)) args))))))

(define literal (string-filter 'path string=?))
(define subpath (string-filter 'path within?))
(define sysctl-name (string-filter 'sysctl string=?))
(define sysctl-name-prefix (string-filter 'sysctl starts-with?))
(define global-name (string-filter 'service string=?))

(define CHARACTER-DEVICE 'character-device)
(define REGULAR-FILE 'regular-file)
(define DIRECTORY 'directory)
(define (vnode-type type) (lambda (query) (eq? (value-of query 'type) type)))

(define self 'self)
(define same-sandbox 'same-sandbox)
(define others 'others)
(define (target who) (lambda (query) (eq? (value-of query 'target) who)))

(define (require-all . filters) (lambda (query) (all? (lambda (f) (f query)) filters)))
(define (require-any . filters) (lambda (query) (any? (lambda (f) (f query)) filters)))
(define (require-not filter) (lambda (query) (not (filter query))))

; Addresses: HOST:PORT, HOST being * or localhost. Other hosts do not compile. `local` in an outbound rule
; matches every socket that is not bound yet, which is why no profile should have it.
(define ip 'ip)
(define unix-socket 'unix-socket)
(define (address-filter key)
  (lambda (kind . patterns)
    (for-each
     (lambda (p)
       (if (not (or (starts-with? p "*:") (starts-with? p "localhost:")))
           (error "host must be * or localhost:" p)))
     patterns)
    (lambda (query)
      (let ((v (value-of query key)))
        (and v
             (if (eq? kind 'unix-socket)
                 (eq? v 'unix)
                 (and (string? v)
                      (or (null? patterns) (any? (lambda (p) (address-matches? v p)) patterns)))))))))
(define (address-matches? address pattern)
  (cond ((string=? pattern "*:*") #t)
        ((string=? pattern "localhost:*") (starts-with? address "localhost:"))
        ((starts-with? pattern "*:") (ends-with? address (substring pattern 1 (string-length pattern))))
        (else (string=? address pattern))))
(define remote (address-filter 'remote))
(define local (address-filter 'local))

; ---- Parameters -----------------------------------------------------------------------------------------

(define parameters '())
(define (set-param! name value) (set! parameters (cons (cons name value) parameters)))
(define (param name)
  (let loop ((list parameters))
    (cond ((null? list) #f)
          ((string=? name (car (car list))) (cdr (car list)))
          (else (loop (cdr list))))))

; ---- Decisions ------------------------------------------------------------------------------------------

(define (last-match operation query list)
  (cond ((null? list) #f)
        ((and (memq operation (cadr (car list)))
              (let ((filters (caddr (car list))))
                (or (null? filters) (any? (lambda (f) (f query)) filters))))
         (car (car list)))
        (else (last-match operation query (cdr list)))))

(define (decide operation query)
  (if (eq? operation 'default)
      (if default-action default-action (error "no default"))
      (or (last-match operation query rules)
          (let ((parent (assq operation parents)))
            (if parent (decide (cdr parent) query) (error "unknown operation:" operation))))))

; Links, and what each leads to. To pass through one, its metadata must be readable.
(define links '(("/tmp" . "/private/tmp") ("/var" . "/private/var") ("/etc" . "/private/etc")))
(define (link! name leads-to) (set! links (cons (cons name leads-to) links)))

(define (link-on path)
  (let loop ((list links))
    (cond ((null? list) #f)
          ((within? path (car (car list))) (car list))
          (else (loop (cdr list))))))

; The physical path, or #f where a link on the way may not be read.
(define (resolve path)
  (let loop ((path path) (hops 0))
    (let ((link (link-on path)))
      (cond ((not link) path)
            ((> hops 40) (error "too many links:" path))
            ((eq? (decide 'file-read-metadata (list (cons 'path (car link)))) 'deny) #f)
            (else
             (loop (string-append (cdr link)
                                  (substring path (string-length (car link)) (string-length path)))
                   (+ hops 1)))))))

(define sinks '("/dev/null" "/dev/zero" "/dev/full" "/dev/random" "/dev/urandom"))

(define (file-query path type)
  (list (cons 'path path) (cons 'type type)))

(define (decide-path operation path type)
  (let ((physical (resolve path)))
    (if physical (decide operation (file-query physical type)) 'deny)))

; ---- Questions ------------------------------------------------------------------------------------------

(define (report name expected got)
  (if (eq? expected got)
      (begin (display "ok ") (display name))
      (begin (display "FAIL ") (display name) (display ": expected ") (display expected)
             (display ", got ") (display got)))
  (newline))

; Of a path, by any of its names.
(define (ask name expected operation path)
  (report name expected
          (decide-path operation path (if (member-string? path sinks) 'character-device 'regular-file))))
; Of a path whose object has that type.
(define (ask-type name expected operation path type)
  (report name expected (decide-path operation path type)))
; Of the name itself: lstat, readlink, unlink of a link.
(define (ask-name name expected operation path)
  (report name expected (decide operation (file-query path 'symlink))))
; Of anything else: the query's keys as they are.
(define (ask-query name expected operation . query)
  (report name expected (decide operation query)))

(define (all-allowed . decisions)
  (if (memq 'deny decisions) 'deny 'allow))
(define (ask-rename name expected from to)
  (report name expected
          (all-allowed (decide-path 'file-write-unlink from 'regular-file)
                       (decide-path 'file-write-create to 'regular-file))))
(define (ask-link name expected from to)
  (report name expected
          (all-allowed (decide-path 'file-link from 'regular-file)
                       (decide-path 'file-write-create to 'regular-file))))
; A path that is granted for reading, and no more.
(define (ask-read-only name path)
  (ask (string-append name ": read") 'allow file-read-data path)
  (ask (string-append name ": stat") 'allow file-read-metadata path)
  (ask (string-append name ": write") 'deny file-write-data path)
  (ask (string-append name ": create") 'deny file-write-create path)
  (ask (string-append name ": unlink") 'deny file-write-unlink path)
  (ask (string-append name ": chmod") 'deny file-write-mode path))
; A path of which nothing is granted.
(define (ask-closed name path)
  (for-each
   (lambda (operation)
     (ask (string-append name ": " (symbol->string operation)) 'deny operation path))
   (list file-read-data file-read-metadata file-read-xattr file-write-data file-write-create
         file-write-unlink file-write-mode file-write-owner file-write-times file-write-xattr file-link
         process-exec file-map-executable)))
