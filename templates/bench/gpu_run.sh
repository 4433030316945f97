#!/bin/sh
# Of a folder that `rbdgen bench gpu-script` has made. It needs a GPU and its driver, nothing else:
#   sh run.sh            all that there is, in at most LIMIT seconds (470 unless it is set)
#   sh run.sh CASE...    some cases
# Results are checked before and after each timing. Times are lines of: scalar, states, ns a state
# of columns, of rows on the GPU, with copies, with page-locked arrays; of grid-rbd, where it is
# beside: states, ns a state of its kernel, with copies.
cd "$(dirname "$0")" || exit 2
start=$(date +%s) failed=0
left() { echo $((${LIMIT:-470} + start - $(date +%s))); }

# A command, whose lines follow a name.
run() {
    name=$1
    shift
    if [ "$(left)" -le 0 ]; then
        echo "$name: not run, since the time is up"
        failed=1
        return 1
    fi
    timeout "$(left)" "$@" > said.txt 2>&1
    status=$?
    sed "s/^/$name: /" said.txt
    if [ $status != 0 ]; then
        echo "$name: fails, status $status"
        failed=1
    fi
    return $status
}

check() {
    run "$1 double" "$1/example" --check "$1/expected.txt" "$1/states.txt" &&
        run "$1 float" "$1/example" --float --check "$1/expected.txt" "$1/states.txt"
}

if command -v nvidia-smi > /dev/null; then
    nvidia-smi --query-gpu=name,driver_version,power.draw --format=csv
fi
cases="$*"
for case in ${cases:-$(cat cases.txt)}; do
    check "$case" && run "$case times" "$case/times" && check "$case"
    if [ -x "$case/grid_times" ]; then
        run "$case grid-rbd" "$case/grid_times" "$case/states.txt" 1 time
    fi
done
if command -v compute-sanitizer > /dev/null; then
    for case in ${cases:-iiwa14_did iiwa14_dfd hyq_did}; do
        for tool in memcheck racecheck initcheck; do
            run "$case $tool" compute-sanitizer --error-exitcode 1 --tool $tool "$case/example" \
                --float --check "$case/expected.txt" "$case/states.txt"
        done
    done
else
    echo "no compute-sanitizer: memory is not looked at"
fi
echo "$(($(date +%s) - start)) s"
exit $failed
