(for-each
 (lambda (name)
   (let ((path (string-append "/Users/u/" name)))
     (ask-read-only name path)
     (ask-read-only (string-append name "/f") (string-append path "/f"))
     (ask-closed (string-append name "x") (string-append path "x"))))
 (list "a b" "q\"q" "b\\s" "I:\\" "it's" "Fonts (Removed)" "a;b" "#|x" "|#x" "#h" "`id`" "-rf" "a,b:c=d"
       "$(id)" "st*r[x]?" "café" "／x" "😀" "%41" "\") (allow default) (\""))
; What a wrong quoting would open.
(for-each (lambda (path) (ask-closed path path))
          '("/Users/u/a" "/Users/u/q" "/Users/u/b" "/Users/u/I:" "/Users/u/stxr" "/Users/u/st" "/x"
            "/Users/u/starxy" "/id" "/Users/u/A" "/Users/u/#"))
