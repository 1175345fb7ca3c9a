(for-each
 (lambda (program)
   (ask (string-append "run " program) 'allow process-exec program)
   (ask (string-append "read " program) 'allow file-read-data program)
   (ask (string-append "change " program) 'deny file-write-data program)
   (ask (string-append "replace " program) 'deny file-write-create program))
 '("/bin/sh" "/usr/bin/git" "/usr/bin/python3" "/Library/Developer/CommandLineTools/usr/bin/git"))
(for-each
 (lambda (library)
   (ask (string-append "map " library) 'allow file-map-executable library)
   (ask (string-append "read " library) 'allow file-read-data library))
 '("/usr/lib/libSystem.B.dylib" "/System/Library/Frameworks/x" "/System/Cryptexes/OS/x"
   "/System/Volumes/Preboot/Cryptexes/OS/System/Library/dyld/dyld_shared_cache_arm64e"))
(for-each
 (lambda (file) (ask-read-only file file))
 '("/etc/passwd" "/etc/hosts" "/etc/resolv.conf" "/etc/ssl/cert.pem" "/etc/localtime"
   "/var/db/timezone/zoneinfo/UTC" "/var/select/sh"))
; Homes, keys, and the second name that every file of the data volume has.
(for-each
 (lambda (path) (ask-closed path path))
 '("/Users/u/.ssh/id" "/Users/u/p2" "/System/Volumes/Data/Users/u/.ssh/id" "/System/Volumes/Data/private/tmp/x"
   "/etc/master.passwd" "/etc/ssl/private/key" "/usr/local/bin/x" "/opt/homebrew/bin/x" "/tmp/x" "/var/folders/x"
   "/Library/Keychains/System.keychain" "/Applications/x" "/Volumes/x"))
