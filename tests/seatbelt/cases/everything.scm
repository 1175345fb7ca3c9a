(ask "write" 'allow file-write-data "/Users/u/x")
(ask "run" 'allow process-exec "/Users/u/x")
(ask "no set-uid file even so" 'deny file-write-setugid "/Users/u/x")
(ask "no hard link even so" 'deny file-link "/Users/u/x")
