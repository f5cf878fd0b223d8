#!/usr/bin/env bash
# A Slurm cluster of one node, this machine, for tests: real daemons, with all their files in one folder of their own.
# Usage: slurm_node.sh up FOLDER      starts munged, slurmctld and slurmd; returns when the node takes jobs
#        slurm_node.sh down FOLDER    ends what `up` started, and the jobs
# Wanted: root; of Debian slurmctld, slurmd, slurm-client and munge. Commands find it by SLURM_CONF=FOLDER/slurm.conf.
# A cluster that this machine belongs to is left alone: other ports, another key, nothing in /etc.
# There is no accounting, so that sacct knows no job; submitit then asks scontrol, or looks at the files of the job.
set -euo pipefail
export PATH="$PATH:/usr/sbin:/sbin"
action=$1 folder=$2
export SLURM_CONF="$folder/slurm.conf"

configure() {
    mkdir -p "$folder/state" "$folder/spool"
    chmod 755 "$folder"
    head -c 1024 /dev/urandom > "$folder/munge.key"
    chmod 400 "$folder/munge.key"
    local host control node
    host=$(hostname -s)
    control=$(free_port) node=$(free_port)
    # The node says that it has four processors, so that jobs of two run side by side on a small machine as well.
    cat > "$SLURM_CONF" <<CONF
ClusterName=tests
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$control
SlurmdPort=$node
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$folder/munge.socket
CredType=cred/munge
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/slurmd.pid
SlurmctldLogFile=$folder/slurmctld.log
SlurmdLogFile=$folder/slurmd.log
SlurmdParameters=config_overrides
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
ReturnToService=2
NodeName=$host NodeAddr=127.0.0.1 CPUs=4 State=UNKNOWN
PartitionName=tests Nodes=ALL Default=YES MaxTime=INFINITE State=UP
CONF
}

free_port() { python3 -c 'import socket; it = socket.socket(); it.bind(("127.0.0.1", 0)); print(it.getsockname()[1])'; }

start() {
    munged --force --key-file="$folder/munge.key" --socket="$folder/munge.socket" --pid-file="$folder/munged.pid" \
        --log-file="$folder/munged.log" --seed-file="$folder/munge.seed" --num-threads=2
    slurmctld -f "$SLURM_CONF"
    slurmd -f "$SLURM_CONF"
    for _ in $(seq 60); do
        [[ $(sinfo --noheader --states=idle --format=%D 2> /dev/null) == 1 ]] && return
        sleep 0.5
    done
    echo "the node takes no jobs after 30 s; see $folder/*.log" >&2
    return 1
}

stop() {
    scancel --user=root 2> /dev/null || true
    for daemon in slurmd slurmctld munged; do
        [[ -s $folder/$daemon.pid ]] && kill "$(cat "$folder/$daemon.pid")" 2> /dev/null || true
    done
}

case $action in
up)
    configure
    start || { stop; exit 1; }
    ;;
down) stop ;;
*)
    echo "found '$action', wanted up or down" >&2
    exit 2
    ;;
esac
