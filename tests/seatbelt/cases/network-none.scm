; Every cell of the table, none of them left to the default: the wildcard is asked too.
(ask-query "outbound to another host" 'deny network-outbound '(remote . "192.0.2.1:443"))
(ask-query "outbound to loopback" 'deny network-outbound '(remote . "localhost:8080"))
(ask-query "bind" 'deny network-bind '(local . "*:8080"))
(ask-query "bind to loopback" 'deny network-bind '(local . "localhost:8080"))
(ask-query "inbound" 'deny network-inbound '(local . "*:8080"))
(ask-query "outbound, not bound yet" 'deny network-outbound '(remote . "192.0.2.1:443") '(local . "*:0"))
(ask-query "unix socket" 'deny network-outbound '(remote . unix) '(path . "/private/var/run/docker.sock"))
(ask-query "resolver's socket" 'deny network-outbound '(remote . unix) '(path . "/private/var/run/mDNSResponder"))
(ask-query "unix bind" 'deny network-bind '(local . unix) '(path . "/private/tmp/sbx-run/s"))
(ask-query "other sockets" 'deny system-socket)
(ask-query "certificate service" 'deny mach-lookup '(service . "com.apple.trustd"))
(for-each
 (lambda (operation)
   (report (string-append "decided by a rule of its own: " (symbol->string operation)) 'deny
           (last-match operation '() rules)))
 (list network-outbound network-inbound network-bind system-socket))
