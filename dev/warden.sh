#!/bin/sh
# Outlives the program that starts servers, by a moment: when that program ends without having stopped them (killed,
# crashed, timed out), the pipe on standard input closes, and what is still on the list is ended and removed here.
#
#   child PID SIGNAL   a server runs, in a process group of its own; SIGNAL ends it in good order
#   gone PID           it has ended
#   temporary PATH     a file or folder to remove at the end
#   kept PATH          it has been removed, or shall stay

trap '' HUP INT TERM

# Ten times a second for eight seconds: Postgres writes a checkpoint when it is asked to end.
MAX_POLLS=80

children=''
temporaries=''
newline='
'

while IFS=' ' read -r word rest; do
  case $word in
    child) children="$rest$newline$children" ;;
    gone) children=$(printf '%s' "$children" | grep -v "^$rest ")$newline ;;
    temporary) temporaries="$rest$newline$temporaries" ;;
    kept) temporaries=$(printf '%s' "$temporaries" | grep -vxF "$rest")$newline ;;
  esac
done

still_running() {
  printf '%s' "$children" | while read -r pid _; do
    if [ -n "$pid" ] && kill -0 "-$pid" 2>/dev/null; then echo yes; fi
  done
}

printf '%s' "$children" | while read -r pid signal; do
  if [ -n "$pid" ]; then kill -s "$signal" "$pid" 2>/dev/null; fi
done

polls=0
while [ -n "$(still_running)" ] && [ "$polls" -lt "$MAX_POLLS" ]; do
  sleep 0.1
  polls=$((polls + 1))
done

printf '%s' "$children" | while read -r pid _; do
  if [ -n "$pid" ]; then kill -s KILL "-$pid" 2>/dev/null; fi
done

printf '%s' "$temporaries" | while IFS= read -r path; do
  case $path in
    /?*) rm -rf -- "$path" ;;
  esac
done
