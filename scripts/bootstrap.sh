#!/bin/sh
# Starts scripts/bootstrap.py with any Python >= 3.8 there is: a `python3` on PATH may be a pyenv shim that refuses.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
for python in python3 python python3.12 python3.13 python3.14 python3.11 python3.10 python3.9 /usr/bin/python3 /usr/local/bin/python3 \
    "${PYENV_ROOT:-$HOME/.pyenv}"/versions/3.*/bin/python3; do
    if "$python" -c 'import sys; sys.exit(sys.version_info < (3, 8))' >/dev/null 2>&1; then
        exec "$python" "$here/bootstrap.py" "$@"
    fi
done
echo "No Python 3.8 or newer was found (tried python3, python, /usr/bin and pyenv's versions). Install Python 3 first." >&2
exit 1
